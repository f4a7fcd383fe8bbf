//! The agent that conformance suites and measurements drive (system under test).
//!
//! The beginning of a message decides what the agent does: of its id, else of the text of its first part. The agent of
//! `monas serve` knows nothing of this.
//!
//! Layout:
//! - `command`: the command line of the program `sut`
//! - `script`: what each beginning does; `skills`: skills with the behaviours that clients are tested for
//! - `mcp`: the tools, resources and prompts that the suites of MCP look for
//! - [`client`]: `sut client URL`, which calls the tools of a suite's own server

use std::sync::Arc;
use std::time::Duration;

use a2a::server::{AfterRestart, Agent, Failure, Turn};
use a2a::types::{AgentCard, AgentSkill, Part, Task};
use agent::{CreateError, Manifest, Options};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use futures_core::future::BoxFuture;
use store::Store;

use monas::serve::demo;
use monas::serve::mcp::Endpoint;
use monas::{Agents, Config, Error, Serve, Server};

pub mod client;
pub mod command;
mod mcp;
mod script;
mod skills;

/// The agent, which answers by the beginning of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sut {
    /// How long the suite waits for a stream.
    pub timeout: Duration,
    /// Whether the card says that parts of every media type are taken.
    pub any_input: bool,
}

impl Default for Sut {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(2),
            any_input: false,
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
                None => match demo::Request::parse(text) {
                    Some(request) => request.perform(&turn).await?,
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
    /// A server with this agent, to be started.
    pub fn serve(self) -> Result<Serve, Error> {
        let agent = self.agent()?;
        let mut card = card(&agent);
        if self.any_input {
            card.default_input_modes.push("*/*".to_owned());
        }
        let mut served = a2a::server::Config::new(card);
        served.label = "sut".to_owned();
        served.extended_card = Some(extended(&served.card));
        let agents = Agents::from(agent).with_any_tenant();
        Ok(Serve::new(agents)
            .served(served)
            .routes(routes)
            .mcp(serve_mcp))
    }

    /// Starts a server with this agent.
    pub async fn start(self, config: &Config) -> Result<Server, Error> {
        self.serve()?.start(config).await
    }

    /// The agent with its skills; what names none of them is answered by the script.
    fn agent(self) -> Result<agent::Agent, CreateError> {
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
fn serve_mcp(endpoint: &Endpoint<'_>, handler: ::mcp::Handler) -> ::mcp::Http {
    endpoint.serve(mcp::Fixtures::beside(handler))
}

/// What the agent says about itself to everyone.
fn card(agent: &agent::Agent) -> AgentCard {
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
fn extended(card: &AgentCard) -> AgentCard {
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
fn routes(store: &Store) -> Router {
    let store = store.clone();
    let counters = async move || {
        let stats = store.stats();
        let counters = serde_json::json!({
            "commits": stats.commits, "batches": stats.batches, "events": stats.events
        });
        ([(CONTENT_TYPE, "application/json")], counters.to_string())
    };
    Router::new().route("/sut/store", get(counters))
}
