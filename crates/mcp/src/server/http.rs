//! Serves MCP over HTTP: every revision at one address, and the transport of 2024-11-05 at two of its own.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ::http::header::{ACCEPT, ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use ::http::request::Parts;
use ::http::{HeaderMap, HeaderValue, Method, StatusCode};
use a2a::binding::{beside, weight};
use access::{CallRecord, Door, Origin, Presented, Principal, calls};
use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::{Request as HttpRequest, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::guard::Guard;
use super::post::{NO_SESSION, Post};
use super::request::{Request, Responder, Shared};
use super::revision::{ClientInfo, Revision};
use super::rpc::{self, Id, Message, RpcError, Unreadable, code};
use super::session::{Session, Sessions};
use super::{events, exchange, headers, old_sse};
use crate::limits::Limits;

pub(crate) const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";

/// The path of the MCP endpoint.
pub const PATH: &str = "/mcp";

/// The name of the wire in the record of calls.
pub(super) const WIRE: &str = "mcp/http";

/// How long [`Http::stop`] waits for requests that were cancelled.
const STOPPING: Duration = Duration::from_secs(5);

/// How a handler is served over HTTP.
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// Host names that requests may use, besides those of loopback. Requests with another `Host` are refused.
    pub hosts: Vec<String>,
    /// Origins of web pages that may call it, with their ports; `*` is all of them. Requests without an `Origin` header are not
    /// restricted.
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

/// A responder behind HTTP. Clones share one state.
///
/// A request passes, in this order: the check of its host and origin, authentication by the door, the check that its
/// session belongs to the caller, the limit on the size of its body, then the reading of the body, then the responder. The
/// order matters: nothing is read of a body, and nothing is told about sessions, before the caller is known.
///
/// A request of revision 2026-07-28 stands alone: it is answered in the reply to its POST, and a client that closes the
/// connection cancels it. Sessions exist in the earlier revisions. One begins with a successful `initialize` and ends when
/// the client deletes it, after [`Limits::session_idle`] without a message, or with [`stop`](Self::stop). It belongs to the
/// principal that opened it; for other callers it does not exist (404). A request in a session goes on when its client
/// disconnects, which can read the rest of the reply later. Tasks do not belong to a session: when it ends, the calls that
/// still wait in it are cancelled, and calls that were answered with a task run on.
///
/// A call is driven where its request arrived, without a task of its own. What becomes a stream, or loses its client, is
/// handed to the tracker, so that every call ends in its own way: an abandoned future would leave its task running.
#[derive(Clone)]
pub struct Http {
    inner: Arc<Inner>,
}

pub(super) struct Inner {
    pub(super) responder: Shared,
    pub(super) guard: Guard,
    pub(super) door: Arc<Door>,
    pub(super) sessions: Sessions,
    pub(super) limits: Limits,
    pub(super) stopping: CancellationToken,
    /// The calls that outlive the future of their HTTP request.
    pub(super) calls: TaskTracker,
}

/// A request that was let in.
pub(super) struct Admitted {
    pub(super) head: Parts,
    pub(super) body: Body,
    pub(super) caller: Principal,
}

impl Http {
    /// Serves a responder: a [`Handler`](crate::Handler), or one that wraps it and offers more than skills.
    pub fn new(responder: impl Responder, config: HttpConfig) -> Self {
        let HttpConfig {
            hosts,
            origins,
            door,
            limits,
            stopping,
        } = config;
        Self {
            inner: Arc::new(Inner {
                responder: Arc::new(responder),
                guard: Guard::new(&hosts, &origins),
                door,
                sessions: Sessions::new(&limits),
                limits,
                stopping,
                calls: TaskTracker::new(),
            }),
        }
    }

    /// A router with [`PATH`] and the two paths of the old transport.
    pub fn routes(&self) -> Router {
        Router::new()
            .route(PATH, any(serve))
            .route(old_sse::STREAM, any(old_sse::stream))
            .route(old_sse::MESSAGES, any(old_sse::message))
            .with_state(self.inner.clone())
    }

    /// How many sessions are open.
    pub fn open_sessions(&self) -> usize {
        self.inner.sessions.len()
    }

    /// Ends all requests and closes all sessions.
    pub async fn stop(&self) {
        self.inner.stopping.cancel();
        self.inner.sessions.end_all();
        self.inner.calls.close();
        if tokio::time::timeout(STOPPING, self.inner.calls.wait())
            .await
            .is_err()
        {
            tracing::warn!("requests of MCP did not end in time");
        }
    }
}

impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}

async fn serve(State(inner): State<Arc<Inner>>, request: HttpRequest) -> Response {
    let admitted = match inner.admit(request) {
        Ok(admitted) => admitted,
        Err(refusal) => return *refusal,
    };
    let method = admitted.head.method.clone();
    let served = match method {
        Method::POST => inner.post(admitted).await,
        Method::GET => inner.get(&admitted),
        Method::DELETE => inner.delete(&admitted),
        _ => return not_allowed("GET, POST, DELETE"),
    };
    served.unwrap_or_else(|refusal| *refusal)
}

/// A reply, or the reply that refuses. Boxed, since refusals are rare and replies are large.
pub(super) type Served = Result<Response, Box<Response>>;

impl Inner {
    /// Lets a request in if its host, origin and credentials are good.
    pub(super) fn admit(&self, request: HttpRequest) -> Result<Admitted, Box<Response>> {
        let (head, body) = request.into_parts();
        if let Some(why) = self.guard.refuses(&head.uri, &head.headers) {
            return Err(Box::new(refusal(StatusCode::FORBIDDEN, why)));
        }
        match self.door.admit(&Presented::by(&head), SystemTime::now()) {
            Ok(caller) => Ok(Admitted { head, body, caller }),
            Err(error) => {
                let error = a2a::Error::from(error);
                let asked = CallRecord {
                    origin: Origin::of(WIRE, &head),
                    caller: Principal::anonymous(),
                    version: "",
                    operation: calls::UNKNOWN.into(),
                };
                self.responder.calls().refused(&asked, error.outcome());
                Err(Box::new(unauthenticated(&error)))
            }
        }
    }

    async fn post(self: &Arc<Self>, admitted: Admitted) -> Served {
        let Admitted { head, body, caller } = admitted;
        let accepts = |kind: &str| accepts(&head.headers, kind);
        if !accepts("application/json") || !accepts("text/event-stream") {
            let why = "Accept must name application/json and text/event-stream";
            return Err(Box::new(refusal(StatusCode::NOT_ACCEPTABLE, why)));
        }
        let session = self.session(&head.headers, &caller)?;
        let (message, bytes) = self.read(&head.headers, body).await?;
        if self.stopping.is_cancelled() {
            return Err(Box::new(stopping(&message)));
        }
        let version = headers::one(&head.headers, headers::VERSION).map_err(|error| bad(&error))?;
        let post = Post {
            inner: self,
            version,
            head: &head,
            bytes,
            caller,
            session,
        };
        match message {
            Message::Request { id, method, params } => post.request(id, method, params).await,
            Message::Notification { method, params } => post.notification(&method, params),
            Message::Response { id, result } => post.response(&id, result),
        }
    }

    /// Reads the body as a message; gives its length, too.
    pub(super) async fn read(
        &self,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<(Message, usize), Box<Response>> {
        let most = self.limits.max_body;
        let refuse = |status, why: &str| Box::new(refusal(status, why));
        let too_large = || {
            let why = format!("request larger than {most} bytes");
            refuse(StatusCode::PAYLOAD_TOO_LARGE, &why)
        };
        if !is_json(headers) {
            let why = "Content-Type must be application/json";
            return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
        }
        if body.size_hint().lower() > most as u64 {
            return Err(too_large());
        }
        let sent = match Limited::new(body, most).collect().await {
            Ok(sent) => sent.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => return Err(too_large()),
            Err(error) => {
                let why = format!("reading the request body failed: {error}");
                return Err(refuse(StatusCode::BAD_REQUEST, &why));
            }
        };
        let read = || match weight::check(&sent) {
            Ok(()) => Ok(Message::read(&sent)),
            Err(heavy) => Err(heavy.to_string()),
        };
        match beside(sent.len(), read).await {
            Ok(Ok(message)) => Ok((message, sent.len())),
            Ok(Err(Unreadable { error, id, .. })) => {
                let body = rpc::error(id.as_ref(), &error);
                Err(Box::new(json(StatusCode::BAD_REQUEST, body)))
            }
            Err(heavy) => Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, &heavy)),
        }
    }

    /// The session that a request names. One that is not there, or belongs to another caller, is 404: the client opens a
    /// new one.
    fn session(
        &self,
        headers: &HeaderMap,
        caller: &Principal,
    ) -> Result<Option<Arc<Session>>, Box<Response>> {
        let Some(id) = headers.get(SESSION) else {
            return Ok(None);
        };
        let found = self.sessions.find(id.to_str().unwrap_or_default(), caller);
        match found {
            Some(session) => Ok(Some(session)),
            None => Err(Box::new(refusal(StatusCode::NOT_FOUND, "unknown session"))),
        }
    }

    /// Opens the stream of a session, or continues the one that `Last-Event-ID` names.
    fn get(&self, admitted: &Admitted) -> Served {
        let headers = &admitted.head.headers;
        if !accepts(headers, "text/event-stream") {
            let why = "Accept must name text/event-stream";
            return Err(Box::new(refusal(StatusCode::NOT_ACCEPTABLE, why)));
        }
        let session = self.session_alone(admitted)?;
        let last = headers.get(LAST_EVENT).and_then(|id| id.to_str().ok());
        let Some(last) = last else {
            return Ok(events::idle(&session, &self.stopping, &admitted.caller));
        };
        let (number, position) = last.split_once('/').unwrap_or_default();
        let (number, position) = (number.parse().ok(), position.parse().ok());
        match number.and_then(|number| session.kept(number)).zip(position) {
            Some((log, position)) => {
                let number = number.unwrap_or_default();
                Ok(events::resumed(log, number, position, &admitted.caller))
            }
            // An error would make the client ask again and again; an empty stream ends it.
            None => Ok(events::nothing()),
        }
    }

    fn delete(&self, admitted: &Admitted) -> Served {
        let session = self.session_alone(admitted)?;
        self.sessions.end(&session);
        Ok(StatusCode::NO_CONTENT.into_response())
    }

    /// The session of a request that only sessions have.
    fn session_alone(&self, admitted: &Admitted) -> Result<Arc<Session>, Box<Response>> {
        let headers = &admitted.head.headers;
        let version = headers::one(headers, headers::VERSION).map_err(|error| bad(&error))?;
        if version.is_some_and(Revision::is_stateless_name) {
            return Err(Box::new(not_allowed("POST")));
        }
        let session = self.session(headers, &admitted.caller)?;
        check_known(version)?;
        session.ok_or_else(|| bad(&RpcError::invalid_request(NO_SESSION)))
    }
}

/// The HTTP status of an answer in revision 2026-07-28; the earlier ones answer everything with 200.
pub(super) fn status(client: &ClientInfo, error: &RpcError) -> StatusCode {
    match error.code {
        code::TOO_MANY_CALLS => StatusCode::TOO_MANY_REQUESTS,
        _ if !client.is_modern() => StatusCode::OK,
        code::UNSUPPORTED_VERSION | code::MISSING_CAPABILITY | code::HEADER_MISMATCH => {
            StatusCode::BAD_REQUEST
        }
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::FORBIDDEN => StatusCode::FORBIDDEN,
        _ => StatusCode::OK,
    }
}

/// Answers a request, and writes the response.
pub(super) async fn respond(responder: Shared, request: Request) -> (StatusCode, Bytes) {
    let (id, client) = (request.id.clone(), request.client);
    match exchange::answer(&responder, request).await {
        Ok(answer) => (StatusCode::OK, answer.response(&id, &client)),
        Err(error) => (status(&client, &error), rpc::error(Some(&id), &error)),
    }
}

pub(super) fn check_known(version: Option<&str>) -> Result<(), Box<Response>> {
    match version {
        Some(version) if Revision::named(version).is_none() => {
            Err(bad(&Revision::unsupported(version)))
        }
        _ => Ok(()),
    }
}

/// Refuses a request that is wrong before it is handled.
pub(super) fn refused(id: Option<&Id>, error: &RpcError) -> Box<Response> {
    Box::new(json(StatusCode::BAD_REQUEST, rpc::error(id, error)))
}

pub(super) fn bad(error: &RpcError) -> Box<Response> {
    refused(None, error)
}

pub(super) fn not_allowed(allowed: &'static str) -> Response {
    let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, "method not allowed");
    let allowed = HeaderValue::from_static(allowed);
    response.headers_mut().insert(ALLOW, allowed);
    response
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

/// Whether `Accept` names a media type.
fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let mut accepted = headers.get_all(ACCEPT).iter();
    accepted.any(|it| it.to_str().is_ok_and(|it| it.contains(kind)))
}

/// The reply to a message that comes while the server stops. It bears the id of a request, so that its client knows which
/// of its requests has failed.
fn stopping(message: &Message) -> Response {
    let id = match message {
        Message::Request { id, .. } => Some(id),
        _ => None,
    };
    let error = RpcError::internal("the server is stopping");
    json(StatusCode::SERVICE_UNAVAILABLE, rpc::error(id, &error))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
}

/// A refusal in the form of MCP: this HTTP status with a JSON-RPC error. Also for requests that are refused before they
/// reach the route.
pub fn refusal(status: StatusCode, message: &str) -> Response {
    let code = match status.is_server_error() {
        true => code::INTERNAL_ERROR,
        false => code::INVALID_REQUEST,
    };
    let error = RpcError::new(code, message.to_owned());
    json(status, rpc::error(None, &error))
}

/// An answer of JSON. One call too many may be repeated after a second: no rate is lower than one request a second. How long
/// a budget takes to be renewed is in the error itself.
pub(super) fn json(status: StatusCode, body: Bytes) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    if status == StatusCode::TOO_MANY_REQUESTS {
        let after = HeaderValue::from_static("1");
        response.headers_mut().insert(RETRY_AFTER, after);
    }
    response
}
