//! Us, as a server of tools sees us. When it asks something, the skill that calls it asks on; when it says how far it
//! is, that skill says so.

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

use super::clean::{TEXT, clean};

/// How much of what one call says waits to be passed on. More than that is left out.
const WAITING: usize = 16;

/// Us. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Host {
    calls: Arc<Mutex<Vec<Call>>>,
}

/// A call that a server works on.
#[derive(Clone)]
struct Call {
    request: RequestId,
    token: ProgressToken,
    progress: mpsc::Sender<ProgressNotificationParam>,
    asker: Asker,
    /// Ends with the call.
    ended: CancellationToken,
}

/// While it lives, a call is one that the server may say something about.
pub(super) struct Listening {
    host: Host,
    request: RequestId,
    /// How far it is, in the order in which the server said so.
    pub(super) progress: mpsc::Receiver<ProgressNotificationParam>,
    _ended: DropGuard,
}

impl Host {
    /// From now on the server may say something about a request.
    pub(super) fn listen(
        &self,
        request: RequestId,
        token: ProgressToken,
        asker: Asker,
    ) -> Listening {
        let (sender, progress) = mpsc::channel(WAITING);
        let ended = CancellationToken::new();
        self.lock().push(Call {
            request: request.clone(),
            token,
            progress: sender,
            asker,
            ended: ended.clone(),
        });
        Listening {
            host: self.clone(),
            request,
            progress,
            _ended: ended.drop_guard(),
        }
    }

    /// The call that a request of the server's is about: the one in whose stream it came, or else the only one there
    /// is. Of several nobody can tell which one asks.
    fn about(&self, origin: Option<&InboundStreamOrigin>) -> Option<Call> {
        let calls = self.lock();
        if let Some(InboundStreamOrigin::OutboundRequest(id)) = origin {
            return calls.iter().find(|call| call.request == *id).cloned();
        }
        match &calls[..] {
            [only] => Some(only.clone()),
            _ => None,
        }
    }

    fn is_at(&self, progress: ProgressNotificationParam) {
        let calls = self.lock();
        let call = calls
            .iter()
            .find(|call| call.token == progress.progress_token);
        if let Some(call) = call {
            // Who does not listen fast enough hears less.
            let _ = call.progress.try_send(progress);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Listening {
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
        // The newest version that begins with an introduction.
        info.protocol_version = ProtocolVersion::V_2025_11_25;
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let Some(call) = self.about(context.extensions.get()) else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let ended = call.ended.clone();
        tokio::select! {
            answer = call.asker.ask(request) => Ok(answer),
            () = ended.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }
}

/// Asks whoever called the skill, so many times.
#[derive(Clone)]
pub(super) struct Asker {
    ctx: Context,
    left: Arc<AtomicUsize>,
}

impl Asker {
    pub(super) fn new(ctx: &Context, max_questions: usize) -> Self {
        Self {
            ctx: ctx.clone(),
            left: Arc::new(AtomicUsize::new(max_questions)),
        }
    }

    /// Asks what a server asks. What whoever answers leaves out is as the server suggests.
    pub(super) async fn ask(&self, request: ElicitRequestParams) -> ElicitResult {
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = request
        else {
            return ElicitResult::new(ElicitationAction::Decline);
        };
        let one_less = |left: usize| left.checked_sub(1);
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        if left.is_err() {
            return ElicitResult::new(ElicitationAction::Cancel);
        }
        let mut schema = serde_json::to_value(requested_schema).unwrap_or_default();
        let suggested = suggested(&mut schema);
        match self.ctx.ask_for(schema, clean(&message, TEXT)).await {
            Ok(Value::Object(mut answer)) => {
                for (field, value) in suggested {
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

/// What a form suggests for its fields. Fields for which something is suggested need not be filled.
fn suggested(schema: &mut Value) -> Map<String, Value> {
    let mut suggested = Map::new();
    let fields = schema.get("properties").and_then(Value::as_object);
    for (name, field) in fields.into_iter().flatten() {
        if let Some(value) = field.get("default") {
            suggested.insert(name.clone(), value.clone());
        }
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| {
            name.as_str()
                .is_none_or(|name| !suggested.contains_key(name))
        });
    }
    suggested
}

/// A transport that tells us how far calls are as soon as it is said, and so before it is said that they ended.
pub(super) struct Watched<T> {
    pub(super) transport: T,
    pub(super) host: Host,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Watched<T> {
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
                self.host.is_at(progress.params.clone());
                continue;
            }
            return Some(message);
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.transport.close().await
    }
}
