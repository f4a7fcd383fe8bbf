//! To call a tool: a message to the agent, and what comes of it followed to its end.

use std::sync::Arc;
use std::time::Duration;

use a2a::event::{Event, EventStream};
use a2a::types::{
    CancelTaskRequest, Event as Payload, GetTaskRequest, Message, SendMessageRequest,
    SubscribeToTaskRequest, Task, TaskState,
};
use futures_util::StreamExt as _;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientResult, ContentBlock,
    ElicitRequest, ErrorData, ProgressNotificationParam, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RequestHandle, ServiceError};
use serde_json::Value;
use skill::extension;
use tokio::time::Instant;

use super::question::{self, Asked, Bond, Given};
use super::{Client, Handler, outcome, refused, task};

/// By this key of a request's `_meta` a client names a call: one of the same name is the same call, however
/// often it is sent.
const NAME: &str = "urn:monas:mcp:call";

/// Longer than anything is waited for.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How following a task ended.
enum Followed {
    /// The answer is a message, and there is no task.
    Message(Message),
    /// The task has ended, or waits for somebody.
    Rests(Task),
    /// It takes longer than the client is kept waiting.
    GoesOn(Task),
    /// Whoever called does not want it any more.
    Cancelled,
}

impl Handler {
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.inner.config.skills.get(&request.name).is_none() {
            let unknown = format!("unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(unknown, None));
        }
        // What belongs to the protocol ends here.
        let meta = &context.meta;
        tracing::debug!(tool = &*request.name, request = %context.id, ?meta, "a tool is called");
        let calling = Calling {
            handler: self,
            client: Client::of(&context),
            context: &context,
        };
        calling.perform(request).await
    }

    /// A task of whoever sent this request.
    pub(super) async fn load(
        &self,
        task: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Task, ErrorData> {
        let request = GetTaskRequest {
            id: task.to_owned(),
            history_length: Some(0),
            ..GetTaskRequest::default()
        };
        let found = self.tasks().get_task(self.call_by(context), request).await;
        found.map_err(|error| refused(&error))
    }
}

/// One request to call a tool.
struct Calling<'a> {
    handler: &'a Handler,
    client: Client,
    context: &'a RequestContext<RoleServer>,
}

impl Calling<'_> {
    async fn perform(&self, request: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let caller = self.handler.call_by(self.context).caller;
        let input = Value::Object(request.arguments.unwrap_or_default());
        let bond = Bond::new(caller.name(), &request.name, &input);
        let Some(state) = request.request_state else {
            let id = match self.context.meta.get(NAME) {
                Some(Value::String(name)) if !name.is_empty() => name.clone(),
                Some(_) => {
                    let wrong = format!("_meta[{NAME:?}] is no name: it is to be a text");
                    return Err(ErrorData::invalid_params(wrong, None));
                }
                None => uuid::Uuid::new_v4().to_string(),
            };
            let message = extension::call(id, &request.name, input);
            return self.send(message.into(), &bond).await;
        };
        let task = self.handler.inner.seal.open(&state, &bond)?;
        let task = self.handler.load(&task, self.context).await?;
        let responses = request.input_responses.unwrap_or_default();
        match Asked::by(&task).and_then(|asked| asked.answered(&task, &responses)) {
            Some(Given::Answer(answer)) => self.answer(task, answer, &bond).await,
            Some(Given::Nothing) => Ok(self.outcome().unanswered(&task).into()),
            None => self.take_up(task, &bond).await,
        }
    }

    /// Answers the question of a task as it was seen, and goes on with what comes of it.
    async fn answer(
        &self,
        task: Task,
        answer: Message,
        bond: &Bond,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = question::message(answer, &task);
        match self.sent(answer).await {
            Ok(events) => self.go_on(Task::default(), events, bond).await,
            // Somebody else answered first, or ended it.
            Err(
                a2a::Error::TaskGenerationMismatch { .. } | a2a::Error::UnsupportedOperation(_),
            ) => {
                let task = self.handler.load(&task.id, self.context).await?;
                self.take_up(task, bond).await
            }
            Err(error) => Err(refused(&error)),
        }
    }

    /// Calls the agent and goes on with what comes of it.
    async fn send(
        &self,
        request: SendMessageRequest,
        bond: &Bond,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.sent(request).await {
            Ok(events) => self.go_on(Task::default(), events, bond).await,
            // What is wrong with the input is for whoever wrote it, often a model, to read.
            Err(a2a::Error::InvalidParams { message, .. }) => Ok(complaint(message).into()),
            Err(error) => Err(refused(&error)),
        }
    }

    /// What comes of a message.
    async fn sent(&self, mut request: SendMessageRequest) -> Result<EventStream, a2a::Error> {
        request.configuration.get_or_insert_default().history_length = Some(0);
        let call = self.handler.call_by(self.context);
        let tasks = self.handler.tasks();
        tasks.send_streaming_message(call, request).await
    }

    /// Goes on with a task as it is found.
    async fn take_up(&self, task: Task, bond: &Bond) -> Result<CallToolResponse, ErrorData> {
        if rests(&task) {
            return self.settle(task, bond).await;
        }
        let request = SubscribeToTaskRequest {
            id: task.id.clone(),
            ..SubscribeToTaskRequest::default()
        };
        let call = self.handler.call_by(self.context);
        match self.handler.tasks().subscribe_to_task(call, request).await {
            Ok(events) => self.go_on(task, events, bond).await,
            // It ended in between.
            Err(a2a::Error::UnsupportedOperation(_)) => {
                let task = self.handler.load(&task.id, self.context).await?;
                self.settle(task, bond).await
            }
            Err(error) => Err(refused(&error)),
        }
    }

    async fn go_on(
        &self,
        task: Task,
        events: EventStream,
        bond: &Bond,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.follow(task, events).await? {
            Followed::Message(message) => Ok(self.outcome().of_message(&message).into()),
            Followed::Rests(task) => self.settle(task, bond).await,
            Followed::GoesOn(task) => Ok(task::created(self.handler.limits(), &task).into()),
            Followed::Cancelled => Err(ErrorData::internal_error("the call was cancelled", None)),
        }
    }

    /// Answers with a task that has ended, or that waits for somebody.
    async fn settle(&self, task: Task, bond: &Bond) -> Result<CallToolResponse, ErrorData> {
        match state(&task) {
            TaskState::InputRequired => Box::pin(self.ask(task, bond)).await,
            _ => Ok(self.outcome().of_task(&task)?.into()),
        }
    }

    /// Follows a task until it rests, telling the client how far it is.
    async fn follow(&self, mut task: Task, mut events: EventStream) -> Result<Followed, ErrorData> {
        let cancelled = &self.context.ct;
        let patience = match self.client.tasks {
            true => self.handler.limits().patience,
            false => FOREVER,
        };
        let patience = Instant::now() + patience;
        let mut told = Told::default();
        loop {
            let known = !task.id.is_empty();
            let portion = tokio::select! {
                biased;
                portion = events.next() => portion,
                () = cancelled.cancelled(), if known => return self.give_up(&task).await,
                () = tokio::time::sleep_until(patience), if known => {
                    return Ok(Followed::GoesOn(task));
                }
            };
            let portion = match portion {
                Some(portion) => portion.map_err(|error| refused(&error))?,
                None if rests(&task) => return Ok(Followed::Rests(task)),
                None => return Err(ErrorData::internal_error("the server is stopping", None)),
            };
            for event in portion {
                if let Payload::Message(message) = &event.response().payload {
                    return Ok(Followed::Message(message.clone()));
                }
                event.apply_to(&mut task);
                told.progress(self.context, &event).await;
            }
            if rests(&task) {
                return Ok(Followed::Rests(task));
            }
        }
    }

    /// Whoever called went away, or said that it is over.
    async fn give_up(&self, task: &Task) -> Result<Followed, ErrorData> {
        // A server that stops leaves what it does to the next one.
        if self.handler.inner.config.stopping.is_cancelled() {
            return Err(ErrorData::internal_error("the server is stopping", None));
        }
        let request = CancelTaskRequest {
            id: task.id.clone(),
            ..CancelTaskRequest::default()
        };
        let call = self.handler.call_by(self.context);
        if let Err(error) = self.handler.tasks().cancel_task(call, request).await {
            tracing::debug!(task = task.id, %error, "a task was not cancelled");
        }
        Ok(Followed::Cancelled)
    }

    /// Lets the question of a task be answered, in the way that the client knows.
    async fn ask(&self, task: Task, bond: &Bond) -> Result<CallToolResponse, ErrorData> {
        let Some(asked) = Asked::by(&task) else {
            return Ok(self.outcome().unanswered(&task).into());
        };
        match self.client {
            Client { tasks: true, .. } => Ok(task::created(self.handler.limits(), &task).into()),
            Client { forms: false, .. } => Ok(self.outcome().unanswered(&task).into()),
            Client { modern: true, .. } => {
                let state = self.handler.inner.seal.close(&task.id, bond);
                Ok(asked.required(state).into())
            }
            _ => self.ask_at_once(task, asked, bond).await,
        }
    }

    /// On the older wire the server asks while the call waits. Whoever answers first, by whatever way, is heard.
    async fn ask_at_once(
        &self,
        task: Task,
        asked: Asked,
        bond: &Bond,
    ) -> Result<CallToolResponse, ErrorData> {
        let limits = self.handler.limits();
        if asked.number >= limits.max_questions {
            return Ok(self.outcome().unanswered(&task).into());
        }
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(asked.form()));
        let peer = &self.context.peer;
        let shown = peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let mut form = match shown.await {
            Ok(form) => form,
            Err(error) => return Ok(self.unanswered(&task, &error)),
        };
        let answer = tokio::select! {
            biased;
            answer = &mut form.rx => answer.unwrap_or(Err(ServiceError::TransportClosed)),
            task = self.moved_on(&task) => {
                withdraw(form).await;
                return self.take_up(task?, bond).await;
            }
            () = self.context.ct.cancelled() => {
                withdraw(form).await;
                self.give_up(&task).await?;
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
            () = tokio::time::sleep(limits.answer_time) => {
                withdraw(form).await;
                let timeout = limits.answer_time;
                Err(ServiceError::Timeout { timeout })
            }
        };
        match answer {
            Ok(ClientResult::ElicitResult(answer)) => match asked.given(&task, answer) {
                Given::Answer(answer) => self.answer(task, answer, bond).await,
                Given::Nothing => Ok(self.outcome().unanswered(&task).into()),
            },
            Ok(_) => Ok(self.unanswered(&task, &ServiceError::UnexpectedResponse)),
            Err(error) => Ok(self.unanswered(&task, &error)),
        }
    }

    fn unanswered(&self, task: &Task, error: &ServiceError) -> CallToolResponse {
        tracing::debug!(task = task.id, %error, "a question was not answered");
        self.outcome().unanswered(task).into()
    }

    /// Ends when something happens to a task that waits: it was answered or cancelled by another way.
    async fn moved_on(&self, task: &Task) -> Result<Task, ErrorData> {
        loop {
            let request = GetTaskRequest {
                id: task.id.clone(),
                history_length: Some(0),
                current_generation: Some(task.generation),
                ..GetTaskRequest::default()
            };
            let call = self.handler.call_by(self.context);
            let now = self.handler.tasks().get_task(call, request).await;
            let now = now.map_err(|error| refused(&error))?;
            if now.generation > task.generation {
                return Ok(now);
            }
        }
    }

    fn outcome(&self) -> outcome::Writer<'_> {
        outcome::Writer {
            authority: &self.handler.inner.config.authority,
            modern: self.client.modern,
        }
    }
}

/// Takes a form back that nobody needs to fill in any more.
async fn withdraw(form: RequestHandle<RoleServer>) {
    let why = Some("the question is no longer open".to_owned());
    if let Err(error) = form.cancel(why).await {
        tracing::debug!(%error, "a form was not taken back");
    }
}

/// What a client was told about how far its call is.
#[derive(Default)]
struct Told {
    progress: Option<f64>,
}

impl Told {
    /// Passes on how far a skill says it is, to a client that wants to know. It only ever grows.
    async fn progress(&mut self, context: &RequestContext<RoleServer>, event: &Arc<Event>) {
        let Some(token) = context.meta.get_progress_token() else {
            return;
        };
        let status = match &event.response().payload {
            Payload::StatusUpdate(update) => update.status.as_ref(),
            Payload::Task(task) => task.status.as_ref(),
            _ => None,
        };
        let Some(said) = status.and_then(|status| status.message.as_ref()) else {
            return;
        };
        let Some(far) = extension::progress(said) else {
            return;
        };
        if self.progress.is_some_and(|told| far.progress <= told) {
            return;
        }
        self.progress = Some(far.progress);
        let mut param = ProgressNotificationParam::new(token, far.progress);
        param.total = far.total;
        param.message = Some(outcome::text(said)).filter(|text| !text.is_empty());
        if let Err(error) = context.peer.notify_progress(param).await {
            tracing::debug!(%error, "a client was not told how far its call is");
        }
    }
}

/// A result that says what was wrong with the call.
fn complaint(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

fn state(task: &Task) -> TaskState {
    task.status
        .as_ref()
        .map(|status| status.state)
        .unwrap_or_default()
}

/// Whether nothing more happens to a task without somebody else.
fn rests(task: &Task) -> bool {
    let state = state(task);
    state.is_terminal() || state.is_interrupted()
}
