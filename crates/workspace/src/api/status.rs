//! `/api/status`: the server itself: its build, since when it runs, its agents and what answers for them.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use axum::routing::get;
use serde_json::{Map, Value, json};

use super::reply::ListedAgent;
use super::{Caller, respond};
use crate::chat::Chat;
use crate::door::AboutServer;

/// What is known of a local model server that is not used: a sentence about how to use it.
pub type OfferedModel = Arc<dyn Fn() -> Option<String> + Send + Sync>;

#[derive(Clone)]
struct Status {
    chat: Chat,
    about: AboutServer,
    agents: Arc<[ListedAgent]>,
    started: String,
    offered: OfferedModel,
}

/// The route of `/api/status`.
pub fn routes(
    chat: Chat,
    about: AboutServer,
    agents: Vec<ListedAgent>,
    offered: OfferedModel,
) -> Router {
    Router::new()
        .route("/api/status", get(show))
        .with_state(Status {
            chat,
            about,
            agents: agents.into(),
            started: memory::format_time(crate::chat::show::now()),
            offered,
        })
}

async fn show(State(status): State<Status>, caller: Caller) -> Response<Body> {
    let parts = status.chat.parts();
    let agents = status.agents.iter();
    let agents = agents.filter(|it| parts.rights.agent(&caller, Some(&it.id)).is_ok());
    let agents: Vec<&ListedAgent> = agents.collect();
    let models: Vec<Value> = agents
        .iter()
        .map(|it| json!({ "agent": it.id, "model": (parts.about)(&it.id).model }))
        .collect();
    let mut shown = Map::from_iter([
        ("build".to_owned(), json!(status.about.build)),
        ("version".to_owned(), json!(status.about.version)),
        ("started".to_owned(), json!(status.started)),
        ("models".to_owned(), json!(models)),
        ("agents".to_owned(), json!(agents)),
    ]);
    if let Some(says) = (status.offered)() {
        shown.insert("ollama".to_owned(), json!({ "says": says }));
    }
    respond(Ok(shown))
}
