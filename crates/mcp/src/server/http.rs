//! Serves both revisions of MCP over HTTP at one address, and decides which requests reach the library.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ::http::header::{CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE};
use ::http::request::Parts;
use ::http::{HeaderMap, HeaderValue, Method, StatusCode};
use a2a::binding::{beside, poll_beside, weight};
use access::{Door, Presented};
use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use rmcp::ServerHandler;
use rmcp::model::{ErrorCode, ProtocolVersion};
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::owner::{self, Owners};
use super::reply::{prefers_streams, single_message_as_json};
use super::session::Sessions;
use crate::limits::{Limits, MAX_REFUSAL};

const SESSION: &str = "mcp-session-id";

/// The path of the MCP endpoint.
pub const PATH: &str = "/mcp";

/// How a handler is served over HTTP.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// Host names that requests may use, besides those of loopback. Requests with another `Host` are refused.
    pub hosts: Vec<String>,
    /// Origins of web pages that may call it, with their ports. Requests without an `Origin` header are not restricted.
    pub origins: Vec<String>,
    /// Authenticates callers. The default admits all of them as anonymous.
    pub door: Arc<Door>,
    pub limits: Limits,
    /// Cancelled when the server stops: ends all requests and streams.
    pub stopping: CancellationToken,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            origins: Vec::new(),
            door: Arc::new(Door::open()),
            limits: Limits::default(),
            stopping: CancellationToken::new(),
        }
    }
}

/// A handler behind HTTP. Clones share one state.
///
/// A request passes, in this order: authentication by the door, the check that its session belongs to the caller, the limits
/// on new sessions, the limit on the size of its body, then the library, then the handler. The order matters: nothing is
/// read of a body, and nothing is told about sessions, before the caller is known.
///
/// Sessions exist in revision 2025-11-25 only. One begins with a successful `initialize` and ends when the client deletes
/// it, after [`Limits::session_idle`] without a message, or with [`stop`](Self::stop). It belongs to the principal that
/// opened it; for other callers it does not exist (404). The library keeps a worker task for each, and the streams that a
/// client may resume; `Owners` knows the owner of each, and ends the one that was not used for the longest time of a caller that opens
/// too many; `Sessions` adds which requests are open. Tasks do not belong to a session: when it ends, the
/// calls that still wait in it are cancelled, and calls that were answered with a task run on.
#[derive(Clone, Debug)]
pub struct Http {
    router: Router,
    sessions: Arc<Sessions>,
    stopping: CancellationToken,
}

impl Http {
    /// Serves a handler: a [`Handler`](crate::Handler), or one that wraps it and offers more than skills.
    pub fn new<H: ServerHandler + Clone>(handler: H, config: HttpConfig) -> Self {
        let HttpConfig {
            hosts,
            origins,
            door,
            limits,
            stopping,
        } = config;
        let sessions = Arc::new(Sessions::new(&limits));
        let mut served = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_cancellation_token(stopping.clone())
            .with_allowed_origins(origins)
            .enforce_origin_validation()
            .with_max_request_body_bytes(limits.max_body);
        served.allowed_hosts.extend(hosts);
        let service =
            StreamableHttpService::new(move || Ok(handler.clone()), sessions.clone(), served);
        let admission = Admission {
            door,
            sessions: sessions.clone(),
            owners: Arc::default(),
            max_sessions: limits.max_sessions,
            max_sessions_each: limits.max_sessions_each,
            max_body: limits.max_body,
            hold: limits.hold,
        };
        let router = Router::new()
            .route_service(PATH, service)
            .layer(middleware::from_fn_with_state(admission, admit))
            .layer(middleware::map_response(as_json_rpc_error));
        Self {
            router,
            sessions,
            stopping,
        }
    }

    /// A router with the one route [`PATH`].
    pub fn routes(&self) -> Router {
        self.router.clone()
    }

    /// Ends all requests and closes all sessions.
    pub async fn stop(&self) {
        self.stopping.cancel();
        for id in self.sessions.open().await {
            if let Err(error) = self.sessions.close_session(&id).await {
                tracing::debug!(%error, "closing an MCP session failed");
            }
        }
    }
}

/// What is needed to decide whether a request is admitted.
#[derive(Clone, Debug)]
struct Admission {
    door: Arc<Door>,
    sessions: Arc<Sessions>,
    owners: Arc<Owners>,
    max_sessions: usize,
    max_sessions_each: usize,
    max_body: usize,
    hold: Duration,
}

/// Authenticates the caller and puts its principal into the request's extensions, where the handler finds it. Refuses a
/// request in the session of another caller, and one that would open a session above the limit.
async fn admit(State(admission): State<Admission>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let caller = match admission
        .door
        .admit(&Presented::by(&head), SystemTime::now())
    {
        Ok(caller) => caller,
        Err(error) => return unauthenticated(&a2a::Error::from(error)),
    };
    let session = head.headers.get(SESSION);
    let session = session.and_then(|id| id.to_str().ok()).unwrap_or_default();
    if !admission.owners.uses(session, &caller) {
        return refusal(StatusCode::NOT_FOUND, "unknown session");
    }
    let opens = opens(&head.method, &head.headers);
    let share = owner::share(&caller, &head.extensions);
    if opens {
        let (each, most) = (admission.max_sessions_each, admission.max_sessions);
        let (owners, sessions) = (&admission.owners, &admission.sessions);
        if let Err(full) = owners.make_room(sessions, &share, each, most).await {
            let full = format!(
                "{} sessions with requests under way are open, which is the limit (of this caller {each}, of the server \
                 {most}); retry later, or use revision 2026-07-28",
                full.sessions
            );
            return refusal(StatusCode::SERVICE_UNAVAILABLE, &full);
        }
    }
    head.extensions.insert(caller.clone());
    let response = forward(&admission, head, body, next).await;
    if opens && let Some(id) = response.headers().get(SESSION) {
        let id = id.to_str().unwrap_or_default().to_owned();
        admission.owners.add(id, &caller, share);
    }
    response
}

/// Passes a request to the library. The body is kept, because the library answers one that is not a message with 415, and
/// the client should learn what is wrong with it.
async fn forward(admission: &Admission, head: Parts, body: Body, next: Next) -> Response {
    if !is_json(&head.headers) {
        return next.run(Request::from_parts(head, body)).await;
    }
    let too_large = || {
        let most = format!("request larger than {} bytes", admission.max_body);
        refusal(StatusCode::PAYLOAD_TOO_LARGE, &most)
    };
    if body.size_hint().lower() > admission.max_body as u64 {
        return too_large();
    }
    let sent = match Limited::new(body, admission.max_body).collect().await {
        Ok(sent) => sent.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => return too_large(),
        Err(error) => {
            let why = format!("reading the request body failed: {error}");
            return refusal(StatusCode::BAD_REQUEST, &why);
        }
    };
    if let Err(heavy) = beside(sent.len(), || weight::check(&sent)).await {
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, &heavy.to_string());
    }
    let streams = prefers_streams(&head.headers);
    let request = Request::from_parts(head, Body::from(sent.clone()));
    // The library parses the body, which is there, when it is polled first.
    let response = poll_beside(sent.len(), next.run(request)).await;
    match response.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => beside(sent.len(), || not_a_message(&sent)).await,
        StatusCode::OK if !streams => single_message_as_json(response, admission.hold).await,
        _ => response,
    }
}

/// The reply to a body that is not a JSON-RPC message.
fn not_a_message(sent: &Bytes) -> Response {
    match serde_json::from_slice::<Value>(sent) {
        Ok(json) => refusal(StatusCode::BAD_REQUEST, super::invalid_message(&json)),
        Err(error) => {
            let why = format!("not JSON: {error}");
            error_response(StatusCode::BAD_REQUEST, ErrorCode::PARSE_ERROR, &why)
        }
    }
}

/// Whether a request can open a session: revision 2026-07-28 has none.
fn opens(method: &Method, headers: &HeaderMap) -> bool {
    let version = headers.get("mcp-protocol-version");
    let modern = ProtocolVersion::V_2026_07_28;
    method == Method::POST
        && !headers.contains_key(SESSION)
        && version.is_none_or(|version| version.as_bytes() < modern.as_str().as_bytes())
}

/// Rewrites a refusal in plain text, such as the library makes for a wrong host, into a JSON-RPC error.
async fn as_json_rpc_error(response: Response) -> Response {
    let status = response.status();
    let fails = status.is_client_error() || status.is_server_error();
    if is_json(response.headers()) || !fails {
        return response;
    }
    let (parts, body) = response.into_parts();
    let text = Limited::new(body, MAX_REFUSAL).collect().await;
    let text = text.map(|text| text.to_bytes()).unwrap_or_default();
    let mut refusal = refusal(status, &String::from_utf8_lossy(&text));
    for (name, value) in &parts.headers {
        if name != CONTENT_TYPE && name != CONTENT_LENGTH {
            refusal.headers_mut().append(name, value.clone());
        }
    }
    refusal
}

/// The reply to a caller that failed to authenticate, with the schemes that the door accepts.
fn unauthenticated(error: &a2a::Error) -> Response {
    let status = StatusCode::from_u16(error.code().http).unwrap_or(StatusCode::UNAUTHORIZED);
    let mut response = refusal(status, &error.to_string());
    for challenge in error.challenges() {
        if let Ok(challenge) = HeaderValue::from_str(challenge) {
            response.headers_mut().append(WWW_AUTHENTICATE, challenge);
        }
    }
    response
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
}

/// A refusal in the form of MCP: this HTTP status with a JSON-RPC error. Also for requests that are refused before they
/// reach the route.
pub fn refusal(status: StatusCode, message: &str) -> Response {
    let code = match status.is_server_error() {
        true => ErrorCode::INTERNAL_ERROR,
        false => ErrorCode::INVALID_REQUEST,
    };
    error_response(status, code, message)
}

fn error_response(status: StatusCode, code: ErrorCode, message: &str) -> Response {
    let error = json!({ "code": code.0, "message": message });
    let body = json!({ "jsonrpc": "2.0", "id": Value::Null, "error": error });
    let json = HeaderValue::from_static("application/json");
    (status, [(CONTENT_TYPE, json)], Body::from(body.to_string())).into_response()
}
