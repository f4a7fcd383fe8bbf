//! Calls a tool: sends a message that names the skill, waits until its task is at rest, and replies. The order of steps is
//! described at [`Handler`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use a2a::event::{Event, EventStream};
use a2a::types::{
    CancelTaskRequest, Event as Payload, GetTaskRequest, Message, SendMessageRequest,
    SubscribeToTaskRequest, Task, TaskState,
};
use futures_util::StreamExt as _;
use serde::Deserialize;
use serde_json::{Map, Value};
use skill::extension;
use tokio::time::Instant;

use super::content::{Content, ToolResult};
use super::question::{self, CallDigest, ELICIT, FormResponse, FormResult, PendingQuestion};
use super::request::{Request, RequestResult};
use super::rpc::RpcError;
use super::{Handler, outcome, refused, task};

/// The key in `_meta` under which a client names its call. Requests with the same name are the same call, so a client
/// may repeat one after a lost connection without running the skill twice.
pub(super) const NAME: &str = "urn:monas:mcp:call";

/// Stands for "no limit" where a deadline is needed.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The parameters of `tools/call`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallParams {
    name: String,
    #[serde(default)]
    arguments: Option<Map<String, Value>>,
    #[serde(default)]
    input_responses: Option<BTreeMap<String, Value>>,
    #[serde(default)]
    request_state: Option<String>,
}

/// How following a task ended.
enum Followed {
    /// The agent replied with a message and made no task.
    Message(Message),
    /// The task ended, or waits for input.
    AtRest(Task),
    /// The task is still running after [`Limits::patience`](crate::Limits::patience).
    StillRunning(Task),
    /// The client cancelled the request or disconnected.
    Cancelled,
}

impl Handler {
    pub(super) async fn call(
        &self,
        params: CallParams,
        request: &Request,
    ) -> Result<RequestResult, RpcError> {
        if self.inner.config.skills.get(&params.name).is_none() {
            let unknown = format!("unknown tool: {}", params.name);
            return Err(RpcError::invalid_params(unknown));
        }
        tracing::debug!(tool = &*params.name, request = %request.id, "tool call received");
        let CallParams {
            name, arguments, ..
        } = params;
        let input = Value::Object(arguments.unwrap_or_default());
        let client = &request.client;
        let sealed = params.request_state.is_some() || (client.is_modern() && client.forms);
        let caller = self.caller(request);
        let call = ToolCall {
            handler: self,
            request,
            digest: sealed.then(|| CallDigest::new(caller.name(), &name, &input)),
        };
        match params.request_state {
            Some(state) => {
                let responses = params.input_responses.unwrap_or_default();
                call.go_on(&state, &responses).await
            }
            None => call.begin(&name, input).await,
        }
    }

    /// A task of the caller, without its history.
    pub(super) async fn load(&self, task: &str, request: &Request) -> Result<Task, RpcError> {
        let wanted = GetTaskRequest {
            id: task.to_owned(),
            history_length: Some(0),
            ..GetTaskRequest::default()
        };
        let found = self.tasks().get_task(self.call_by(request), wanted).await;
        found.map_err(|error| refused(&error))
    }
}

/// One `tools/call` request while it is handled.
struct ToolCall<'a> {
    handler: &'a Handler,
    request: &'a Request,
    /// Which call a sealed state is valid for, where the client may be given one or has sent one.
    digest: Option<CallDigest>,
}

impl ToolCall<'_> {
    /// Sends the message that begins the call, then follows its task.
    async fn begin(&self, tool: &str, input: Value) -> Result<RequestResult, RpcError> {
        let name = self.name()?;
        let repeatable = name.is_some();
        let id = name.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        let message = extension::call(id, tool, input);
        match self.events(message.into(), repeatable).await {
            Ok(events) => self.follow_and_reply(Task::default(), events).await,
            // Invalid input is an error result rather than a JSON-RPC error: the model that wrote it should read it.
            Err(a2a::Error::InvalidParams { message, .. }) => {
                RequestResult::complete(&ToolResult::error(vec![Content::text(message)]))
            }
            Err(error) => Err(refused(&error)),
        }
    }

    /// Goes on with a call that was asked something, with the state and the answers that came back.
    async fn go_on(
        &self,
        state: &str,
        responses: &BTreeMap<String, Value>,
    ) -> Result<RequestResult, RpcError> {
        let task = self.handler.inner.seal.open(state, self.digest.as_ref())?;
        let task = self.handler.load(&task, self.request).await?;
        match PendingQuestion::of(&task).and_then(|it| it.find_response(&task, responses)) {
            Some(FormResponse::Answer(answer)) => self.answer(task, answer).await,
            Some(FormResponse::Dismissed) => {
                RequestResult::complete(&self.outcome().unanswered(&task))
            }
            None => self.follow_task(task).await,
        }
    }

    /// The client's name for the call, which is the id of the message that begins it.
    fn name(&self) -> Result<Option<String>, RpcError> {
        match self.request.meta.get(NAME) {
            Some(Value::String(name)) if !name.is_empty() => Ok(Some(name.clone())),
            Some(_) => {
                let wrong = format!("_meta[{NAME:?}] must be a string that is not empty");
                Err(RpcError::invalid_params(wrong))
            }
            None => Ok(None),
        }
    }

    /// Answers the question that `task` showed, then follows the task. If another client answered first, or the task
    /// ended, the answer is dropped and the task is followed as it is now.
    async fn answer(&self, task: Task, answer: Message) -> Result<RequestResult, RpcError> {
        let answer = question::answer_request(answer, &task);
        // Its id is a hash of the answer, so that one that is sent twice is known.
        match self.events(answer, true).await {
            Ok(events) => self.follow_and_reply(Task::default(), events).await,
            Err(
                a2a::Error::TaskGenerationMismatch { .. } | a2a::Error::UnsupportedOperation(_),
            ) => {
                let task = self.handler.load(&task.id, self.request).await?;
                self.follow_task(task).await
            }
            Err(error) => Err(refused(&error)),
        }
    }

    /// The events that follow a message. A repeatable one that was sent before is answered as it was then.
    async fn events(
        &self,
        mut request: SendMessageRequest,
        repeatable: bool,
    ) -> Result<EventStream, a2a::Error> {
        request.configuration.get_or_insert_default().history_length = Some(0);
        let mut call = self.handler.call_by(self.request);
        if repeatable {
            call = call.repeatable();
        }
        let tasks = self.handler.tasks();
        tasks.send_streaming_message(call, request).await
    }

    /// Follows a task that exists already, or replies at once if it is at rest.
    async fn follow_task(&self, task: Task) -> Result<RequestResult, RpcError> {
        if task.is_settled() {
            return self.reply_at_rest(task).await;
        }
        let request = SubscribeToTaskRequest {
            id: task.id.clone(),
            ..SubscribeToTaskRequest::default()
        };
        let call = self.handler.call_by(self.request);
        match self.handler.tasks().subscribe_to_task(call, request).await {
            Ok(events) => self.follow_and_reply(task, events).await,
            // It ended after it was loaded.
            Err(a2a::Error::UnsupportedOperation(_)) => {
                let task = self.handler.load(&task.id, self.request).await?;
                self.reply_at_rest(task).await
            }
            Err(error) => Err(refused(&error)),
        }
    }

    async fn follow_and_reply(
        &self,
        task: Task,
        events: EventStream,
    ) -> Result<RequestResult, RpcError> {
        match self.follow(task, events).await? {
            Followed::Message(message) => {
                RequestResult::complete(&self.outcome().of_message(&message))
            }
            Followed::AtRest(task) => self.reply_at_rest(task).await,
            Followed::StillRunning(task) => {
                RequestResult::task(&task::created(self.handler.limits(), &task))
            }
            Followed::Cancelled => Err(RpcError::internal("the call was cancelled")),
        }
    }

    /// Replies with the result of a task that ended, or shows the question of one that waits.
    async fn reply_at_rest(&self, task: Task) -> Result<RequestResult, RpcError> {
        match task.state() {
            TaskState::InputRequired => Box::pin(self.ask(task)).await,
            _ => RequestResult::complete(&self.outcome().of_task(task)?),
        }
    }

    /// Folds events into `task` until it is at rest, and passes on its progress. Until the first event the task has no
    /// id, so neither cancellation nor the time limit is looked at: there would be nothing to cancel or to show.
    async fn follow(&self, mut task: Task, mut events: EventStream) -> Result<Followed, RpcError> {
        let cancelled = &self.request.cancelled;
        let patience = match self.request.client.tasks {
            true => self.handler.limits().patience,
            false => FOREVER,
        };
        let patience = Instant::now() + patience;
        let mut reporter = ProgressReporter::default();
        loop {
            let known = !task.id.is_empty();
            let portion = tokio::select! {
                biased;
                portion = events.next() => portion,
                () = cancelled.cancelled(), if known => return self.cancel(&task).await,
                () = tokio::time::sleep_until(patience), if known => {
                    return Ok(Followed::StillRunning(task));
                }
            };
            let portion = match portion {
                Some(portion) => portion.map_err(|error| refused(&error))?,
                None if task.is_settled() => return Ok(Followed::AtRest(task)),
                None => return Err(RpcError::internal("the server is stopping")),
            };
            for event in portion {
                if let Payload::Message(message) = &event.response().payload {
                    return Ok(Followed::Message(message.clone()));
                }
                event.apply_to(&mut task);
                reporter.report(self.request, &event).await;
            }
            if task.is_settled() {
                return Ok(Followed::AtRest(task));
            }
        }
    }

    /// Cancels the task of a request that was cancelled.
    async fn cancel(&self, task: &Task) -> Result<Followed, RpcError> {
        // A server that stops leaves its tasks to the next one.
        if self.handler.inner.config.stopping.is_cancelled() {
            return Err(RpcError::internal("the server is stopping"));
        }
        let request = CancelTaskRequest {
            id: task.id.clone(),
            ..CancelTaskRequest::default()
        };
        let call = self.handler.call_by(self.request);
        if let Err(error) = self.handler.tasks().cancel_task(call, request).await {
            tracing::debug!(task = task.id, %error, "cancelling the task of a cancelled call failed");
        }
        Ok(Followed::Cancelled)
    }

    /// Shows the question of a task in the way that the client supports.
    async fn ask(&self, task: Task) -> Result<RequestResult, RpcError> {
        let Some(question) = PendingQuestion::of(&task) else {
            return RequestResult::complete(&self.outcome().unanswered(&task));
        };
        let client = &self.request.client;
        if client.tasks {
            return RequestResult::task(&task::created(self.handler.limits(), &task));
        }
        if !client.forms {
            return RequestResult::complete(&self.outcome().unanswered(&task));
        }
        if let (true, Some(digest)) = (client.is_modern(), &self.digest) {
            let state = self.handler.inner.seal.seal(&task.id, digest);
            return RequestResult::input_required(&question.required(state));
        }
        self.ask_in_session(task, question).await
    }

    /// Before 2026-07-28: sends the form to the client while the call waits for the answer. The first answer counts, also
    /// one that came over another protocol; the form is then withdrawn.
    async fn ask_in_session(
        &self,
        task: Task,
        question: PendingQuestion,
    ) -> Result<RequestResult, RpcError> {
        let limits = self.handler.limits();
        if question.number >= limits.max_questions {
            return RequestResult::complete(&self.outcome().unanswered(&task));
        }
        let form = question.form();
        let answer = tokio::select! {
            biased;
            answer = self.request.ask(ELICIT, &form) => answer,
            task = self.wait_for_change(&task) => {
                return self.follow_task(task?).await;
            }
            () = self.request.cancelled.cancelled() => {
                self.cancel(&task).await?;
                return Err(RpcError::internal("the call was cancelled"));
            }
            () = tokio::time::sleep(limits.answer_time) => {
                Err(RpcError::internal("no answer in time"))
            }
        };
        let answer = answer.and_then(|answer| {
            let wrong = |error: serde_json::Error| RpcError::invalid_params(error.to_string());
            FormResult::deserialize(answer).map_err(wrong)
        });
        match answer {
            Ok(answer) => match question.response(&task, answer) {
                FormResponse::Answer(answer) => self.answer(task, answer).await,
                FormResponse::Dismissed => {
                    RequestResult::complete(&self.outcome().unanswered(&task))
                }
            },
            Err(error) => {
                tracing::debug!(task = task.id, %error, "client did not answer the question of a tool call");
                RequestResult::complete(&self.outcome().unanswered(&task))
            }
        }
    }

    /// Returns the task once it changed: its question was answered, or it was cancelled, over another protocol.
    async fn wait_for_change(&self, task: &Task) -> Result<Task, RpcError> {
        loop {
            let request = GetTaskRequest {
                id: task.id.clone(),
                history_length: Some(0),
                current_generation: Some(task.generation),
                ..GetTaskRequest::default()
            };
            let call = self.handler.call_by(self.request);
            let now = self.handler.tasks().get_task(call, request).await;
            let now = now.map_err(|error| refused(&error))?;
            if now.generation > task.generation {
                return Ok(now);
            }
        }
    }

    fn outcome(&self) -> outcome::ResultWriter<'_> {
        outcome::ResultWriter {
            authority: &self.handler.inner.config.authority,
            modern: self.request.client.is_modern(),
        }
    }
}

/// Sends the progress of a skill to the client. MCP requires that the number grows, so values that do not are dropped.
#[derive(Default)]
struct ProgressReporter {
    last: Option<f64>,
}

impl ProgressReporter {
    /// Does nothing for clients that sent no progress token.
    async fn report(&mut self, request: &Request, event: &Arc<Event>) {
        if request.progress_token().is_none() {
            return;
        }
        let status = match &event.response().payload {
            Payload::StatusUpdate(update) => update.status.as_ref(),
            Payload::Task(task) => task.status.as_ref(),
            _ => None,
        };
        let Some(message) = status.and_then(|status| status.message.as_ref()) else {
            return;
        };
        let Some(progress) = extension::progress(message) else {
            return;
        };
        if self.last.is_some_and(|last| progress.progress <= last) {
            return;
        }
        self.last = Some(progress.progress);
        let text = Some(message.text()).filter(|text| !text.is_empty());
        request
            .progress(progress.progress, progress.total, text)
            .await;
    }
}
