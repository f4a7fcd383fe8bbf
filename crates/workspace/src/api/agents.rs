//! `/api/agents`: the agents of a server, those that the caller may use.

use std::sync::Arc;

use agent::Population;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::Response;
use axum::routing::get;

use super::reply::{AgentList, ListedAgent};
use super::{Caller, Rights, respond};

/// The route of `/api/agents`. `agents` are those that are served, or that the configuration names.
pub fn routes(population: Population, rights: Rights, agents: Vec<ListedAgent>) -> Router {
    let state = Listing {
        population,
        rights,
        agents: agents.into(),
    };
    Router::new()
        .route("/api/agents", get(list))
        .with_state(state)
}

#[derive(Clone)]
struct Listing {
    population: Population,
    rights: Rights,
    agents: Arc<[ListedAgent]>,
}

async fn list(State(listing): State<Listing>, caller: Caller) -> Response<Body> {
    let mut agents = Vec::new();
    for agent in listing.agents.iter() {
        if listing.rights.agent(&caller, Some(&agent.id)).is_err() {
            continue;
        }
        let mut agent = agent.clone();
        if let Ok(handle) = listing.population.find(&agent.id).await {
            agent.paused = handle.status().await.is_ok_and(|it| it.paused);
        }
        agents.push(agent);
    }
    respond(Ok(AgentList { agents }))
}
