//! What the operations do, in words of A2A: a run is a task, to create one is to send a message.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a::binding::Wire;
use a2a::event::EventStream;
use a2a::service::Call;
use a2a::types::{
    Answer as Answered, CancelTaskRequest, Event as Payload, GetTaskRequest, ListTasksRequest,
    Message as A2aMessage, Role, SendMessageConfiguration, SendMessageRequest,
    SubscribeToTaskRequest, Task, TaskState,
};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use skill::{Registry, extension};
use uuid::Uuid;

use crate::agents::{Agents, Asked};
use crate::content::{self, Said};
use crate::error::Error;
use crate::events::{Log, Teller};
use crate::limits::{MAX_AGENTS, MAX_ID, MAX_SESSION_RUNS};
use crate::operation::{
    Answer, CreateRun, GetAgent, ListAgents, Mode, Nothing, OfResource, OfRun, OfSession, Reply,
    ResumeRun,
};
use crate::resource::Resource;
use crate::run;
use crate::types::{Awaited, Event, Run, RunStatus, Session};

/// Who answers over ACP.
pub(crate) struct Server {
    pub(crate) wire: Wire,
    agents: Agents,
    /// Where its resources are reached.
    url: String,
    /// Runs that are about to end because somebody asked for it.
    cancelling: Mutex<HashSet<String>>,
}

impl Server {
    pub(crate) fn new(wire: Wire, skills: Registry, url: String) -> Self {
        Self {
            agents: Agents::new(wire.service.card(), skills),
            wire,
            url,
            cancelling: Mutex::default(),
        }
    }

    pub(crate) async fn ping(self: Arc<Self>, _: Call, _: Nothing) -> Result<Answer, Error> {
        Ok(Answer::new(&json!({})))
    }

    pub(crate) async fn list_agents(
        self: Arc<Self>,
        _: Call,
        request: ListAgents,
    ) -> Result<Answer, Error> {
        let limit = request.limit.unwrap_or(MAX_AGENTS);
        if !(1..=MAX_AGENTS).contains(&limit) {
            let problem = format!("is not between 1 and {MAX_AGENTS}");
            return Err(Error::invalid("limit", problem));
        }
        let agents = self.agents.all().iter();
        let page: Vec<_> = agents
            .skip(request.offset.unwrap_or(0))
            .take(limit)
            .collect();
        Ok(Answer::new(&json!({ "agents": page })))
    }

    pub(crate) async fn get_agent(
        self: Arc<Self>,
        _: Call,
        request: GetAgent,
    ) -> Result<Answer, Error> {
        let manifest = self.agents.manifest(&request.name);
        let manifest = manifest.ok_or_else(|| Error::missing("agent", &request.name))?;
        Ok(Answer::new(manifest))
    }

    pub(crate) async fn create_run(
        self: Arc<Self>,
        call: Call,
        request: CreateRun,
    ) -> Result<Reply, Error> {
        let asked = self.agents.find(&request.agent_name);
        let asked = asked.ok_or_else(|| Error::missing("agent", &request.agent_name))?;
        let context_id = session(&request)?;
        let Said { parts, read } = content::parts_of(request.input, "input")?;
        let message_id = Uuid::now_v7().to_string();
        // The input of the skill is read from the parts where it is checked, too.
        let message = match asked {
            Asked::Skill(skill) => extension::call(message_id, &skill.id, Value::Null),
            Asked::Whole => A2aMessage {
                message_id,
                role: Role::User,
                ..A2aMessage::default()
            },
        };
        let message = A2aMessage {
            context_id,
            parts,
            ..message
        };
        let teller = Teller::new(self.agents.whole());
        let sent = self.send(call, message.into(), request.mode, teller).await;
        sent.map_err(|error| error.about(&read))
    }

    pub(crate) async fn get_run(
        self: Arc<Self>,
        call: Call,
        request: OfRun,
    ) -> Result<Answer, Error> {
        let task = self.task(&call, &request.run_id).await?;
        Ok(Answer::new(&self.run(&task)))
    }

    pub(crate) async fn resume_run(
        self: Arc<Self>,
        call: Call,
        request: ResumeRun,
    ) -> Result<Reply, Error> {
        let Awaited::Message { message } = request.await_resume;
        let Said { parts, read } = content::parts_of(vec![message], "await_resume.message")?;
        let task = self.task(&call, &request.run_id).await?;
        if !run::state(&task).is_interrupted() {
            let why = format!("run {:?} does not wait for anything", task.id);
            return Err(Error::Forbidden(why));
        }
        // What a skill asks is answered in the words of its extension.
        let asks = extension::question(&task).map(|_| extension::URI.to_owned());
        let message = A2aMessage {
            message_id: Uuid::now_v7().to_string(),
            extensions: asks.into_iter().collect(),
            task_id: task.id,
            context_id: task.context_id,
            role: Role::User,
            parts,
            ..A2aMessage::default()
        };
        let mut send = SendMessageRequest::from(message);
        // Of two who answer the same question one is told that it is answered.
        send.configuration
            .get_or_insert_default()
            .if_generation_match = Some(task.generation);
        let teller = Teller::resumed(self.agents.whole());
        let sent = self.send(call, send, request.mode, teller).await;
        sent.map_err(|error| error.about(&read))
    }

    /// Answers at once; that the run has ended shows later.
    pub(crate) async fn cancel_run(
        self: Arc<Self>,
        call: Call,
        request: OfRun,
    ) -> Result<Answer, Error> {
        let task = self.task(&call, &request.run_id).await?;
        let state = run::state(&task);
        if state.is_terminal() {
            return Err(a2a::Error::TaskNotCancelable {
                task: task.id,
                state,
            }
            .into());
        }
        if self.lock().insert(task.id.clone()) {
            let cancelled = self.wire.service.cancel_task(
                call,
                CancelTaskRequest {
                    id: task.id.clone(),
                    ..CancelTaskRequest::default()
                },
            );
            let (server, id) = (self.clone(), task.id.clone());
            let work = async move {
                if let Err(error) = cancelled.await {
                    tracing::debug!(run = id, %error, "a run was not cancelled");
                }
                server.lock().remove(&id);
            };
            tokio::spawn(self.wire.tasks.track(work));
        }
        let run = Run {
            status: RunStatus::Cancelling,
            await_request: None,
            ..run::of(&task, self.agents.whole())
        };
        Ok(Answer {
            accepted: true,
            ..Answer::new(&run)
        })
    }

    pub(crate) async fn list_run_events(
        self: Arc<Self>,
        call: Call,
        request: OfRun,
    ) -> Result<Answer, Error> {
        // All that had happened by now: what happens meanwhile is for the next who asks.
        let task = self.task(&call, &request.run_id).await?;
        let last = u64::try_from(task.generation).unwrap_or(0);
        let call = Call {
            cursor: Some(0),
            ..call
        };
        let follow = SubscribeToTaskRequest {
            id: task.id,
            ..SubscribeToTaskRequest::default()
        };
        let mut happened = self.wire.service.subscribe_to_task(call, follow).await?;
        let mut teller = Teller::new(self.agents.whole());
        let mut log = Log::default();
        while !log.reaches(last)
            && let Some(portion) = happened.next().await
        {
            for event in portion? {
                log.take(&mut teller, &event)?;
                if log.reaches(last) {
                    break;
                }
            }
        }
        Ok(Answer::new(&log))
    }

    pub(crate) async fn get_session(
        self: Arc<Self>,
        call: Call,
        request: OfSession,
    ) -> Result<Answer, Error> {
        let id = match Uuid::try_parse(&request.session_id) {
            Ok(id) => id.to_string(),
            Err(_) => request.session_id,
        };
        if id.is_empty() || id.len() > MAX_ID {
            return Err(Error::missing("session", &id));
        }
        let mut tasks = self.tasks(&call, &id).await?;
        if tasks.is_empty() {
            return Err(Error::missing("session", &id));
        }
        // Ids tell when a task was opened; within that millisecond, those of our messages tell the order.
        tasks.sort_by_cached_key(|task| {
            let asked = run::input(task).map(|message| message.message_id.clone());
            (run::created_at(task), asked)
        });
        let finished = tasks.iter();
        let finished = finished.filter(|task| run::state(task) == TaskState::Completed);
        let history = finished.flat_map(|task| {
            let place = format!("{}/resources/{}", self.url, task.id);
            Resource::all(task).map(move |resource| format!("{place}.{resource}"))
        });
        let history = history.collect();
        Ok(Answer::new(&Session { id, history }))
    }

    pub(crate) async fn get_resource(
        self: Arc<Self>,
        call: Call,
        request: OfResource,
    ) -> Result<Answer, Error> {
        let missing = || Error::missing("resource", &request.resource_id);
        let named = request.resource_id.split_once('.');
        let named = named.and_then(|(task, resource)| Some((task, Resource::named(resource)?)));
        let (task, resource) = named.ok_or_else(missing)?;
        let task = self.task(&call, task).await.map_err(|error| match error {
            Error::NotFound { .. } => missing(),
            error => error,
        })?;
        let message = resource.read(&task, self.agents.whole());
        Ok(Answer::new(&message.ok_or_else(missing)?))
    }

    /// Sends a message and answers with the run, or with what happens to it.
    async fn send(
        &self,
        call: Call,
        mut request: SendMessageRequest,
        mode: Option<Mode>,
        teller: Teller,
    ) -> Result<Reply, Error> {
        let mode = mode.unwrap_or_default();
        let service = &self.wire.service;
        if mode == Mode::Stream {
            let happened = service.send_streaming_message(call, request).await?;
            return told(happened, teller).await;
        }
        let configuration: &mut SendMessageConfiguration =
            request.configuration.get_or_insert_default();
        configuration.return_immediately = mode == Mode::Async;
        let sent = service.send_message(call, request).await?;
        let Answered::Task(task) = sent.payload else {
            return Err(no_task().into());
        };
        let answer = Answer::new(&self.run(&task));
        Ok(Reply::One(Answer {
            run: Some(task.id),
            accepted: mode == Mode::Async,
            ..answer
        }))
    }

    /// A task of the caller's.
    async fn task(&self, call: &Call, id: &str) -> Result<Task, Error> {
        if id.len() > MAX_ID {
            return Err(Error::missing("run", id));
        }
        let request = GetTaskRequest {
            id: id.to_owned(),
            ..GetTaskRequest::default()
        };
        let task = self.wire.service.get_task(call.clone(), request).await;
        task.map_err(|error| match error {
            a2a::Error::TaskNotFound(id) => Error::missing("run", &id),
            error => error.into(),
        })
    }

    /// The newest tasks of a context, with all that they made.
    async fn tasks(&self, call: &Call, context: &str) -> Result<Vec<Task>, Error> {
        let mut tasks: Vec<Task> = Vec::new();
        let mut request = ListTasksRequest {
            context_id: context.to_owned(),
            page_size: Some(a2a::limits::MAX_PAGE),
            include_artifacts: Some(true),
            ..ListTasksRequest::default()
        };
        loop {
            let page = self.wire.service.list_tasks(call.clone(), request.clone());
            let mut page = page.await?;
            tasks.append(&mut page.tasks);
            if page.next_page_token.is_empty() || tasks.len() >= MAX_SESSION_RUNS {
                tasks.truncate(MAX_SESSION_RUNS);
                return Ok(tasks);
            }
            request.page_token = page.next_page_token;
        }
    }

    /// A task as a run, as far as anybody knows.
    fn run(&self, task: &Task) -> Run {
        let mut run = run::of(task, self.agents.whole());
        if !run::state(task).is_terminal() && self.lock().contains(&task.id) {
            run.status = RunStatus::Cancelling;
            run.await_request = None;
        }
        run
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<String>> {
        self.cancelling
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The conversation of a new run: the one that is named, or a new one. ACP's are UUIDs, so that it is made
/// here; it tells when, and the run tells for which skill.
fn session(request: &CreateRun) -> Result<String, Error> {
    let described = request.session.as_ref().map(|session| &session.id);
    let read = |field: &str, id: &String| {
        let id = Uuid::try_parse(id);
        id.map_err(|_| Error::invalid(field, "is no UUID"))
    };
    let named = request.session_id.as_ref();
    let named = named.map(|id| read("session_id", id)).transpose()?;
    let described = described.map(|id| read("session.id", id)).transpose()?;
    match (named, described) {
        (Some(named), Some(described)) if named != described => {
            let why = "session_id and session.id name two conversations";
            Err(Error::Malformed(why.to_owned()))
        }
        (named, described) => {
            let id = named.or(described).unwrap_or_else(Uuid::now_v7);
            Ok(id.to_string())
        }
    }
}

/// What happens to a run, from the first event, which says which run it is, to its end.
async fn told(mut happened: EventStream, teller: Teller) -> Result<Reply, Error> {
    let first = happened.next().await.unwrap_or(Ok(Vec::new()))?;
    let Some(Payload::Task(task)) = first.first().map(|event| &event.response().payload) else {
        return Err(no_task().into());
    };
    let id = task.id.clone();
    let happened = stream::iter([Ok(first)]).chain(happened);
    let begun = (happened, teller, false);
    let events = stream::unfold(begun, |(mut happened, mut teller, over)| async move {
        if over {
            return None;
        }
        let portion = happened.next().await?;
        let told = portion.map(|portion| {
            let mut told = Vec::new();
            for event in &portion {
                told.append(&mut teller.take(event));
                if told.last().is_some_and(Event::ends_streams) {
                    break;
                }
            }
            told
        });
        let over = match &told {
            Ok(told) => told.last().is_some_and(Event::ends_streams),
            Err(_) => true,
        };
        Some((told, (happened, teller, over)))
    });
    Ok(Reply::Many(id, Box::pin(events)))
}

fn no_task() -> a2a::Error {
    a2a::Error::Internal("no task came of a message".to_owned())
}
