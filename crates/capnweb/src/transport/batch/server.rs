//! The server's side of a batch: a session for one request.

use std::time::Duration;

use axum::body::{Body, HttpBody, to_bytes};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;

use crate::connection::{Connection, Options};
use crate::error::Error;
use crate::session::Calls;
use crate::stub::Capability;

/// How long the parts of a batch may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The request must be here after so long.
    pub read_limit: Duration,
    /// What is not answered after so long is rejected.
    pub answer_limit: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { read_limit: Duration::from_secs(30), answer_limit: Duration::from_secs(60) }
    }
}

/// Answers one batch. Whatever is in the body, this gives a response: 400 for a line that is not a
/// message, 413 for a body that is too large, 408 for one that does not come.
pub async fn answer(body: Body, main: impl Into<Capability>, options: &Options, settings: &Settings) -> Response {
    let limit = options.limits.max_message_bytes;
    let too_large = || refuse(StatusCode::PAYLOAD_TOO_LARGE, &format!("the batch exceeds {limit} bytes"));
    // What it says of its length is enough to refuse it; otherwise it is measured as it comes.
    if body.size_hint().lower() > limit as u64 {
        return too_large();
    }
    let body = match tokio::time::timeout(settings.read_limit, to_bytes(body, limit)).await {
        Ok(Ok(body)) => body,
        Ok(Err(error)) if is_too_long(&error) => return too_large(),
        Ok(Err(_)) => return refuse(StatusCode::BAD_REQUEST, "the batch could not be read"),
        Err(_) => return refuse(StatusCode::REQUEST_TIMEOUT, "the batch did not arrive in time"),
    };
    let Ok(text) = std::str::from_utf8(&body) else {
        return refuse(StatusCode::BAD_REQUEST, "the batch is not UTF-8");
    };
    let connection = Connection::with_calls(main.into(), options, Calls::Impossible);
    // The reference sends no newline at the end; others do.
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        connection.receive(line);
        if let Some(error) = connection.shared().ended() {
            return refuse(StatusCode::BAD_REQUEST, error.message());
        }
    }
    if tokio::time::timeout(settings.answer_limit, answered(&connection)).await.is_err() {
        connection.shared().reject_pending(&Error::new("the call did not finish in time").with_code("timeout"));
    }
    let frames: Vec<String> = connection.take_outgoing().into();
    connection.end(Error::new("the batch is over"));
    ([(CONTENT_TYPE, "text/plain;charset=UTF-8")], frames.join("\n")).into_response()
}

/// Returns when every pull and every promise we sent has its answer.
async fn answered(connection: &Connection) {
    while connection.stats().pending > 0 {
        connection.outgoing().await;
    }
}

fn refuse(status: StatusCode, reason: &str) -> Response {
    (status, reason.to_owned()).into_response()
}

fn is_too_long(error: &axum::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        source = error.source();
    }
    false
}
