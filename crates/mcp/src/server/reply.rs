//! Turns an event stream that holds a single message back into a JSON reply. In a session the library streams every reply.

use std::time::Duration;

use ::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use ::http::{HeaderMap, HeaderName, HeaderValue};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use dial::sse::Reader;
use futures_util::{StreamExt as _, stream};
use http_body_util::BodyExt as _;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::time::{Instant, timeout_at};

#[cfg(test)]
#[path = "reply_tests.rs"]
mod tests;

const STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

/// The header that the library adds to streams so that proxies do not buffer them.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Whether the `Accept` header gives event streams a higher weight than JSON.
pub(super) fn prefers_streams(headers: &HeaderMap) -> bool {
    weight(headers, STREAM) > weight(headers, JSON)
}

/// The weight of a media type in `Accept`, from 0 to 1 (RFC 9110, 12.4.2); 1 where none is given.
fn weight(headers: &HeaderMap, wanted: &str) -> f64 {
    let accepted = headers.get_all(ACCEPT).iter();
    let accepted = accepted.filter_map(|it| it.to_str().ok());
    let mut accepted = accepted.flat_map(|it| it.split(','));
    let named = accepted.find_map(|it| {
        let (kind, parameters) = it.split_once(';').unwrap_or((it, ""));
        kind.trim()
            .eq_ignore_ascii_case(wanted)
            .then_some(parameters)
    });
    let mut parameters = named.unwrap_or_default().split(';');
    let weight = parameters.find_map(|it| it.trim().strip_prefix("q=")?.parse::<f64>().ok());
    weight.unwrap_or(1.0).clamp(0.0, 1.0)
}

/// Reads the stream until its first message, for at most `hold`. If that message is the response, it is sent as JSON.
/// Otherwise (a notification or request comes first, or nothing within `hold`) the reply stays a stream, beginning with
/// the events that were read.
pub(super) async fn single_message_as_json(response: Response, hold: Duration) -> Response {
    let kind = response.headers().get(CONTENT_TYPE);
    if kind.is_none_or(|kind| kind != STREAM) {
        return response;
    }
    let end = Instant::now() + hold;
    let (mut parts, mut body) = response.into_parts();
    let mut held: Vec<Result<Bytes, axum::Error>> = Vec::new();
    while let Ok(Some(frame)) = timeout_at(end, body.frame()).await {
        let event = match frame.map(|frame| frame.into_data()) {
            Ok(Ok(event)) => event,
            // An event stream has no trailers to keep.
            Ok(Err(_)) => continue,
            Err(error) => {
                held.push(Err(error));
                break;
            }
        };
        match message(&event) {
            Some(message) if is_last(message.as_bytes()) => {
                let kind = HeaderValue::from_static(JSON);
                parts.headers.insert(CONTENT_TYPE, kind);
                parts.headers.remove(CACHE_CONTROL);
                parts.headers.remove(UNBUFFERED);
                return Response::from_parts(parts, Body::from(message));
            }
            Some(_) => {
                held.push(Ok(event));
                break;
            }
            // An event without data: a retry interval or a keep-alive comment.
            None => held.push(Ok(event)),
        }
    }
    let body = stream::iter(held).chain(body.into_data_stream());
    Response::from_parts(parts, Body::from_stream(body))
}

/// The data of an event. The library gives each event as one chunk; it may be of any size, as it is our own.
fn message(event: &[u8]) -> Option<String> {
    let events = Reader::new(usize::MAX).take(event).ok()?;
    let mut data = events.into_iter().map(|event| event.data);
    data.find(|data| !data.trim().is_empty())
}

/// Whether a message is a response, which is the last one in the stream.
fn is_last(message: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Named {
        method: Option<IgnoredAny>,
    }
    let named = serde_json::from_slice::<Named>(message);
    named.is_ok_and(|it| it.method.is_none())
}
