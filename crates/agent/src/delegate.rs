//! How agents reach tasks of their own server: their own, begun by the clock, and those of other agents.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use a2a::service::{Call, Service as _};
use a2a::types::{
    Answer, CancelTaskRequest, Content, GetTaskRequest, ListTasksRequest, Message, Part,
    SendMessageConfiguration, SendMessageRequest, Struct, Task, TaskState,
};
use access::{Permissions, Principal, Role};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skill::extension;
use tokio_util::task::TaskTracker;

use crate::error::Error;
use crate::message::{self, Body, Letter};
use crate::turn::{DEPTH, OWN, PERSON, PLACE, is_principal, principal};

/// The task server that all agents of a population are behind, once it is there and until the population closes: the
/// server holds the agents, so that one that was kept here would keep both in memory until the process ends.
///
/// An agent calls it in its own name, `agent:ID`, which no caller from outside can have: so a message is from the agent
/// that sends it, and an approval is by the caller who gave it. The agent at the root of the server has no tenant; the
/// others are tenants by their ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tasks {
    server: Arc<Mutex<Option<(a2a::Server, String)>>>,
    /// Cancellations that are on their way.
    cancelling: TaskTracker,
    /// The speakers of messages, by message id, while these are delivered in the name of another caller.
    speakers: Arc<Mutex<BTreeMap<String, String>>>,
}

/// How long a cancellation in the background may take.
const CANCEL_TIME: Duration = Duration::from_secs(2);

/// What another agent is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delegation {
    /// The id of the message. To ask again with the same id is to ask once.
    pub(crate) id: String,
    pub(crate) text: String,
    /// The task that asked, if it answers a question.
    pub(crate) task: Option<String>,
    /// How many agents have asked each other with this.
    pub(crate) depth: u8,
    /// The person who said it.
    pub(crate) person: String,
    /// The task in which it is asked, and the scope of the call that asks.
    pub(crate) place: (String, String),
    /// The name of the person at the start of the chain of agents, for whom it is asked.
    pub(crate) on_behalf: String,
    /// What the caller may do for whom it is asked: the other agent may do no more for it.
    pub(crate) permissions: Permissions,
}

/// A task of a skill that is under way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Waiting {
    pub(crate) task: String,
    /// What the skill was called with.
    pub(crate) input: Value,
}

/// What another agent says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DelegateReply {
    Answer(String),
    /// A person did not approve of what it takes.
    NotApproved(String),
    /// It will not do it.
    Refused(String),
    /// It could not do it.
    Failed(String),
    /// It answers in a letter.
    Letter {
        text: String,
        /// Whether it did what it was asked.
        accepted: bool,
        /// How sure it is, from 0 to 1.
        confidence: f64,
    },
    /// It asks something before it goes on with a task.
    Question {
        text: String,
        task: String,
    },
}

impl Tasks {
    /// From now on agents can begin tasks. `root` is the agent without a tenant.
    pub(crate) fn serve(&self, server: &a2a::Server, root: &str) {
        // A population is served once.
        let mut served = self.lock();
        served.get_or_insert_with(|| (server.clone(), root.to_owned()));
    }

    /// Begins a task of an agent in its own name.
    pub(crate) async fn begin(&self, agent: &str, request: String) -> Result<(), Error> {
        let (server, tenant) = self.at(agent)?;
        let mut message = Message::user(uuid::Uuid::new_v4().to_string(), request);
        message.metadata = metadata(&json!({ OWN: true }));
        let request = at_once(tenant, message);
        let call = by(agent, Role::User.permissions());
        let begun = server.send_message(call, request).await;
        begun
            .map(drop)
            .map_err(|error| Error::Task(error.to_string()))
    }

    /// Begins a task of a skill for the caller of a call, in the same conversation. Gives its id.
    pub(crate) async fn begin_for(
        &self,
        agent: &str,
        ctx: &skill::Context,
        skill: &str,
        input: Value,
    ) -> Result<String, Error> {
        let (server, tenant) = self.at(agent)?;
        let mut message = Message::user(uuid::Uuid::new_v4().to_string(), String::new());
        message.parts = vec![Part::data(input)];
        message.context_id = ctx.context_id();
        message.metadata = metadata(&json!({ (extension::SKILL): skill }));
        let request = at_once(tenant, message);
        let begun = server
            .send_message(traced(Call::by(ctx.caller())), request)
            .await;
        let begun = begun.map_err(|error| Error::Task(error.to_string()))?;
        match begun.payload {
            Answer::Task(task) => Ok(task.id),
            _ => Err(Error::Task("the skill did not become a task".to_owned())),
        }
    }

    /// The tasks of a skill that are under way for a caller, the oldest first. Those that an agent began for a person are
    /// that person's.
    pub(crate) async fn waiting(
        &self,
        agent: &str,
        caller: &Principal,
        skill: &str,
    ) -> Result<Vec<Waiting>, Error> {
        let (server, tenant) = self.at(agent)?;
        let request = ListTasksRequest {
            tenant,
            status: TaskState::Working,
            page_size: Some(100),
            history_length: Some(5),
            ..ListTasksRequest::default()
        };
        let listed = server.list_tasks(Call::by(caller.clone()), request).await;
        let listed = listed.map_err(|error| Error::Task(error.to_string()))?;
        let waiting = listed.tasks.into_iter().filter_map(|task| {
            let first = task
                .history
                .iter()
                .find(|it| extension::skill(it) == Some(skill))?;
            let input = first.parts.iter().find_map(|part| match &part.content {
                Content::Data(data) => Some(data.0.clone()),
                _ => None,
            })?;
            Some(Waiting {
                task: task.id.clone(),
                input,
            })
        });
        let mut own: Vec<Waiting> = Vec::new();
        for it in waiting {
            // An agent has tasks for several people.
            if !is_principal(caller.name())
                || server
                    .caller_of(&it.task.as_str().into())
                    .await
                    .is_ok_and(|of| of.person().name() == caller.person().name())
            {
                own.push(it);
            }
        }
        own.reverse();
        Ok(own)
    }

    /// Cancels a task of a caller.
    pub(crate) async fn cancel_for(&self, agent: &str, caller: &Principal, task: &str) {
        if let Ok((server, tenant)) = self.at(agent) {
            let request = CancelTaskRequest {
                tenant,
                id: task.to_owned(),
                ..CancelTaskRequest::default()
            };
            // One that has ended meanwhile cannot be cancelled, and need not be.
            drop(server.cancel_task(Call::by(caller.clone()), request).await);
        }
    }

    /// Has a task go on that waits for an answer which will not come.
    pub(crate) async fn resume(&self, task: &str) -> Result<(), Error> {
        let (server, _) = self.served()?;
        let resumed = server.resume(&task.into()).await;
        resumed.map_err(|error| Error::Task(error.to_string()))
    }

    /// Asks another agent in the name of one, and waits for what it says.
    pub(crate) async fn ask(
        &self,
        own: &str,
        agent: &str,
        asked: Delegation,
    ) -> Result<DelegateReply, Error> {
        let (server, tenant) = self.at(agent)?;
        let letter = message::request(own, &asked.id, &asked.text).part();
        let mut message = Message::user(asked.id, asked.text);
        // What answers a question of the other agent is no letter of its own: it belongs to the task.
        match asked.task {
            Some(task) => message.task_id = task,
            None => message.parts.push(letter),
        }
        message.metadata =
            metadata(&json!({ DEPTH: asked.depth, PERSON: asked.person, PLACE: asked.place }));
        let request = SendMessageRequest {
            tenant,
            ..message.into()
        };
        let mut call = by(own, asked.permissions);
        call.caller = call.caller.acting_for(&asked.on_behalf);
        let answer = server.send_message(call, request).await;
        let answer = answer.map_err(|error| Error::Task(error.to_string()))?;
        Ok(match answer.payload {
            Answer::Message(message) => DelegateReply::Answer(words(message.parts.iter())),
            Answer::Task(task) => reply(&task),
            _ => DelegateReply::Answer(String::new()),
        })
    }

    /// The task of the agent `own` that began a task of another agent, and the scope of the call that did.
    pub(crate) async fn asker(
        &self,
        own: &str,
        agent: &str,
        task: &str,
    ) -> Result<Option<(String, String)>, Error> {
        let (server, tenant) = self.at(agent)?;
        let request = GetTaskRequest {
            tenant,
            id: task.to_owned(),
            ..GetTaskRequest::default()
        };
        let call = Call::by(Principal::named(own));
        let task = server.get_task(call, request).await;
        let task = task.map_err(|error| Error::Task(error.to_string()))?;
        let first = task.history.first().and_then(|it| it.metadata.as_ref());
        let place = first.and_then(|it| it.get(PLACE));
        Ok(place.and_then(|it| serde_json::from_value(it.clone()).ok()))
    }

    /// Answers the question of a task in the name of its caller, and with what that caller may do. `person` is the one who
    /// answers, and who was allowed to.
    pub(crate) async fn answer(
        &self,
        agent: &str,
        person: &str,
        message: Message,
    ) -> Result<(), Error> {
        let (server, tenant) = self.at(agent)?;
        let id = message.message_id.clone();
        let caller = server.caller_of(&message.task_id.as_str().into()).await;
        let caller = caller.map_err(|error| Error::Task(error.to_string()))?;
        let request = at_once(tenant, message);
        self.speakers().insert(id.clone(), person.to_owned());
        let sent = server.send_message(Call::by(caller), request).await;
        if sent.is_err() {
            self.speakers().remove(&id);
        }
        sent.map(drop)
            .map_err(|error| Error::Task(error.to_string()))
    }

    /// The speaker of a message that is delivered in the name of another caller. It is asked once.
    pub(crate) fn speaker(&self, message: &str) -> Option<String> {
        self.speakers().remove(message)
    }

    fn speakers(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.speakers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Cancels a task of another agent that was begun in the name of one.
    pub(crate) async fn cancel(&self, own: &str, agent: &str, task: &str) {
        if let Ok((server, tenant)) = self.at(agent) {
            let request = CancelTaskRequest {
                tenant,
                id: task.to_owned(),
                ..CancelTaskRequest::default()
            };
            // One that has ended meanwhile cannot be cancelled, and need not be.
            drop(
                server
                    .cancel_task(by(own, Permissions::NONE), request)
                    .await,
            );
        }
    }

    /// The same where nothing can wait for it. [`close`](Self::close) does.
    pub(crate) fn cancel_later(&self, own: &str, agent: &str, task: &str) {
        let tasks = self.clone();
        let (own, agent, task) = (own.to_owned(), agent.to_owned(), task.to_owned());
        self.cancelling.spawn(async move {
            // A server that is stopping may not answer.
            let cancelled = tasks.cancel(&own, &agent, &task);
            drop(tokio::time::timeout(CANCEL_TIME, cancelled).await);
        });
    }

    /// Waits for the cancellations that are on their way.
    pub(crate) async fn close(&self) {
        self.cancelling.close();
        self.cancelling.wait().await;
    }

    /// Lets go of the server, when no agent is awake that could call it.
    pub(crate) fn leave(&self) {
        drop(self.lock().take());
    }

    fn at(&self, agent: &str) -> Result<(a2a::Server, String), Error> {
        let (server, root) = self.served()?;
        let tenant = if agent == root { "" } else { agent };
        Ok((server, tenant.to_owned()))
    }

    fn served(&self) -> Result<(a2a::Server, String), Error> {
        self.lock().clone().ok_or(Error::NotServed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<(a2a::Server, String)>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A message whose task is not waited for.
fn at_once(tenant: String, message: Message) -> SendMessageRequest {
    SendMessageRequest {
        tenant,
        configuration: Some(SendMessageConfiguration {
            return_immediately: true,
            ..SendMessageConfiguration::default()
        }),
        ..message.into()
    }
}

/// A call in the name of an agent, for a caller that may do this; no agent operates the server. After a restart it sends
/// the same messages again, and must find the tasks of the first time.
fn by(agent: &str, permissions: Permissions) -> Call {
    let permissions = permissions.intersect(Role::User.permissions());
    let caller = Principal::named(&principal(agent)).permitted(permissions);
    traced(Call::by(caller).repeatable())
}

/// The call in the trace of the turn that makes it.
fn traced(mut call: Call) -> Call {
    call.origin.trace = a2a::trace::current();
    call
}

fn metadata(object: &Value) -> Option<Struct> {
    object.as_object().cloned().map(Into::into)
}

/// What a task comes to, or waits for.
fn reply(task: &Task) -> DelegateReply {
    let state = task.status.as_ref().map(|it| it.state);
    let status = task.status.as_ref().and_then(|it| it.message.as_ref());
    let status = status.into_iter().flat_map(|it| &it.parts);
    match state {
        Some(TaskState::InputRequired) => DelegateReply::Question {
            text: words(status),
            task: task.id.clone(),
        },
        _ => {
            let artifacts = task.artifacts.iter().flat_map(|it| &it.parts);
            let text = words(artifacts.chain(status));
            match state {
                Some(TaskState::Canceled) => DelegateReply::NotApproved(text),
                Some(TaskState::Rejected) => DelegateReply::Refused(text),
                Some(TaskState::Failed) => DelegateReply::Failed(text),
                _ => answer_of(task).unwrap_or(DelegateReply::Answer(text)),
            }
        }
    }
}

/// The letter in which a task is answered, if there is one.
fn answer_of(task: &Task) -> Option<DelegateReply> {
    let parts = task.artifacts.iter().flat_map(|it| &it.parts);
    let mut letters = parts.filter_map(|part| Letter::in_part(part)?.ok());
    letters.find_map(|letter| match letter.body {
        Body::Answer {
            accepted,
            text,
            confidence,
            ..
        } => Some(DelegateReply::Letter {
            text,
            accepted,
            confidence: confidence.unwrap_or(message::UNSAID),
        }),
        _ => None,
    })
}

fn words<'a>(parts: impl Iterator<Item = &'a Part>) -> String {
    let texts: Vec<&str> = parts.filter_map(Part::as_text).collect();
    texts.join("\n")
}
