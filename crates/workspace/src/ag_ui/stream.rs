//! The response to a run: its events, until it is over.

use std::pin::pin;
use std::time::Duration;

use a2a::server::end_of_credentials;
use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Response, StatusCode};
use futures_util::stream;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::Run;
use super::translate::Outcome;
use crate::api::Failure;
use crate::chat::Chat;

/// How many events wait to be written.
const QUEUE: usize = 64;

/// How often something is written to a client for which nothing happens, so that nobody between takes the connection for dead.
const ALIVE: Duration = Duration::from_secs(15);

/// Answers with the events of a run. A client that leaves ends the response; the task goes on.
pub(super) fn response(chat: &Chat, run: Run) -> Result<Response<Body>, Failure> {
    let stopping = chat.stopping();
    if stopping.is_cancelled() {
        let why = "the server is stopping";
        return Err(Failure::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "stopped",
            why,
        ));
    }
    let (out, written) = mpsc::channel(QUEUE);
    chat.track(tell(run, out, stopping));
    let events = stream::unfold(written, |mut written: mpsc::Receiver<Bytes>| async move {
        let next = written.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(next), written))
    });
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // A proxy that gathers what it passes on would hold the events back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

async fn tell(mut run: Run, out: mpsc::Sender<Bytes>, stopping: CancellationToken) {
    let mut over = pin!(end_of_credentials(&run.caller));
    let mut alive = interval(ALIVE);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    alive.reset();
    let input = &run.input;
    let begun = run
        .translator
        .begin(&input.run, &input.state, &input.open_calls);
    if write(&out, &begun).await.is_none() {
        return;
    }
    let outcome = loop {
        tokio::select! {
            message = run.connection.next() => {
                let events = run.translator.take(&message);
                if write(&out, &events).await.is_none() {
                    return;
                }
                if let Some(outcome) = run.translator.outcome() {
                    break outcome;
                }
            }
            _ = alive.tick() => {
                if out.send(Bytes::from_static(b":\n\n")).await.is_err() {
                    return;
                }
            }
            refusal = &mut over => {
                let why = a2a::Error::from(refusal).to_string();
                break Outcome::Error("unauthorized".to_owned(), why);
            }
            () = stopping.cancelled() => {
                let why = "the server is stopping; the task goes on when it runs again";
                break Outcome::Error("stopped".to_owned(), why.to_owned());
            }
            () = out.closed() => return,
        }
    };
    let ended = run.translator.end(&input.run, &input.state, outcome);
    // The client may be gone already.
    let _ = write(&out, &ended).await;
}

/// Writes events. `None`: the client is gone.
async fn write(out: &mpsc::Sender<Bytes>, events: &[Value]) -> Option<()> {
    if events.is_empty() {
        return Some(());
    }
    let text: String = events.iter().map(|it| format!("data: {it}\n\n")).collect();
    out.send(text.into()).await.ok()
}
