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

/// The name of the rules that answer where there is no model.
const RULES: &str = "rules";

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
            if let Ok(status) = handle.status().await {
                agent.paused = status.paused;
                let state = serde_json::to_value(status.state).unwrap_or_default();
                agent.state = state.as_str().map(str::to_owned);
            }
            let model = listing.population.model_name(&agent.id);
            agent.model = Some(model).filter(|it| it != RULES);
        }
        agents.push(agent);
    }
    respond(Ok(AgentList { agents }))
}
