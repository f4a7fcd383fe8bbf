//! The server's side of a batch: a session for one request.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use http_body_util::BodyExt;

use crate::beside::beside;
use crate::connection::{Connection, Options, Shared};
use crate::error::Error;
use crate::peer::Peer;
use crate::session::Calls;
use crate::stub::Capability;

/// How long the rest of a body that was refused is read and thrown away,
const PASS_BY_LIMIT: Duration = Duration::from_secs(2);
/// and how long it may pause meanwhile.
const PAUSE_LIMIT: Duration = Duration::from_millis(300);

/// Time limits of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The request must be here after so long.
    pub read_limit: Duration,
    /// What is not answered after so long is rejected.
    pub answer_limit: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            read_limit: Duration::from_secs(30),
            answer_limit: Duration::from_secs(60),
        }
    }
}

/// Answers one batch. A faulty body gets a response too: 400 for a line that is not a message, 413 for a body
/// that is too large, 408 for one that does not arrive in time.
pub async fn answer(
    body: Body,
    main: impl Into<Capability>,
    options: &Options,
    settings: &Settings,
) -> Response {
    let main = main.into();
    answer_peer(body, |_| main, options, settings).await
}

/// As [`answer`], with an object for the peer alone.
pub(crate) async fn answer_peer(
    mut body: Body,
    main: impl FnOnce(&Peer) -> Capability,
    options: &Options,
    settings: &Settings,
) -> Response {
    let connection = Connection::with_calls(main, options, Calls::Impossible);
    let session = connection.shared();
    let (limit, time) = match session.guest() {
        Some(guest) => (guest.max_message_bytes, guest.time),
        None => (options.limits.max_message_bytes, settings.read_limit),
    };
    let time = time.min(settings.read_limit);
    let body = match tokio::time::timeout(time, read(&mut body, limit)).await {
        Ok(Ok(body)) => body,
        Ok(Err(Unread::TooLong)) => {
            pass_by(body).await;
            return refuse(
                StatusCode::PAYLOAD_TOO_LARGE,
                &format!("the batch exceeds {limit} bytes"),
            );
        }
        Ok(Err(Unread::Broken)) => {
            return refuse(StatusCode::BAD_REQUEST, "the batch could not be read");
        }
        Err(_) => {
            return refuse(
                StatusCode::REQUEST_TIMEOUT,
                "the batch did not arrive in time",
            );
        }
    };
    let Ok(text) = String::from_utf8(body) else {
        return refuse(StatusCode::BAD_REQUEST, "the batch is not UTF-8");
    };
    let ended = beside(text.len(), || receive(session, &text)).await;
    drop(text);
    if let Some(error) = ended {
        return refuse(StatusCode::BAD_REQUEST, error.message());
    }
    if tokio::time::timeout(settings.answer_limit, answered(&connection))
        .await
        .is_err()
    {
        connection
            .shared()
            .reject_pending(&Error::new("the call did not finish in time").with_code("timeout"));
    }
    let frames: Vec<String> = connection.take_outgoing().into();
    connection.end(Error::new("the batch is over"));
    (
        [(CONTENT_TYPE, "text/plain;charset=UTF-8")],
        frames.join("\n"),
    )
        .into_response()
}

/// Processes the lines of a batch. The error that ends its session, if one does.
fn receive(session: &Arc<Shared>, text: &str) -> Option<Error> {
    // The reference sends no newline at the end; others do.
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.find_map(|line| {
        session.receive(line);
        session.ended()
    })
}

/// Why there is no body.
enum Unread {
    TooLong,
    Broken,
}

/// Reads a body to its end. One that says that it is too long is not even begun.
async fn read(body: &mut Body, limit: usize) -> Result<Vec<u8>, Unread> {
    if body.size_hint().lower() > limit as u64 {
        return Err(Unread::TooLong);
    }
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else {
            continue;
        };
        if bytes.len() + data.len() > limit {
            return Err(Unread::TooLong);
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// Reads and drops the rest of the body, for a while. Answering with unread bytes would reset the connection,
/// which can destroy the answer.
async fn pass_by(mut body: Body) {
    let passing = async {
        while let Ok(Some(Ok(_))) = tokio::time::timeout(PAUSE_LIMIT, body.frame()).await {}
    };
    // A client that still sends after that may miss the answer.
    let _ = tokio::time::timeout(PASS_BY_LIMIT, passing).await;
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
