//! One call of a tool: its request, the questions of the server, its progress, its cancellation.

use std::sync::Arc;

use dial::trace::{self, Kind, Span};
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, InputRequest,
    InputRequiredResult, InputResponses, RequestParamsMeta as _, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Map, Value};
use skill::{Context, SkillError};

use super::clean::{COMPLAINT, NAME, cause, line};
use super::host::{CallListener, QuestionRelay};
use super::peer::{ConnectError, Connection, Peer};

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;

/// The reason in the notification that cancels a request.
const CANCELLED: &str = "the call was cancelled";

impl Peer {
    /// Calls a tool by the server's name for it. Has no time limit of its own: the skill has one. A lost connection is
    /// made again before the request is sent; a request that may have reached the server is not repeated.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        ctx: &Context,
    ) -> Result<CallToolResult, SkillError> {
        // Checked again here, although only allowed tools become skills: the allow list is the agreement.
        if !self.allows(tool) {
            return Err(SkillError::Refused(format!(
                "tool {tool:?} is not on the allow list"
            )));
        }
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let mut span = Span::start(Kind::Client, "tools/call");
        if span.is_recorded() {
            span.set("rpc.system", "mcp");
            span.set("server.address", self.name().to_owned());
            span.set("mcp.tool", tool.to_owned());
        }
        // A worker sends the request, so that its header could not bear the trace of this call.
        if let Some(trace) = span.scope().map(|it| it.context).or_else(trace::current) {
            params.set_traceparent(&trace.to_string());
        }
        let relay = QuestionRelay::new(ctx, self.name(), self.limits.max_questions);
        for _ in 0..=self.limits.max_questions {
            let result = tokio::select! {
                result = self.ask(params.clone(), &relay, ctx) => result?,
                () = ctx.cancelled().cancelled_owned() => return Err(SkillError::Cancelled),
            };
            match result {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(required) => {
                    params.request_state.clone_from(&required.request_state);
                    params.input_responses = self.answer(required, &relay, ctx).await?;
                }
                _ => return Err(self.failed("unexpected kind of result")),
            }
        }
        Err(self.failed(&format!(
            "asked for input more than {} times in one call",
            self.limits.max_questions
        )))
    }

    /// Sends one request and waits for its result. A connection that was closed before the request could be sent is made
    /// again, once.
    async fn ask(
        &self,
        params: CallToolRequestParams,
        relay: &QuestionRelay,
        ctx: &Context,
    ) -> Result<ServerResult, SkillError> {
        let mut connection = self
            .connect()
            .await
            .map_err(|error| self.unreachable(&error))?;
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let mut sent = send(&connection, request.clone()).await;
        if matches!(sent, Err(ServiceError::TransportClosed)) {
            // Closed before anything was sent, so repeating the request is safe.
            self.forget(&connection).await;
            connection = self
                .connect()
                .await
                .map_err(|error| self.unreachable(&error))?;
            sent = send(&connection, request).await;
        }
        let answered = match sent {
            Ok(handle) => {
                let host = connection.service.service();
                let listener = host.listen(
                    handle.id.clone(),
                    handle.progress_token.clone(),
                    relay.clone(),
                );
                let request = OpenRequest {
                    handle: Some(handle),
                    connection: connection.clone(),
                };
                wait(request, listener, self.limits.max_progress, ctx).await
            }
            Err(error) => Err(error),
        };
        match answered {
            Ok(result) => Ok(result),
            Err(ServiceError::McpError(error)) => Err(self.failed(&error.message)),
            Err(error) => {
                self.forget(&connection).await;
                Err(self.failed(&cause(&error.to_string())))
            }
        }
    }

    /// Answers the questions of an `InputRequiredResult`. One without questions asks us to repeat the request later.
    async fn answer(
        &self,
        required: InputRequiredResult,
        relay: &QuestionRelay,
        ctx: &Context,
    ) -> Result<Option<InputResponses>, SkillError> {
        let Some(questions) = required.input_requests else {
            tokio::select! {
                () = tokio::time::sleep(self.limits.pause) => return Ok(None),
                () = ctx.cancelled().cancelled_owned() => return Err(SkillError::Cancelled),
            }
        };
        let mut answers = InputResponses::new();
        for (name, question) in questions {
            let InputRequest::Elicitation(question) = question else {
                return Err(self.failed("it asked for input of a kind that was not offered"));
            };
            let answer = tokio::select! {
                answer = relay.ask(question.params) => answer,
                () = ctx.cancelled().cancelled_owned() => return Err(SkillError::Cancelled),
            };
            answers.insert(name, serde_json::to_value(answer).unwrap_or_default());
        }
        Ok(Some(answers))
    }

    fn unreachable(&self, error: &ConnectError) -> SkillError {
        let why = format!(
            "tool server {:?} at {} unreachable: {error}; start it or correct its entry",
            self.name(),
            self.place()
        );
        SkillError::coded("unreachable", why)
    }

    fn failed(&self, why: &str) -> SkillError {
        let server = line(self.name(), NAME);
        let why = line(why, COMPLAINT);
        SkillError::coded(
            "tool-server",
            format!("tool server {server:?} failed: {why}"),
        )
    }
}

async fn send(
    connection: &Connection,
    request: ClientRequest,
) -> Result<RequestHandle<RoleClient>, ServiceError> {
    let options = PeerRequestOptions::no_options();
    connection
        .service
        .send_cancellable_request(request, options)
        .await
}

/// Waits for the result of a request, and passes its progress to the skill.
async fn wait(
    mut request: OpenRequest,
    mut listener: CallListener,
    max_progress: usize,
    ctx: &Context,
) -> Result<ServerResult, ServiceError> {
    let mut left = max_progress;
    let mut furthest = f64::NEG_INFINITY;
    loop {
        // Biased: progress that arrived before the result is passed on before it.
        let update = tokio::select! {
            biased;
            Some(update) = listener.progress.recv() => update,
            ended = request.ended() => return ended,
        };
        if left == 0 || update.progress.partial_cmp(&furthest) != Some(std::cmp::Ordering::Greater)
        {
            continue;
        }
        left -= 1;
        furthest = update.progress;
        let text = line(update.message.as_deref().unwrap_or_default(), COMPLAINT);
        // Fails when the task ended; then the call is cancelled too, and ends by itself.
        let _ = ctx.progress(update.progress, update.total, text).await;
    }
}

/// A request that was sent. Dropping it before its end cancels it at the server.
struct OpenRequest {
    handle: Option<RequestHandle<RoleClient>>,
    connection: Arc<Connection>,
}

impl OpenRequest {
    async fn ended(&mut self) -> Result<ServerResult, ServiceError> {
        let Some(handle) = &mut self.handle else {
            return Err(ServiceError::TransportClosed);
        };
        let ended = (&mut handle.rx).await;
        self.handle = None;
        ended.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            // Sending the notification may have to wait, which `drop` cannot; the connection owns the task that does.
            let sending = handle.cancel(Some(CANCELLED.to_owned()));
            self.connection.spawn(async move {
                if let Err(error) = sending.await {
                    tracing::debug!(%error, "cancelling a request at a tool server failed");
                }
            });
        }
    }
}
