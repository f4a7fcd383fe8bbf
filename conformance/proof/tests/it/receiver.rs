//! A webhook of the tests' own, on a real socket.

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Takes what is posted to it. It is gone when dropped.
pub(crate) struct Receiver {
    pub(crate) url: String,
    got: mpsc::UnboundedReceiver<(HeaderMap, Value)>,
    serving: JoinHandle<()>,
}

impl Receiver {
    pub(crate) async fn open() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let (sender, got) = mpsc::unbounded_channel();
        let router = Router::new().route("/hook", post(take)).with_state(sender);
        let serving = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, got, serving }
    }

    /// What is posted, up to the end of the task.
    pub(crate) async fn bodies(&mut self) -> Vec<Value> {
        let mut bodies = Vec::new();
        loop {
            let (_, body) = self.got.recv().await.unwrap();
            let ends = state(&body).is_some_and(|state| state == "COMPLETED");
            bodies.push(body);
            if ends {
                return bodies;
            }
        }
    }

    /// The states that it hears of, until one that ends the task. Each delivery must bear the token.
    pub(crate) async fn states(&mut self, token: &str) -> Vec<String> {
        let mut states = Vec::new();
        while states.last().is_none_or(|state| state != "COMPLETED") {
            let (headers, body) = self.got.recv().await.unwrap();
            assert_eq!(headers["x-a2a-notification-token"], token, "{body}");
            states.extend(state(&body));
        }
        states
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn take(
    State(taken): State<mpsc::UnboundedSender<(HeaderMap, Value)>>,
    headers: HeaderMap,
    body: axum::body::Bytes,
) -> StatusCode {
    match serde_json::from_slice(&body) {
        // The test may be over.
        Ok(body) => drop(taken.send((headers, body))),
        Err(_) => return StatusCode::BAD_REQUEST,
    }
    StatusCode::NO_CONTENT
}

/// The state that a delivery speaks of, in the words of either version: 1.0 posts events, 0.3 the task.
fn state(body: &Value) -> Option<String> {
    let new = ["task", "statusUpdate"].map(|kind| &body[kind]["status"]["state"]);
    let state = new.into_iter().chain([&body["status"]["state"]]);
    let state = state.filter_map(Value::as_str).next()?;
    Some(
        state
            .trim_start_matches("TASK_STATE_")
            .to_uppercase()
            .replace('-', "_"),
    )
}
