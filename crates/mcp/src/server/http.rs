//! Both wires over HTTP, at one address.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use ::http::header::{CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE};
use ::http::request::Parts;
use ::http::{HeaderMap, HeaderValue, Method, StatusCode};
use access::{Door, Principal, Shown};
use axum::Router;
use axum::body::Body;
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

use super::reply::{prefers_streams, settled};
use super::session::Sessions;
use crate::limits::{Limits, MAX_COMPLAINT};

/// The header that names a session.
const SESSION: &str = "mcp-session-id";

/// Where it is served.
pub const PATH: &str = "/mcp";

/// How a handler is served.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// Names of this server besides those of loopback.
    pub hosts: Vec<String>,
    /// Origins of pages that may call it, with their ports. A request that comes from no page may always.
    pub origins: Vec<String>,
    /// Who is let in. The default asks nobody.
    pub door: Arc<Door>,
    /// The numbers.
    pub limits: Limits,
    /// Ends what is under way.
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

/// A handler behind HTTP. Clones are the same.
#[derive(Clone, Debug)]
pub struct Http {
    router: Router,
    sessions: Arc<Sessions>,
    stopping: CancellationToken,
}

impl Http {
    /// Serves a handler; one that wraps [`Handler`](crate::Handler) can offer more than skills.
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
        let entrance = Entrance {
            door,
            sessions: sessions.clone(),
            owners: Arc::default(),
            max_sessions: limits.max_sessions,
            max_body: limits.max_body,
            hold: limits.hold,
        };
        let router = Router::new()
            .route_service(PATH, service)
            .layer(middleware::from_fn_with_state(entrance, let_in))
            .layer(middleware::map_response(in_the_form_of_mcp));
        Self {
            router,
            sessions,
            stopping,
        }
    }

    /// The route it is served at.
    pub fn routes(&self) -> Router {
        self.router.clone()
    }

    /// Ends all sessions.
    pub async fn stop(&self) {
        self.stopping.cancel();
        for id in self.sessions.open().await {
            if let Err(error) = self.sessions.close_session(&id).await {
                tracing::debug!(%error, "a session was not closed");
            }
        }
    }
}

/// Who may come in, and whose the sessions are.
#[derive(Clone, Debug)]
struct Entrance {
    door: Arc<Door>,
    sessions: Arc<Sessions>,
    /// Who opened each session, by its id.
    owners: Arc<Mutex<HashMap<String, Principal>>>,
    max_sessions: usize,
    max_body: usize,
    hold: Duration,
}

/// Finds out who calls, which requests then have among their extensions. Turns away who would open a session too
/// many, or speak in that of another.
async fn let_in(State(entrance): State<Entrance>, request: Request, next: Next) -> Response {
    let (mut head, body) = request.into_parts();
    let caller = match entrance.door.admit(&Shown::by(&head), SystemTime::now()) {
        Ok(caller) => caller,
        Err(refusal) => return refused(&a2a::Error::from(refusal)),
    };
    let session = head.headers.get(SESSION);
    let session = session.and_then(|id| id.to_str().ok()).unwrap_or_default();
    if let Some(owner) = entrance.owners().get(session)
        && owner.name() != caller.name()
    {
        return complaint(StatusCode::NOT_FOUND, "there is no such session");
    }
    let opens = opens(&head.method, &head.headers);
    if opens {
        let open = entrance.sessions.count().await;
        if open >= entrance.max_sessions {
            let full = format!("{open} sessions are open; come back later, or speak 2026-07-28");
            return complaint(StatusCode::SERVICE_UNAVAILABLE, &full);
        }
    }
    head.extensions.insert(caller.clone());
    let response = pass(&entrance, head, body, next).await;
    if opens && let Some(id) = response.headers().get(SESSION) {
        let id = id.to_str().unwrap_or_default().to_owned();
        let open: HashSet<_> = entrance.sessions.open().await.into_iter().collect();
        let mut owners = entrance.owners();
        owners.retain(|id, _| open.contains(&**id));
        owners.insert(id, caller);
    }
    response
}

/// Passes a request on. What was sent as JSON and is no message is told so: to the library it is of the wrong type.
async fn pass(entrance: &Entrance, head: Parts, body: Body, next: Next) -> Response {
    if !is_json(&head.headers) {
        return next.run(Request::from_parts(head, body)).await;
    }
    let sent = match Limited::new(body, entrance.max_body).collect().await {
        Ok(sent) => sent.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            let most = format!("a request has at most {} bytes", entrance.max_body);
            return complaint(StatusCode::PAYLOAD_TOO_LARGE, &most);
        }
        Err(error) => {
            let why = format!("the request did not arrive: {error}");
            return complaint(StatusCode::BAD_REQUEST, &why);
        }
    };
    let streams = prefers_streams(&head.headers);
    let request = Request::from_parts(head, Body::from(sent.clone()));
    let response = next.run(request).await;
    match response.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => misunderstood(&sent),
        StatusCode::OK if !streams => settled(response, entrance.hold).await,
        _ => response,
    }
}

/// What to say about a body that is no message.
fn misunderstood(sent: &Bytes) -> Response {
    match serde_json::from_slice::<Value>(sent) {
        Ok(said) => complaint(StatusCode::BAD_REQUEST, super::no_message(&said)),
        Err(error) => {
            let why = format!("this is no JSON: {error}");
            coded(StatusCode::BAD_REQUEST, ErrorCode::PARSE_ERROR, &why)
        }
    }
}

impl Entrance {
    fn owners(&self) -> MutexGuard<'_, HashMap<String, Principal>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a request can be one that opens a session: the newer wire has none.
fn opens(method: &Method, headers: &HeaderMap) -> bool {
    let version = headers.get("mcp-protocol-version");
    let modern = ProtocolVersion::V_2026_07_28;
    method == Method::POST
        && !headers.contains_key(SESSION)
        && version.is_none_or(|version| version.as_bytes() < modern.as_str().as_bytes())
}

/// Whatever is refused is refused in JSON-RPC, also before there is a request.
async fn in_the_form_of_mcp(response: Response) -> Response {
    let status = response.status();
    let fails = status.is_client_error() || status.is_server_error();
    if is_json(response.headers()) || !fails {
        return response;
    }
    let (parts, body) = response.into_parts();
    let said = Limited::new(body, MAX_COMPLAINT).collect().await;
    let said = said.map(|said| said.to_bytes()).unwrap_or_default();
    let mut complaint = complaint(status, &String::from_utf8_lossy(&said));
    for (name, value) in &parts.headers {
        if name != CONTENT_TYPE && name != CONTENT_LENGTH {
            complaint.headers_mut().append(name, value.clone());
        }
    }
    complaint
}

/// Says why a caller is not let in, and what would be taken.
fn refused(error: &a2a::Error) -> Response {
    let status = StatusCode::from_u16(error.code().http).unwrap_or(StatusCode::UNAUTHORIZED);
    let mut response = complaint(status, &error.to_string());
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

/// How MCP says no, also to a request that did not come as far as its route.
pub fn complaint(status: StatusCode, said: &str) -> Response {
    let code = match status.is_server_error() {
        true => ErrorCode::INTERNAL_ERROR,
        false => ErrorCode::INVALID_REQUEST,
    };
    coded(status, code, said)
}

fn coded(status: StatusCode, code: ErrorCode, said: &str) -> Response {
    let error = json!({ "code": code.0, "message": said });
    let body = json!({ "jsonrpc": "2.0", "id": Value::Null, "error": error });
    let json = HeaderValue::from_static("application/json");
    (status, [(CONTENT_TYPE, json)], Body::from(body.to_string())).into_response()
}
