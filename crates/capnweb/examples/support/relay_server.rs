//! The routes of the relay: two WebSockets for each token, joined to each other, and their statistics.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use capnweb::transport::websocket;
use capnweb::{Connection, Options, OriginPolicy, relay};
use parking_lot::Mutex;

/// More pairs than this are refused until some have ended.
const MOST_PAIRS: usize = 10_000;

/// A relay without any pairs yet.
pub(crate) fn router() -> Router {
    Router::new()
        .route("/relay/{token}/stats", get(stats))
        .route("/relay/{token}/{side}", get(join))
        .with_state(Pairs::default())
}

/// The pairs that are waiting or joined, by token.
#[derive(Clone, Default)]
struct Pairs(Arc<Mutex<HashMap<String, Pair>>>);

#[derive(Default)]
struct Pair {
    a: Side,
    b: Side,
}

#[derive(Default)]
enum Side {
    #[default]
    Absent,
    /// Made together with the other side, not connected yet.
    Waiting(Connection),
    Connected(Connection),
    Gone,
}

impl Pairs {
    /// Hands out the session of one side; `None` when it is taken.
    fn connect(&self, token: &str, name: &str) -> Option<Connection> {
        let mut pairs = self.0.lock();
        if !pairs.contains_key(token) {
            if pairs.len() >= MOST_PAIRS {
                return None;
            }
            let (a, b) = relay(&Options::default());
            pairs.insert(
                token.to_owned(),
                Pair {
                    a: Side::Waiting(a),
                    b: Side::Waiting(b),
                },
            );
        }
        let side = pairs.get_mut(token)?.side(name)?;
        match std::mem::take(side) {
            Side::Waiting(connection) => {
                *side = Side::Connected(connection.clone());
                Some(connection)
            }
            other => {
                *side = other;
                None
            }
        }
    }

    /// Forgets a side that has ended, and the pair when neither is connected.
    fn leave(&self, token: &str, name: &str) {
        let mut pairs = self.0.lock();
        let Some(pair) = pairs.get_mut(token) else {
            return;
        };
        let left = pair
            .side(name)
            .map(|side| std::mem::replace(side, Side::Gone));
        let over = !matches!(pair.a, Side::Connected(_)) && !matches!(pair.b, Side::Connected(_));
        let removed = if over { pairs.remove(token) } else { None };
        drop(pairs);
        drop((left, removed));
    }
}

impl Pair {
    fn side(&mut self, name: &str) -> Option<&mut Side> {
        match name {
            "a" => Some(&mut self.a),
            "b" => Some(&mut self.b),
            _ => None,
        }
    }
}

impl Side {
    fn stats(&self) -> String {
        match self {
            Self::Connected(connection) => {
                let stats = connection.stats();
                format!(
                    r#"{{"imports":{},"exports":{}}}"#,
                    stats.imports, stats.exports
                )
            }
            Self::Absent | Self::Waiting(_) | Self::Gone => "null".to_owned(),
        }
    }
}

async fn join(
    State(pairs): State<Pairs>,
    Path((token, side)): Path<(String, String)>,
    headers: HeaderMap,
    upgrade: websocket::Upgrade,
) -> Response {
    if !OriginPolicy::Same.allows(&headers) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let Some(connection) = pairs.connect(&token, &side) else {
        return (
            StatusCode::CONFLICT,
            "this side is taken, unknown, or there are too many pairs",
        )
            .into_response();
    };
    let session = connection.clone();
    tokio::spawn(async move {
        session.closed().await;
        pairs.leave(&token, &side);
    });
    upgrade.serve(connection, websocket::Settings::default())
}

async fn stats(State(pairs): State<Pairs>, Path(token): Path<String>) -> Response {
    let pairs = pairs.0.lock();
    let text = match pairs.get(&token) {
        Some(pair) => format!(r#"{{"a":{},"b":{}}}"#, pair.a.stats(), pair.b.stats()),
        None => r#"{"a":null,"b":null}"#.to_owned(),
    };
    ([(CONTENT_TYPE, "application/json")], text).into_response()
}
