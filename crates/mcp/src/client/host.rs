//! The client side that a tool server sees. A question of the server becomes a question of the skill that called it; its
//! progress becomes progress of that skill.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, FormElicitationCapability, Implementation, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerNotification,
};
use rmcp::service::{InboundStreamOrigin, RequestContext, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Map, Value};
use skill::{Context, SkillError};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::clean::{NAME, TEXT, clean, line};

/// How many progress notifications of one call may be queued; more are dropped.
const WAITING: usize = 16;

/// Answers the requests of one tool server, and knows which calls are open on its connection. Clones share one state.
///
/// MCP does not say which call a question of the server belongs to. Over HTTP it is the call with the response stream in
/// which the question arrived; otherwise it can be told only while a single call is open. A question that cannot be assigned is
/// declined: showing it to the wrong caller could reveal one caller's data to another.
#[derive(Clone, Default)]
pub(super) struct Host {
    calls: Arc<Mutex<Vec<OpenCall>>>,
}

#[derive(Clone)]
struct OpenCall {
    request: RequestId,
    token: ProgressToken,
    progress: mpsc::Sender<ProgressNotificationParam>,
    relay: QuestionRelay,
    /// Cancelled when the call ends.
    ended: CancellationToken,
}

/// Receives the progress of one call. While it lives, questions of the server can be assigned to that call.
pub(super) struct CallListener {
    host: Host,
    request: RequestId,
    /// Progress in the order in which it arrived.
    pub(super) progress: mpsc::Receiver<ProgressNotificationParam>,
    _ended: DropGuard,
}

impl Host {
    /// Registers an open call.
    pub(super) fn listen(
        &self,
        request: RequestId,
        token: ProgressToken,
        relay: QuestionRelay,
    ) -> CallListener {
        let (sender, progress) = mpsc::channel(WAITING);
        let ended = CancellationToken::new();
        self.lock().push(OpenCall {
            request: request.clone(),
            token,
            progress: sender,
            relay,
            ended: ended.clone(),
        });
        CallListener {
            host: self.clone(),
            request,
            progress,
            _ended: ended.drop_guard(),
        }
    }

    /// The call that a request of the server belongs to, if that can be told.
    fn call_of(&self, origin: Option<&InboundStreamOrigin>) -> Option<OpenCall> {
        let calls = self.lock();
        if let Some(InboundStreamOrigin::OutboundRequest(id)) = origin {
            return calls.iter().find(|call| call.request == *id).cloned();
        }
        match &calls[..] {
            [only] => Some(only.clone()),
            _ => None,
        }
    }

    fn pass_progress(&self, progress: ProgressNotificationParam) {
        let calls = self.lock();
        let call = calls
            .iter()
            .find(|call| call.token == progress.progress_token);
        if let Some(call) = call {
            // Dropped if the skill reads more slowly than the server writes.
            let _ = call.progress.try_send(progress);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<OpenCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CallListener {
    fn drop(&mut self) {
        self.host.lock().retain(|call| call.request != self.request);
    }
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        let forms = ElicitationCapability::new().with_form(FormElicitationCapability::default());
        capabilities.elicitation = Some(forms);
        let us = Implementation::new("monas", env!("CARGO_PKG_VERSION"));
        let mut info = ClientConfig::new(capabilities, us);
        // The newest revision with an `initialize` handshake; 2026-07-28 has none.
        info.protocol_version = ProtocolVersion::V_2025_11_25;
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(call) = self.call_of(context.extensions.get()) else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let ended = call.ended.clone();
        tokio::select! {
            answer = call.relay.ask(request) => Ok(answer),
            () = ended.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }
}

/// Passes questions of a server to the caller of the skill, up to a number of questions.
#[derive(Clone)]
pub(super) struct QuestionRelay {
    ctx: Context,
    server: String,
    left: Arc<AtomicUsize>,
}

impl QuestionRelay {
    pub(super) fn new(ctx: &Context, server: &str, max_questions: usize) -> Self {
        Self {
            ctx: ctx.clone(),
            server: line(server, NAME),
            left: Arc::new(AtomicUsize::new(max_questions)),
        }
    }

    /// Asks one question. Fields that the answer leaves out get the defaults of the form.
    pub(super) async fn ask(&self, request: ElicitRequestParams) -> ElicitResult {
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = request
        else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        // A question is shown whole or not at all.
        if message.len() > TEXT {
            return ElicitResult::new(ElicitationAction::Decline);
        }
        let one_less = |left: usize| left.checked_sub(1);
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        if left.is_err() {
            return ElicitResult::new(ElicitationAction::Cancel);
        }
        let mut schema = serde_json::to_value(requested_schema).unwrap_or_default();
        let defaults = take_defaults(&mut schema);
        let message = clean(&message, TEXT);
        let asked = self.ctx.ask_for_server(&self.server, schema, &message);
        match asked.await {
            Ok(Value::Object(mut answer)) => {
                for (field, value) in defaults {
                    answer.entry(field).or_insert(value);
                }
                let accepted = ElicitResult::new(ElicitationAction::Accept);
                accepted.with_content(Value::Object(answer))
            }
            Ok(_) | Err(SkillError::Declined) => ElicitResult::new(ElicitationAction::Decline),
            Err(_) => ElicitResult::new(ElicitationAction::Cancel),
        }
    }
}

/// The defaults of a form. Fields with a default are removed from the required ones.
fn take_defaults(schema: &mut Value) -> Map<String, Value> {
    let mut defaults = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object);
    for (name, field) in fields.into_iter().flatten() {
        if let Some(value) = field.get("default") {
            defaults.insert(name.clone(), value.clone());
        }
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| {
            name.as_str()
                .is_none_or(|name| !defaults.contains_key(name))
        });
    }
    defaults
}

/// A transport that takes progress notifications out of the stream of messages and passes them on at once. The library
/// would handle each in a task of its own, possibly after the result of the call.
pub(super) struct ProgressTransport<T> {
    pub(super) transport: T,
    pub(super) host: Host,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for ProgressTransport<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.transport.receive().await?;
            if let ServerJsonRpcMessage::Notification(note) = &message
                && let ServerNotification::ProgressNotification(progress) = &note.notification
            {
                self.host.pass_progress(progress.params.clone());
                continue;
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}
