//! One call of a tool, from the first request to the last answer.

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, InputRequest,
    InputRequiredResult, InputResponses, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Map, Value};
use skill::{Context, SkillError};

use super::clean::{COMPLAINT, NAME, line};
use super::host::{Asker, Listening};
use super::peer::{ConnectError, Connection, Peer};

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;

/// What the peer is told about a request that nobody waits for any more.
const UNWANTED: &str = "nobody waits for it any more";

impl Peer {
    /// Calls a tool by the name it has there, for as long as the skill may take. A connection that is gone is made
    /// again; a call that may have arrived is not repeated.
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        ctx: &Context,
    ) -> Result<CallToolResult, SkillError> {
        // The list is what was agreed on, whatever became a skill.
        if !self.allows(tool) {
            return Err(SkillError::Refused(format!(
                "the tool {tool:?} is not allowed"
            )));
        }
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let asker = Asker::new(ctx, self.limits.max_questions);
        for _ in 0..=self.limits.max_questions {
            let result = tokio::select! {
                result = self.ask(params.clone(), &asker, ctx) => result?,
                () = ctx.cancelled().cancelled_owned() => return Err(SkillError::Cancelled),
            };
            match result {
                ServerResult::CallToolResult(result) => return Ok(result),
                ServerResult::InputRequiredResult(required) => {
                    params.request_state.clone_from(&required.request_state);
                    params.input_responses = self.answer(required, &asker, ctx).await?;
                }
                _ => return Err(self.failed("it answers something else than a tool gives")),
            }
        }
        Err(self.failed("it asks and asks"))
    }

    /// One request, with what is said meanwhile.
    async fn ask(
        &self,
        params: CallToolRequestParams,
        asker: &Asker,
        ctx: &Context,
    ) -> Result<ServerResult, SkillError> {
        let mut connection = self
            .connect()
            .await
            .map_err(|error| self.unreachable(&error))?;
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let mut sent = send(&connection, request.clone()).await;
        if matches!(sent, Err(ServiceError::TransportClosed)) {
            // It was gone already, so nothing was sent.
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
                let listening = host.listen(
                    handle.id.clone(),
                    handle.progress_token.clone(),
                    asker.clone(),
                );
                wait(
                    InFlight(Some(handle)),
                    listening,
                    self.limits.max_progress,
                    ctx,
                )
                .await
            }
            Err(error) => Err(error),
        };
        match answered {
            Ok(result) => Ok(result),
            Err(ServiceError::McpError(error)) => Err(self.failed(&error.message)),
            Err(error) => {
                self.forget(&connection).await;
                Err(self.failed(&error.to_string()))
            }
        }
    }

    /// Answers what a server asks before it goes on. Without a question it wants to be asked again, after a while.
    async fn answer(
        &self,
        required: InputRequiredResult,
        asker: &Asker,
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
                return Err(self.failed("it asks for something that it was not offered"));
            };
            let answer = tokio::select! {
                answer = asker.ask(question.params) => answer,
                () = ctx.cancelled().cancelled_owned() => return Err(SkillError::Cancelled),
            };
            answers.insert(name, serde_json::to_value(answer).unwrap_or_default());
        }
        Ok(Some(answers))
    }

    fn unreachable(&self, error: &ConnectError) -> SkillError {
        let why = format!("the server {:?} cannot be reached: {error}", self.name());
        SkillError::coded("unreachable", why)
    }

    fn failed(&self, why: &str) -> SkillError {
        let server = line(self.name(), NAME);
        let why = line(why, COMPLAINT);
        SkillError::coded(
            "tool-server",
            format!("the server {server:?} failed: {why}"),
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

/// Waits for the end of a request, and passes on how far it is.
async fn wait(
    mut request: InFlight,
    mut listening: Listening,
    max_progress: usize,
    ctx: &Context,
) -> Result<ServerResult, ServiceError> {
    let mut left = max_progress;
    let mut furthest = f64::NEG_INFINITY;
    loop {
        // What was said before the end is passed on before the end.
        let said = tokio::select! {
            biased;
            Some(said) = listening.progress.recv() => said,
            ended = request.ended() => return ended,
        };
        if left == 0 || said.progress.partial_cmp(&furthest) != Some(std::cmp::Ordering::Greater) {
            continue;
        }
        left -= 1;
        furthest = said.progress;
        let text = line(said.message.as_deref().unwrap_or_default(), COMPLAINT);
        // A task that is over hears nothing, and the call ends by itself.
        let _ = ctx.progress(said.progress, said.total, text).await;
    }
}

/// A request that was sent. To drop it before its end is to take it back.
struct InFlight(Option<RequestHandle<RoleClient>>);

impl InFlight {
    async fn ended(&mut self) -> Result<ServerResult, ServiceError> {
        let Some(request) = &mut self.0 else {
            return Err(ServiceError::TransportClosed);
        };
        let ended = (&mut request.rx).await;
        self.0 = None;
        ended.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        let runtime = tokio::runtime::Handle::try_current();
        if let (Some(request), Ok(runtime)) = (self.0.take(), runtime) {
            // It ends when the peer has it, or with the connection.
            runtime.spawn(request.cancel(Some(UNWANTED.to_owned())));
        }
    }
}
