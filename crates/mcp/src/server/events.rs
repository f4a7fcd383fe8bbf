//! Event streams: the messages of a reply, written as server-sent events.

use std::sync::Arc;
use std::time::Duration;

use ::http::HeaderValue;
use ::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use a2a::server::end_of_credentials;
use access::Principal;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::outlet::Log;
use super::session::Session;
use crate::limits::KEEP_ALIVE;

/// How long a client waits before it connects again.
const RETRY: Duration = Duration::from_secs(3);

/// A comment, which keeps proxies from closing a stream without events.
const COMMENT: &[u8] = b":\n\n";

/// The reply in a session: its events have ids, from which a client can go on reading.
pub(crate) fn in_session(log: Arc<Log>, number: u64, primes: bool) -> Response {
    let first = primes.then(|| primer(number));
    let events = messages(log, Some(number), 0);
    response(stream::iter(first).chain(events))
}

/// A reply that is complete.
pub(crate) fn whole(log: Arc<Log>) -> Response {
    response(messages(log, None, 0))
}

/// The rest of a reply, from the event after `position` on. It ends with the credentials of its reader.
pub(crate) fn resumed(log: Arc<Log>, number: u64, position: u64, reader: &Principal) -> Response {
    let events = messages(log, (number > 0).then_some(number), position);
    response(events.take_until(Box::pin(end_of_credentials(reader))))
}

/// The reply to a request that stands alone. Dropping it cancels the request; the end of the server ends it.
pub(crate) fn alone(log: Arc<Log>, cancels: DropGuard, stopping: CancellationToken) -> Response {
    let events = messages(log, None, 0).take_until(stopping.cancelled_owned());
    let events = events.map(move |event| {
        let _held = &cancels;
        event
    });
    response(events)
}

/// A stream of one message.
pub(crate) fn one(message: &[u8]) -> Response {
    response(stream::iter([event(None, message)]))
}

/// A stream that ends at once.
pub(crate) fn nothing() -> Response {
    response(stream::empty())
}

/// The stream of a session without a request: we have nothing to say on it, and it stays open as long as the session and the
/// credentials of its reader.
pub(crate) fn idle(
    session: &Session,
    stopping: &CancellationToken,
    reader: &Principal,
) -> Response {
    let first = stream::iter([primer(0)]);
    let (ended, stopping) = (session.ended.clone(), stopping.clone());
    let comments = stream::unfold((), |()| async {
        tokio::time::sleep(KEEP_ALIVE).await;
        Some((Bytes::from_static(COMMENT), ()))
    });
    let refused = end_of_credentials(reader);
    let over = async move {
        tokio::select! {
            () = ended.cancelled() => {}
            () = stopping.cancelled() => {}
            _ = refused => {}
        }
    };
    response(first.chain(comments.take_until(Box::pin(over))))
}

/// The stream of the old transport: its first event names the address for messages, the others are messages.
/// It ends with `over`, and drops `closes` when it is dropped itself.
pub(crate) fn old(
    address: &str,
    pipe: mpsc::Receiver<Bytes>,
    over: impl Future<Output = ()> + Send + 'static,
    closes: impl Send + 'static,
) -> Response {
    let first = Bytes::from(format!("event: endpoint\ndata: {address}\n\n"));
    let events = stream::unfold((pipe, closes), |(mut pipe, closes)| async move {
        let event = match timeout(KEEP_ALIVE, pipe.recv()).await {
            Ok(Some(message)) => named(&message),
            Ok(None) => return None,
            Err(_) => Bytes::from_static(COMMENT),
        };
        Some((event, (pipe, closes)))
    });
    response(stream::iter([first]).chain(events.take_until(Box::pin(over))))
}

/// The messages of a log as events, with a comment where it is silent for long.
fn messages(
    log: Arc<Log>,
    number: Option<u64>,
    position: u64,
) -> impl Stream<Item = Bytes> + Send + 'static {
    stream::unfold((log, position), move |(log, mut position)| async move {
        let event = match timeout(KEEP_ALIVE, log.next(&mut position)).await {
            Ok(Some(message)) => event(number.map(|number| (number, position)), &message),
            Ok(None) => return None,
            Err(_) => Bytes::from_static(COMMENT),
        };
        Some((event, (log, position)))
    })
}

/// An event that holds nothing but its id and the time to wait before connecting again.
fn primer(number: u64) -> Bytes {
    let retry = RETRY.as_millis();
    Bytes::from(format!("id: {number}/0\nretry: {retry}\ndata: \n\n"))
}

/// A message is one line, as JSON without line ends is.
fn event(id: Option<(u64, u64)>, message: &[u8]) -> Bytes {
    let mut event = Vec::with_capacity(message.len() + 32);
    if let Some((number, position)) = id {
        event.extend_from_slice(format!("id: {number}/{position}\n").as_bytes());
    }
    event.extend_from_slice(b"data: ");
    event.extend_from_slice(message);
    event.extend_from_slice(b"\n\n");
    event.into()
}

fn named(message: &[u8]) -> Bytes {
    [b"event: message\ndata: ", message, b"\n\n"]
        .concat()
        .into()
}

fn response(events: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let events = events.map(Ok::<_, std::convert::Infallible>);
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies that know it do not hold events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
