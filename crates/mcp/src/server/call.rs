//! Calls a tool: sends a message that names the skill, follows its task, and replies when the task is at rest. The order of
//! steps is described at [`Handler`].

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

use super::question::{self, CallDigest, FormResponse, PendingQuestion};
use super::{ClientFeatures, Handler, outcome, refused, task};

/// The key in `_meta` under which a client names its call. Requests with the same name are the same call, so a client
/// may repeat one after a lost connection without running the skill twice.
const NAME: &str = "urn:monas:mcp:call";

/// Stands for "no limit" where a deadline is needed.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

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
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.inner.config.skills.get(&request.name).is_none() {
            let unknown = format!("unknown tool: {}", request.name);
            return Err(ErrorData::invalid_params(unknown, None));
        }
        let meta = &context.meta;
        tracing::debug!(tool = &*request.name, request = %context.id, ?meta, "tool call received");
        let call = ToolCall {
            handler: self,
            client: ClientFeatures::of(&context),
            context: &context,
        };
        call.perform(request).await
    }

    /// A task of the caller, without its history.
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

/// One `tools/call` request while it is handled.
struct ToolCall<'a> {
    handler: &'a Handler,
    client: ClientFeatures,
    context: &'a RequestContext<RoleServer>,
}

impl ToolCall<'_> {
    async fn perform(&self, request: CallToolRequestParams) -> Result<CallToolResponse, ErrorData> {
        let caller = self.handler.call_by(self.context).caller;
        let input = Value::Object(request.arguments.unwrap_or_default());
        let digest = CallDigest::new(caller.name(), &request.name, &input);
        let Some(state) = request.request_state else {
            let id = match self.context.meta.get(NAME) {
                Some(Value::String(name)) if !name.is_empty() => name.clone(),
                Some(_) => {
                    let wrong = format!("_meta[{NAME:?}] must be a string that is not empty");
                    return Err(ErrorData::invalid_params(wrong, None));
                }
                None => uuid::Uuid::new_v4().to_string(),
            };
            let message = extension::call(id, &request.name, input);
            return self.send(message.into(), &digest).await;
        };
        let task = self.handler.inner.seal.open(&state, &digest)?;
        let task = self.handler.load(&task, self.context).await?;
        let responses = request.input_responses.unwrap_or_default();
        match PendingQuestion::of(&task).and_then(|it| it.find_response(&task, &responses)) {
            Some(FormResponse::Answer(answer)) => self.answer(task, answer, &digest).await,
            Some(FormResponse::Dismissed) => Ok(self.outcome().unanswered(&task).into()),
            None => self.follow_task(task, &digest).await,
        }
    }

    /// Answers the question that `task` showed, then follows the task. If another client answered first, or the task
    /// ended, the answer is dropped and the task is followed as it is now.
    async fn answer(
        &self,
        task: Task,
        answer: Message,
        digest: &CallDigest,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = question::answer_request(answer, &task);
        match self.sent(answer).await {
            Ok(events) => self.follow_and_reply(Task::default(), events, digest).await,
            Err(
                a2a::Error::TaskGenerationMismatch { .. } | a2a::Error::UnsupportedOperation(_),
            ) => {
                let task = self.handler.load(&task.id, self.context).await?;
                self.follow_task(task, digest).await
            }
            Err(error) => Err(refused(&error)),
        }
    }

    /// Sends the message that begins the call, then follows its task.
    async fn send(
        &self,
        request: SendMessageRequest,
        digest: &CallDigest,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.sent(request).await {
            Ok(events) => self.follow_and_reply(Task::default(), events, digest).await,
            // Invalid input is an error result rather than a JSON-RPC error: the model that wrote it should read it.
            Err(a2a::Error::InvalidParams { message, .. }) => Ok(error_result(message).into()),
            Err(error) => Err(refused(&error)),
        }
    }

    /// The events that follow a message.
    async fn sent(&self, mut request: SendMessageRequest) -> Result<EventStream, a2a::Error> {
        request.configuration.get_or_insert_default().history_length = Some(0);
        let call = self.handler.call_by(self.context);
        let tasks = self.handler.tasks();
        tasks.send_streaming_message(call, request).await
    }

    /// Follows a task that exists already, or replies at once if it is at rest.
    async fn follow_task(
        &self,
        task: Task,
        digest: &CallDigest,
    ) -> Result<CallToolResponse, ErrorData> {
        if task.is_settled() {
            return self.reply_at_rest(task, digest).await;
        }
        let request = SubscribeToTaskRequest {
            id: task.id.clone(),
            ..SubscribeToTaskRequest::default()
        };
        let call = self.handler.call_by(self.context);
        match self.handler.tasks().subscribe_to_task(call, request).await {
            Ok(events) => self.follow_and_reply(task, events, digest).await,
            // It ended after it was loaded.
            Err(a2a::Error::UnsupportedOperation(_)) => {
                let task = self.handler.load(&task.id, self.context).await?;
                self.reply_at_rest(task, digest).await
            }
            Err(error) => Err(refused(&error)),
        }
    }

    async fn follow_and_reply(
        &self,
        task: Task,
        events: EventStream,
        digest: &CallDigest,
    ) -> Result<CallToolResponse, ErrorData> {
        match self.follow(task, events).await? {
            Followed::Message(message) => Ok(self.outcome().of_message(&message).into()),
            Followed::AtRest(task) => self.reply_at_rest(task, digest).await,
            Followed::StillRunning(task) => Ok(task::created(self.handler.limits(), &task).into()),
            Followed::Cancelled => Err(ErrorData::internal_error("the call was cancelled", None)),
        }
    }

    /// Replies with the result of a task that ended, or shows the question of one that waits.
    async fn reply_at_rest(
        &self,
        task: Task,
        digest: &CallDigest,
    ) -> Result<CallToolResponse, ErrorData> {
        match task.state() {
            TaskState::InputRequired => Box::pin(self.ask(task, digest)).await,
            _ => Ok(self.outcome().of_task(&task)?.into()),
        }
    }

    /// Folds events into `task` until it is at rest, and passes on its progress. Until the first event the task has no
    /// id, so neither cancellation nor the time limit is looked at: there would be nothing to cancel or to show.
    async fn follow(&self, mut task: Task, mut events: EventStream) -> Result<Followed, ErrorData> {
        let cancelled = &self.context.ct;
        let patience = match self.client.tasks {
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
                None => return Err(ErrorData::internal_error("the server is stopping", None)),
            };
            for event in portion {
                if let Payload::Message(message) = &event.response().payload {
                    return Ok(Followed::Message(message.clone()));
                }
                event.apply_to(&mut task);
                reporter.report(self.context, &event).await;
            }
            if task.is_settled() {
                return Ok(Followed::AtRest(task));
            }
        }
    }

    /// Cancels the task of a request that was cancelled.
    async fn cancel(&self, task: &Task) -> Result<Followed, ErrorData> {
        // A server that stops leaves its tasks to the next one.
        if self.handler.inner.config.stopping.is_cancelled() {
            return Err(ErrorData::internal_error("the server is stopping", None));
        }
        let request = CancelTaskRequest {
            id: task.id.clone(),
            ..CancelTaskRequest::default()
        };
        let call = self.handler.call_by(self.context);
        if let Err(error) = self.handler.tasks().cancel_task(call, request).await {
            tracing::debug!(task = task.id, %error, "cancelling the task of a cancelled call failed");
        }
        Ok(Followed::Cancelled)
    }

    /// Shows the question of a task in the way that the client supports.
    async fn ask(&self, task: Task, digest: &CallDigest) -> Result<CallToolResponse, ErrorData> {
        let Some(question) = PendingQuestion::of(&task) else {
            return Ok(self.outcome().unanswered(&task).into());
        };
        match self.client {
            ClientFeatures { tasks: true, .. } => {
                Ok(task::created(self.handler.limits(), &task).into())
            }
            ClientFeatures { forms: false, .. } => Ok(self.outcome().unanswered(&task).into()),
            ClientFeatures { modern: true, .. } => {
                let state = self.handler.inner.seal.seal(&task.id, digest);
                Ok(question.required(state).into())
            }
            _ => self.ask_in_session(task, question, digest).await,
        }
    }

    /// Revision 2025-11-25: sends the form to the client while the call waits for the answer. The first answer counts,
    /// also one that came over another protocol; the form is then withdrawn.
    async fn ask_in_session(
        &self,
        task: Task,
        question: PendingQuestion,
        digest: &CallDigest,
    ) -> Result<CallToolResponse, ErrorData> {
        let limits = self.handler.limits();
        if question.number >= limits.max_questions {
            return Ok(self.outcome().unanswered(&task).into());
        }
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(question.form()));
        let peer = &self.context.peer;
        let shown = peer.send_cancellable_request(request, PeerRequestOptions::no_options());
        let mut form = match shown.await {
            Ok(form) => form,
            Err(error) => return Ok(self.unanswered(&task, &error)),
        };
        let answer = tokio::select! {
            biased;
            answer = &mut form.rx => answer.unwrap_or(Err(ServiceError::TransportClosed)),
            task = self.wait_for_change(&task) => {
                withdraw(form).await;
                return self.follow_task(task?, digest).await;
            }
            () = self.context.ct.cancelled() => {
                withdraw(form).await;
                self.cancel(&task).await?;
                return Err(ErrorData::internal_error("the call was cancelled", None));
            }
            () = tokio::time::sleep(limits.answer_time) => {
                withdraw(form).await;
                let timeout = limits.answer_time;
                Err(ServiceError::Timeout { timeout })
            }
        };
        match answer {
            Ok(ClientResult::ElicitResult(answer)) => match question.response(&task, answer) {
                FormResponse::Answer(answer) => self.answer(task, answer, digest).await,
                FormResponse::Dismissed => Ok(self.outcome().unanswered(&task).into()),
            },
            Ok(_) => Ok(self.unanswered(&task, &ServiceError::UnexpectedResponse)),
            Err(error) => Ok(self.unanswered(&task, &error)),
        }
    }

    fn unanswered(&self, task: &Task, error: &ServiceError) -> CallToolResponse {
        tracing::debug!(task = task.id, %error, "question of a call not answered by the client");
        self.outcome().unanswered(task).into()
    }

    /// Returns the task once it changed: its question was answered, or it was cancelled, over another protocol.
    async fn wait_for_change(&self, task: &Task) -> Result<Task, ErrorData> {
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

    fn outcome(&self) -> outcome::ResultWriter<'_> {
        outcome::ResultWriter {
            authority: &self.handler.inner.config.authority,
            modern: self.client.modern,
        }
    }
}

/// Withdraws a form after its question was answered elsewhere or timed out.
async fn withdraw(form: RequestHandle<RoleServer>) {
    let why = Some("the question was answered or withdrawn".to_owned());
    if let Err(error) = form.cancel(why).await {
        tracing::debug!(%error, "withdrawing a form failed");
    }
}

/// Sends the progress of a skill to the client. MCP requires that the number grows, so values that do not are dropped.
#[derive(Default)]
struct ProgressReporter {
    last: Option<f64>,
}

impl ProgressReporter {
    /// Does nothing for clients that sent no progress token.
    async fn report(&mut self, context: &RequestContext<RoleServer>, event: &Arc<Event>) {
        let Some(token) = context.meta.get_progress_token() else {
            return;
        };
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
        let mut param = ProgressNotificationParam::new(token, progress.progress);
        param.total = progress.total;
        param.message = Some(message.text()).filter(|text| !text.is_empty());
        if let Err(error) = context.peer.notify_progress(param).await {
            tracing::debug!(%error, "sending a progress notification failed");
        }
    }
}

fn error_result(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}
