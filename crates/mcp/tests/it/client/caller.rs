//! An agent with the tools of servers as its skills, and shortcuts to call them.

use std::collections::BTreeMap;
use std::sync::Arc;

use a2a::types::{Task, TaskState};
use agent::{Agent, Manifest, Options};
use mcp::{ToolLimits, ToolProblem, ToolServers};
use serde_json::{Value, json};
use skill::{Definition, Registry, ToolServer};
use testkit::{Kit, memory_store, output, state, status_text};

use crate::support;

/// An agent with the tools of servers and no other skills.
pub(crate) struct Caller {
    pub(crate) tools: Registry,
    pub(crate) problems: Vec<String>,
    pub(crate) agent: Agent,
    kit: Kit,
}

impl Caller {
    /// An agent with the tools of one server, named `box`.
    pub(crate) async fn with(server: ToolServer, limits: &ToolLimits) -> Self {
        Self::of(&BTreeMap::from([("box".to_owned(), server)]), limits).await
    }

    pub(crate) async fn of(servers: &BTreeMap<String, ToolServer>, limits: &ToolLimits) -> Self {
        let path = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
        let servers = ToolServers::new(servers, &path, limits, &dial::Dialer::default());
        let mut options = Options::default();
        options.skills = support::skills();
        let found = servers.tools(&options.skills, &[]).await;
        options.tools = found.offered.clone();
        options.hidden_tools = found.hidden;
        options.on_close = vec![Arc::new(move || {
            let servers = servers.clone();
            Box::pin(async move { servers.close().await })
        })];
        let agent = Agent::create(Manifest::new("Caller"), options).unwrap();
        let config = a2a::server::Config::new(agent.card());
        let kit = Kit::start(config, Arc::new(agent.clone()), memory_store());
        Self {
            tools: found.offered,
            problems: found.problems.iter().map(ToolProblem::to_string).collect(),
            agent,
            kit: kit.await,
        }
    }

    pub(crate) fn ids(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| &*tool.id).collect()
    }

    pub(crate) fn tool(&self, id: &str) -> &Definition {
        self.tools.get(id).unwrap()
    }

    /// Calls a tool and waits until its task is at rest.
    pub(crate) async fn call(&self, tool: &str, input: Value) -> Task {
        self.kit.call(tool, input).await.unwrap()
    }

    /// Calls a tool that succeeds, and returns its output.
    pub(crate) async fn gives(&self, tool: &str) -> Value {
        let task = self.call(tool, json!({})).await;
        assert_eq!(state(&task), TaskState::Completed, "{task:?}");
        output(&task).unwrap()
    }

    /// Calls a tool that fails, and returns the code and the message.
    pub(crate) async fn fails(&self, tool: &str) -> (String, String) {
        let task = self.call(tool, json!({})).await;
        assert_eq!(state(&task), TaskState::Failed, "{task:?}");
        (
            skill::extension::failure_code(&task).unwrap(),
            status_text(&task),
        )
    }
}
