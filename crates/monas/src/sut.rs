//! The agent that conformance suites and measurements drive ("system under test").
//!
//! How a message begins decides what the agent does: its id, else the text of its first part. None of
//! it is in the agent that `monas serve` serves.

use std::sync::Arc;
use std::time::Duration;

use a2a::server::{AfterRestart, Agent, Failure, Turn};
use a2a::types::{AgentCard, AgentSkill, Part, Task};
use agent::{CreateError, Options};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use futures_core::future::BoxFuture;
use skill::Manifest;
use store::Store;

use crate::serve::demo;
use crate::serve::mcp::Site;

pub mod client;
mod mcp;
mod script;
mod skills;

/// The agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sut {
    /// How long the suite waits for a stream.
    pub timeout: Duration,
}

impl Default for Sut {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(2),
        }
    }
}

impl Agent for Sut {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        let timeout = self.timeout;
        Box::pin(async move {
            let message = turn.message();
            let text = message
                .parts
                .first()
                .and_then(Part::as_text)
                .unwrap_or_default();
            let continues = turn.task().is_some();
            match script::find(&message.message_id, text) {
                Some(steps) if continues && script::asks(steps) => turn.complete().await?,
                Some(steps) => {
                    for step in steps {
                        // A task that is cancelled meanwhile is over.
                        if step.perform(&turn, timeout).await.is_err() {
                            break;
                        }
                    }
                }
                None => match demo::Wish::of(text) {
                    Some(wish) => wish.fulfil(&turn).await?,
                    None => turn.complete().await?,
                },
            }
            Ok(())
        })
    }

    fn after_restart(&self, task: &Task) -> AfterRestart {
        demo::after_restart(task)
    }
}

impl Sut {
    /// The agent with its skills; what names none of them is answered by the script.
    pub(crate) fn agent(self) -> Result<agent::Agent, CreateError> {
        let mut manifest = Manifest::new("Monas under test")
            .describe("Does what conformance suites and measurements ask for.");
        env!("CARGO_PKG_VERSION").clone_into(&mut manifest.version);
        let mut options = Options::default();
        options.skills = mcp::skills(skills::all()?)?;
        options.answerer = Some(Arc::new(self));
        agent::Agent::create(manifest, options)
    }
}

/// Offers over MCP what suites look for, beside skills.
pub(crate) fn serve_mcp(site: &Site<'_>, handler: ::mcp::Handler) -> ::mcp::Http {
    site.serve(mcp::Fixtures::beside(handler))
}

/// What the agent says about itself to everyone.
pub(crate) fn card(agent: &agent::Agent) -> AgentCard {
    let mut card = agent.card();
    card.capabilities
        .get_or_insert_default()
        .extended_agent_card = Some(true);
    let modes = [
        "text/plain",
        "application/json",
        "application/octet-stream",
        "image/*",
    ];
    card.default_input_modes = modes.map(str::to_owned).to_vec();
    card.default_output_modes = card.default_input_modes.clone();
    card
}

/// What it says to those who ask for more.
pub(crate) fn extended(card: &AgentCard) -> AgentCard {
    let mut card = card.clone();
    card.skills.push(AgentSkill {
        id: "script".to_owned(),
        name: "Script".to_owned(),
        description: "Does what the beginning of a message's id or text asks for.".to_owned(),
        tags: vec!["conformance".to_owned()],
        ..AgentSkill::default()
    });
    card
}

/// What the journal has done so far, for measurements.
pub(crate) fn routes(store: Store) -> Router {
    let counters = async move || {
        let stats = store.stats();
        let counters = serde_json::json!({
            "commits": stats.commits, "batches": stats.batches, "events": stats.events
        });
        ([(CONTENT_TYPE, "application/json")], counters.to_string())
    };
    Router::new().route("/sut/store", get(counters))
}
