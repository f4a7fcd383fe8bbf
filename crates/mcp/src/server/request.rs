//! One request while it is handled, and its answer.

use std::fmt;
use std::sync::Arc;

use access::{Calls, Origin, Principal};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::outlet::Outlet;
use super::revision::ClientInfo;
use super::rpc::{self, Id, Params, RpcError};

/// Answers the requests of MCP: [`Handler`](crate::Handler), or what offers more around it.
///
/// The transports have judged a request before it comes here: its envelope, its session or its metadata, its caller. They
/// answer `initialize`, `server/discover` and `ping` themselves, from [`identity`](Self::identity).
pub trait Responder: Send + Sync + 'static {
    /// How the server introduces itself.
    fn identity(&self) -> Identity;

    /// The schema of a tool's input: a property of it may say that its argument is also a header (`x-mcp-header`).
    fn input_schema(&self, tool: &str) -> Option<&Value>;

    /// Where the requests are announced. What wraps a responder passes this on, or its requests are neither limited nor
    /// recorded.
    fn calls(&self) -> Calls {
        Calls::default()
    }

    /// Answers one request. The future is driven to its end also when the client disconnects; then the request's token is
    /// cancelled, unless its session lives on.
    fn answer(&self, request: Request) -> Answering;
}

/// An answer under way.
pub type Answering = BoxFuture<'static, Result<RequestResult, RpcError>>;

/// How a server introduces itself: the same in `initialize` and in `server/discover`.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Identity {
    /// Name, title and version, as the protocol's `Implementation`.
    pub server: Value,
    pub capabilities: Value,
    pub instructions: String,
}

/// The result of a request: an object of JSON, written.
#[derive(Clone, Debug)]
pub struct RequestResult {
    json: Bytes,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Complete,
    InputRequired,
    Task,
}

impl RequestResult {
    /// The result that the request asked for.
    pub fn complete(result: &impl Serialize) -> Result<Self, RpcError> {
        Self::written(result, Kind::Complete)
    }

    /// Asks the client to send the request again with what is missing (revision 2026-07-28).
    pub fn input_required(result: &impl Serialize) -> Result<Self, RpcError> {
        Self::written(result, Kind::InputRequired)
    }

    /// The task that the request became.
    pub fn task(result: &impl Serialize) -> Result<Self, RpcError> {
        Self::written(result, Kind::Task)
    }

    /// A result without members.
    pub fn empty() -> Self {
        Self {
            json: Bytes::from_static(b"{}"),
            kind: Kind::Complete,
        }
    }

    fn written(result: &impl Serialize, kind: Kind) -> Result<Self, RpcError> {
        let mut json = Vec::with_capacity(512);
        serde_json::to_writer(&mut json, result)
            .map_err(|error| RpcError::internal(format!("writing a result failed: {error}")))?;
        Ok(Self {
            json: json.into(),
            kind,
        })
    }

    /// The result to read, without what the revision adds.
    pub fn value(&self) -> Value {
        serde_json::from_slice(&self.json).unwrap_or_default()
    }

    /// Whether it is a task instead of the result.
    pub fn is_task(&self) -> bool {
        self.kind == Kind::Task
    }

    /// The response for a client. Revision 2026-07-28 says in each which kind of result it is.
    pub(crate) fn response(&self, id: &Id, client: &ClientInfo) -> Bytes {
        let kind = match self.kind {
            Kind::Complete if !client.is_modern() => "",
            Kind::Complete => r#""resultType":"complete""#,
            Kind::InputRequired => r#""resultType":"input_required""#,
            Kind::Task => r#""resultType":"task""#,
        };
        rpc::response(id, &self.json, kind)
    }
}

/// A request, with its client, its caller and the way back.
pub struct Request {
    pub id: Id,
    pub method: String,
    /// Without `_meta`. `None`: something else than an object was sent.
    pub(crate) params: Params,
    pub meta: Map<String, Value>,
    pub client: ClientInfo,
    /// The principal that the transport admitted. `None`: the configured one.
    pub caller: Option<Principal>,
    /// Where it comes from, for the record of calls.
    pub origin: Origin,
    /// Cancelled when the client cancels the request, or disconnects where that means the same.
    pub cancelled: CancellationToken,
    pub(crate) outlet: Outlet,
}

impl Request {
    /// A request without a caller, from its parts.
    pub(crate) fn new(
        id: Id,
        method: String,
        params: Params,
        client: ClientInfo,
        outlet: Outlet,
    ) -> Self {
        let (params, meta) = without_meta(params);
        Self {
            id,
            method,
            params,
            meta,
            client,
            caller: None,
            origin: Origin::default(),
            cancelled: CancellationToken::new(),
            outlet,
        }
    }

    /// Reads the parameters, or says which of them is wrong.
    pub fn params<T: DeserializeOwned>(&mut self) -> Result<T, RpcError> {
        let wrong = |why: &dyn fmt::Display| {
            RpcError::invalid_params(format!("params of {}: {why}", self.method))
        };
        let Some(params) = self.params.take() else {
            return Err(wrong(&"must be an object"));
        };
        serde_json::from_value(Value::Object(params)).map_err(|error| wrong(&error))
    }

    /// Puts other parameters in place.
    pub fn set_params(&mut self, params: Value) {
        self.params = match params {
            Value::Object(params) => Some(params),
            _ => None,
        };
    }

    /// Sends a notification that belongs to this request.
    pub async fn notify(&self, method: &str, params: &impl Serialize) {
        self.outlet.send(rpc::outgoing(None, method, params)).await;
    }

    /// Sends a request to the client and waits for its result. Dropping the future withdraws the request. Only sessions
    /// have requests of the server; elsewhere it fails at once.
    pub async fn ask(&self, method: &str, params: &impl Serialize) -> Result<Value, RpcError> {
        self.outlet.ask(method, params).await
    }

    /// The token under which the client wants to hear of progress.
    pub fn progress_token(&self) -> Option<&Value> {
        let token = self.meta.get("progressToken")?;
        (token.is_string() || token.is_number()).then_some(token)
    }

    /// Sends the progress of the request to a client that asked for it.
    pub async fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        let Some(token) = self.progress_token() else {
            return;
        };
        let mut params = json!({ "progressToken": token, "progress": progress });
        if let Some(total) = total {
            params["total"] = total.into();
        }
        if let Some(message) = message {
            params["message"] = message.into();
        }
        self.notify("notifications/progress", &params).await;
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("id", &self.id)
            .field("method", &self.method)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

/// Takes `_meta` out of parameters. One that is no object counts as empty: what it must have is then missing.
pub(crate) fn without_meta(mut params: Params) -> (Params, Map<String, Value>) {
    let meta = params.as_mut().and_then(|params| params.remove("_meta"));
    match meta {
        Some(Value::Object(meta)) => (params, meta),
        _ => (params, Map::new()),
    }
}

/// The answers that the transports give themselves. `None` for every other method.
pub(crate) fn introduce(
    responder: &dyn Responder,
    method: &str,
    client: &ClientInfo,
) -> Option<Result<RequestResult, RpcError>> {
    let Identity {
        server,
        capabilities,
        instructions,
    } = match method {
        "server/discover" => responder.identity(),
        // The revisions with sessions have these, the later ones do not.
        "initialize" if !client.is_modern() => responder.identity(),
        "ping" if !client.is_modern() => return Some(Ok(RequestResult::empty())),
        _ => return None,
    };
    let mut result = match method {
        "initialize" => json!({
            "protocolVersion": client.revision.as_str(),
            "serverInfo": server,
        }),
        _ => json!({
            "supportedVersions": super::revision::Revision::ALL.map(super::revision::Revision::as_str),
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": { "io.modelcontextprotocol/serverInfo": server },
        }),
    };
    result["capabilities"] = capabilities;
    if !instructions.is_empty() {
        result["instructions"] = instructions.into();
    }
    Some(RequestResult::complete(&result))
}

/// A responder that is shared by the transports.
pub(crate) type Shared = Arc<dyn Responder>;
