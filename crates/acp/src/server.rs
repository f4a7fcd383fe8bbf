//! The operations of ACP, carried out by the task server.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use a2a::binding::Wire;
use a2a::event::EventStream;
use a2a::service::Call;
use a2a::types::wire::WireMessage;
use a2a::types::{
    Answer as SendResult, CancelTaskRequest, Event as Payload, GetTaskRequest, ListTasksRequest,
    Message as A2aMessage, Role, SendMessageConfiguration, SendMessageRequest,
    SubscribeToTaskRequest, Task, TaskState,
};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use skill::{Registry, extension};
use uuid::Uuid;

use crate::agents::{Agents, RunTarget};
use crate::content::{self, InputParts};
use crate::error::Error;
use crate::events::{EventLog, EventTranslator};
use crate::limits::{MAX_AGENTS, MAX_ID, MAX_SESSION_BYTES, MAX_SESSION_RUNS};
use crate::operation::{
    CreateRun, GetAgent, ListAgents, Mode, NoFields, Reply, ResourceRequest, ResumeRun, RunRequest,
    SessionRequest, SingleReply,
};
use crate::resource::Resource;
use crate::run;
use crate::types::{Awaited, Event, Run, RunStatus, Session};

/// The operations of ACP on one agent: a translation onto the operations of A2A.
///
/// | ACP | A2A |
/// |---|---|
/// | create a run | send a message that names the skill, or none for the agent as a whole |
/// | run, run id | task, task id |
/// | resume a run | send a message to the task that waits for input |
/// | cancel a run | cancel the task |
/// | events of a run | subscribe to the task from its first event, translated |
/// | session | the tasks of a context |
/// | resource | a message or an artifact of a task |
///
/// Every operation reads what it needs from the task server and keeps nothing, with one exception: `cancelling`. ACP has
/// the status `cancelling` between the request and the end of a run, which A2A does not have; so the ids of runs that
/// are being cancelled are kept here while the cancellation is under way, and forgotten by a restart. The cancellation
/// runs in a task that `wire.tasks` owns, since the operation replies before it has finished.
///
/// `createRun` and `resumeRun` reply in three modes: `sync` waits until the task is at rest, `async` replies with the run
/// as soon as it is in the journal, `stream` follows its events. A session id of ACP is a UUID, and a context id of A2A
/// need not be one: sessions that we create are UUIDs, and a run in another context has no session id.
pub(crate) struct AcpServer {
    pub(crate) wire: Wire,
    agents: Agents,
    /// The public address of REST, for the links in sessions.
    url: String,
    /// Ids of the runs that are being cancelled.
    cancelling: Mutex<HashSet<String>>,
}

impl AcpServer {
    pub(crate) fn new(wire: Wire, skills: Registry, url: String) -> Self {
        Self {
            agents: Agents::new(wire.service.card(), skills),
            wire,
            url,
            cancelling: Mutex::default(),
        }
    }

    pub(crate) async fn ping(self: Arc<Self>, _: Call, _: NoFields) -> Result<SingleReply, Error> {
        Ok(SingleReply::new(&json!({})))
    }

    pub(crate) async fn list_agents(
        self: Arc<Self>,
        _: Call,
        request: ListAgents,
    ) -> Result<SingleReply, Error> {
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
        Ok(SingleReply::new(&json!({ "agents": page })))
    }

    pub(crate) async fn get_agent(
        self: Arc<Self>,
        _: Call,
        request: GetAgent,
    ) -> Result<SingleReply, Error> {
        let manifest = self.agents.manifest(&request.name);
        let manifest = manifest.ok_or_else(|| Error::missing("agent", &request.name))?;
        Ok(SingleReply::new(manifest))
    }

    pub(crate) async fn create_run(
        self: Arc<Self>,
        call: Call,
        request: CreateRun,
    ) -> Result<Reply, Error> {
        let target = self.agents.find(&request.agent_name);
        let target = target.ok_or_else(|| Error::missing("agent", &request.agent_name))?;
        let context_id = session(&request)?;
        let InputParts { parts, read } = content::parts_of(request.input, "input")?;
        let message_id = Uuid::now_v7().to_string();
        // The parts become the input of the skill where the input is validated, in the agent.
        let message = match target {
            RunTarget::Skill(skill) => extension::call(message_id, &skill.id, Value::Null),
            RunTarget::Whole => A2aMessage {
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
        let translator = EventTranslator::new(self.agents.whole());
        let sent = self
            .send(call, message.into(), request.mode, translator)
            .await;
        sent.map_err(|error| error.about(&read))
    }

    pub(crate) async fn get_run(
        self: Arc<Self>,
        call: Call,
        request: RunRequest,
    ) -> Result<SingleReply, Error> {
        let task = self.task(&call, &request.run_id).await?;
        Ok(SingleReply::new(&self.run(&task)))
    }

    pub(crate) async fn resume_run(
        self: Arc<Self>,
        call: Call,
        request: ResumeRun,
    ) -> Result<Reply, Error> {
        let Awaited::Message { message } = request.await_resume;
        let InputParts { parts, read } = content::parts_of(vec![message], "await_resume.message")?;
        let task = self.task(&call, &request.run_id).await?;
        if !task.state().is_interrupted() {
            let why = format!("run {:?} does not wait for input", task.id);
            return Err(Error::Forbidden(why));
        }
        // The answer to a question of a skill must name the skill extension.
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
        // Of two concurrent answers the second fails with `TaskGenerationMismatch`.
        send.configuration
            .get_or_insert_default()
            .if_generation_match = Some(task.generation);
        let translator = EventTranslator::resumed(self.agents.whole());
        let sent = self.send(call, send, request.mode, translator).await;
        sent.map_err(|error| error.about(&read))
    }

    /// Replies at once, with the status `cancelling`; the run ends later.
    pub(crate) async fn cancel_run(
        self: Arc<Self>,
        call: Call,
        request: RunRequest,
    ) -> Result<SingleReply, Error> {
        let task = self.task(&call, &request.run_id).await?;
        let state = task.state();
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
                    tracing::debug!(run = id, %error, "cancelling a run failed");
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
        Ok(SingleReply {
            accepted: true,
            ..SingleReply::new(&run)
        })
    }

    pub(crate) async fn list_run_events(
        self: Arc<Self>,
        call: Call,
        request: RunRequest,
    ) -> Result<SingleReply, Error> {
        // Events up to the current generation; later ones are for the next request.
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
        let mut events = self.wire.service.subscribe_to_task(call, follow).await?;
        let mut translator = EventTranslator::new(self.agents.whole());
        let mut log = EventLog::default();
        while !log.reaches(last)
            && let Some(portion) = events.next().await
        {
            for event in portion? {
                log.take(&mut translator, &event)?;
                if log.reaches(last) {
                    break;
                }
            }
        }
        Ok(SingleReply::new(&log))
    }

    pub(crate) async fn get_session(
        self: Arc<Self>,
        call: Call,
        request: SessionRequest,
    ) -> Result<SingleReply, Error> {
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
        // Task ids hold the time in milliseconds; within one, our message ids (UUID version 7) give the order.
        tasks.sort_by_cached_key(|task| {
            let asked = run::input(task).map(|message| message.message_id.clone());
            (run::created_at(task), asked)
        });
        let finished = tasks.iter();
        let finished = finished.filter(|task| task.state() == TaskState::Completed);
        let history = finished.flat_map(|task| {
            let place = format!("{}/resources/{}", self.url, task.id);
            Resource::all(task).map(move |resource| format!("{place}.{resource}"))
        });
        let history = history.collect();
        Ok(SingleReply::new(&Session { id, history }))
    }

    pub(crate) async fn get_resource(
        self: Arc<Self>,
        call: Call,
        request: ResourceRequest,
    ) -> Result<SingleReply, Error> {
        let missing = || Error::missing("resource", &request.resource_id);
        let named = request.resource_id.split_once('.');
        let named = named.and_then(|(task, resource)| Some((task, Resource::named(resource)?)));
        let (task, resource) = named.ok_or_else(missing)?;
        let task = self.task(&call, task).await.map_err(|error| match error {
            Error::NotFound { .. } => missing(),
            error => error,
        })?;
        let message = resource.read(&task, self.agents.whole());
        Ok(SingleReply::new(&message.ok_or_else(missing)?))
    }

    /// Sends a message and replies in the given mode.
    async fn send(
        &self,
        call: Call,
        mut request: SendMessageRequest,
        mode: Option<Mode>,
        translator: EventTranslator,
    ) -> Result<Reply, Error> {
        let mode = mode.unwrap_or_default();
        let service = &self.wire.service;
        if mode == Mode::Stream {
            let events = service.send_streaming_message(call, request).await?;
            return translated(events, translator).await;
        }
        let configuration: &mut SendMessageConfiguration =
            request.configuration.get_or_insert_default();
        configuration.return_immediately = mode == Mode::Async;
        let sent = service.send_message(call, request).await?;
        let SendResult::Task(task) = sent.payload else {
            return Err(no_task().into());
        };
        let answer = SingleReply::new(&self.run(&task));
        Ok(Reply::One(SingleReply {
            run: Some(task.id),
            accepted: mode == Mode::Async,
            ..answer
        }))
    }

    /// Loads a task of the caller.
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

    /// The newest tasks of a context, with their artifacts.
    async fn tasks(&self, call: &Call, context: &str) -> Result<Vec<Task>, Error> {
        let mut tasks: Vec<Task> = Vec::new();
        let mut request = ListTasksRequest {
            context_id: context.to_owned(),
            page_size: Some(a2a::limits::MAX_PAGE),
            include_artifacts: Some(true),
            ..ListTasksRequest::default()
        };
        let mut bytes = 0;
        loop {
            let page = self.wire.service.list_tasks(call.clone(), request.clone());
            let mut page = page.await?;
            bytes += page.tasks.iter().map(WireMessage::size).sum::<usize>();
            tasks.append(&mut page.tasks);
            let full = tasks.len() >= MAX_SESSION_RUNS || bytes >= MAX_SESSION_BYTES;
            if page.next_page_token.is_empty() || full {
                tasks.truncate(MAX_SESSION_RUNS);
                return Ok(tasks);
            }
            request.page_token = page.next_page_token;
        }
    }

    /// A task as a run, with the status `cancelling` where it applies.
    fn run(&self, task: &Task) -> Run {
        let mut run = run::of(task, self.agents.whole());
        if !task.state().is_terminal() && self.lock().contains(&task.id) {
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

/// The session of a new run: the one that the request names, or a new one. Made here rather than by the task server, since
/// ACP requires a UUID.
fn session(request: &CreateRun) -> Result<String, Error> {
    let described = request.session.as_ref().map(|session| &session.id);
    let read = |field: &str, id: &String| {
        let id = Uuid::try_parse(id);
        id.map_err(|_| Error::invalid(field, "is not a UUID"))
    };
    let named = request.session_id.as_ref();
    let named = named.map(|id| read("session_id", id)).transpose()?;
    let described = described.map(|id| read("session.id", id)).transpose()?;
    match (named, described) {
        (Some(named), Some(described)) if named != described => {
            let why = "session_id and session.id differ";
            Err(Error::Malformed(why.to_owned()))
        }
        (named, described) => {
            let id = named.or(described).unwrap_or_else(Uuid::now_v7);
            Ok(id.to_string())
        }
    }
}

/// The events of a run as a stream, up to its end. Waits for the first event, which holds the id of the run.
async fn translated(mut events: EventStream, translator: EventTranslator) -> Result<Reply, Error> {
    let first = events.next().await.unwrap_or(Ok(Vec::new()))?;
    let Some(Payload::Task(task)) = first.first().map(|event| &event.response().payload) else {
        return Err(no_task().into());
    };
    let id = task.id.clone();
    let events = stream::iter([Ok(first)]).chain(events);
    let begun = (events, translator, false);
    let events = stream::unfold(begun, |(mut events, mut translator, over)| async move {
        if over {
            return None;
        }
        let portion = events.next().await?;
        let translated = portion.map(|portion| {
            let mut out = Vec::new();
            for event in &portion {
                out.append(&mut translator.take(event));
                if out.last().is_some_and(Event::ends_streams) {
                    break;
                }
            }
            out
        });
        let over = match &translated {
            Ok(out) => out.last().is_some_and(Event::ends_streams),
            Err(_) => true,
        };
        Some((translated, (events, translator, over)))
    });
    Ok(Reply::Many(id, Box::pin(events)))
}

fn no_task() -> a2a::Error {
    a2a::Error::Internal("the task server made no task for a message".to_owned())
}
