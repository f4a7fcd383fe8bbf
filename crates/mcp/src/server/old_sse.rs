//! The transport of revision 2024-11-05, which clients still use: one stream for everything the server says, and an
//! address beside it for what the client says.

use std::sync::Arc;

use ::http::{Method, StatusCode};
use a2a::server::end_of_credentials;
use access::Origin;
use axum::extract::{NestedPath, Request as HttpRequest, State};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::mpsc;

use super::events;
use super::http::{Inner, not_allowed, refusal};
use super::pipe;
use super::session::{self, Session};

/// The path of the stream.
pub(crate) const STREAM: &str = "/sse";

/// The path for messages, which the first event of the stream names.
pub(crate) const MESSAGES: &str = "/messages";

/// How many messages may wait for a client that reads slowly; then its requests wait.
const WAITING: usize = 64;

/// Opens a session. It lives as long as its stream, which ends with the credentials of its caller.
pub(super) async fn stream(State(inner): State<Arc<Inner>>, request: HttpRequest) -> Response {
    let admitted = match inner.admit(request) {
        Ok(admitted) => admitted,
        Err(refusal) => return *refusal,
    };
    if admitted.head.method != Method::GET {
        return not_allowed("GET");
    }
    let (out, waiting) = mpsc::channel(WAITING);
    let share = session::share(&admitted.caller, &admitted.head.extensions);
    let exchange = inner.sessions.exchange();
    let opened = inner
        .sessions
        .open(exchange, &admitted.caller, share, Some(out));
    let session = match opened {
        Ok(session) => session,
        Err(full) => return refusal(StatusCode::SERVICE_UNAVAILABLE, &full.to_string()),
    };
    // The whole path, also where these routes are below another path.
    let below = admitted.head.extensions.get::<NestedPath>();
    let below = below.map_or("", NestedPath::as_str);
    let address = format!("{below}{MESSAGES}?sessionId={}", session.id);
    let ended = session.ended.clone();
    let stopping = inner.stopping.clone();
    let refused = end_of_credentials(&admitted.caller);
    let closes = Closes { inner, session };
    let over = async move {
        tokio::select! {
            () = ended.cancelled() => {}
            () = stopping.cancelled() => {}
            _ = refused => {}
        }
    };
    events::old(&address, waiting, over, closes)
}

/// Ends the session when its stream is dropped.
struct Closes {
    inner: Arc<Inner>,
    session: Arc<Session>,
}

impl Drop for Closes {
    fn drop(&mut self) {
        self.inner.sessions.end(&self.session);
    }
}

/// Takes a message of a client. What it is answered with comes on the stream.
pub(super) async fn message(State(inner): State<Arc<Inner>>, request: HttpRequest) -> Response {
    let admitted = match inner.admit(request) {
        Ok(admitted) => admitted,
        Err(refusal) => return *refusal,
    };
    if admitted.head.method != Method::POST {
        return not_allowed("POST");
    }
    let query = admitted.head.uri.query().unwrap_or_default();
    let mut fields = query.split('&').filter_map(|it| it.split_once('='));
    let id = fields.find(|(name, _)| *name == "sessionId" || *name == "session_id");
    let session = id.and_then(|(_, id)| inner.sessions.find(id, &admitted.caller));
    let found = session.and_then(|session| Some((session.pipe.clone()?, session)));
    let Some((pipe, session)) = found else {
        let why = "unknown session: open the stream at /sse; its first event names the address for messages";
        return refusal(StatusCode::NOT_FOUND, why);
    };
    let (message, bytes) = match inner.read(&admitted.head.headers, admitted.body).await {
        Ok(read) => read,
        Err(refusal) => return *refusal,
    };
    let taken = pipe::take(
        &inner.responder,
        &session.exchange,
        &pipe,
        Some(admitted.caller),
        Origin::of("mcp/sse", &admitted.head).with_bytes(bytes),
        message,
    );
    if let Some(call) = taken {
        inner.calls.spawn(call);
    }
    StatusCode::ACCEPTED.into_response()
}
