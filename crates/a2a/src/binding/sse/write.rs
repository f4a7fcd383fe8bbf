//! A stream of replies, written.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, stream};
use http::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use tokio::time::timeout;

use crate::error::Error;
use crate::operation::Frame;

/// How a binding writes what an event holds: one line, behind `data: `. What an error adds to the event comes
/// in lines of its own.
pub trait Write: Send + 'static {
    fn reply(&self, out: &mut Vec<u8>, reply: &Bytes);
    /// The error that ends the stream.
    fn error(&self, out: &mut Vec<u8>, error: &Error);
}

/// A comment: readers skip it, and proxies see that the stream is alive.
const ALIVE: &[u8] = b": alive\n\n";

/// The response that carries a stream.
pub fn response(
    frames: BoxStream<'static, Result<Vec<Frame>, Error>>,
    write: impl Write,
    alive: Duration,
) -> Response<Body> {
    let portions = stream::unfold(Some((frames, write)), move |state| async move {
        let (mut frames, write) = state?;
        let mut out = Vec::new();
        let state = match timeout(alive, frames.next()).await {
            Ok(Some(Ok(portion))) => {
                out.reserve(portion.iter().map(|frame| frame.body.len() + 96).sum());
                for frame in &portion {
                    begin(&mut out, frame.cursor);
                    write.reply(&mut out, &frame.body);
                    out.extend_from_slice(b"\n\n");
                }
                Some((frames, write))
            }
            Ok(Some(Err(error))) => {
                begin(&mut out, None);
                write.error(&mut out, &error);
                out.extend_from_slice(b"\n\n");
                None
            }
            Ok(None) => return None,
            Err(_) => {
                out.extend_from_slice(ALIVE);
                Some((frames, write))
            }
        };
        Some((Ok::<_, Infallible>(Bytes::from(out)), state))
    });
    let mut response = Response::new(Body::from_stream(portions));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // Proxies that would collect a stream are asked not to.
    headers.insert(
        HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}

fn begin(out: &mut Vec<u8>, cursor: Option<u64>) {
    if let Some(cursor) = cursor {
        out.extend_from_slice(b"id: ");
        out.extend_from_slice(cursor.to_string().as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
}
