//! A task server with an agent of skills, and short ways to call it.

use std::ops::Deref;
use std::sync::Arc;

use a2a::server::Config;
use agent::{Agent, Manifest, Options};
use serde_json::{Value, json};
use skill::Registry;
pub(crate) use skills::{Approval, Shop, greet, registry};
use store::Store;
use testkit::Kit;
pub(crate) use testkit::{fresh_id as id, state, status_text as said};

#[path = "../../../../skill/tests/it/support.rs"]
mod skills;

/// An agent with these skills behind a task server.
pub(crate) struct Bench {
    kit: Kit,
}

/// The tables of a store that has tasks and agents.
pub(crate) fn tables() -> Vec<&'static store::Table> {
    [a2a::server::TABLES, agent::TABLES].concat()
}

impl Bench {
    pub(crate) async fn with(skills: Registry) -> Self {
        let mut options = Options::default();
        options.skills = skills;
        Self::of(Agent::create(Manifest::new("Test"), options).unwrap()).await
    }

    pub(crate) async fn of(agent: Agent) -> Self {
        Self::on(agent, Store::memory(&tables())).await
    }

    pub(crate) async fn on(agent: Agent, store: Store) -> Self {
        let config = Config::new(agent.card());
        let kit = Kit::start(config, Arc::new(agent), store).await;
        Self { kit }
    }
}

impl Deref for Bench {
    type Target = Kit;

    fn deref(&self) -> &Kit {
        &self.kit
    }
}

pub(crate) fn approved() -> Option<Value> {
    Some(json!({ "approved": true }))
}
