//! An agent with the tools of servers as its skills, and shortcuts to call them.

use std::collections::BTreeMap;
use std::sync::Arc;

use a2a::server::TABLES;
use a2a::service::{Call, Service as _};
use a2a::types::{Answer, Task, TaskState};
use access::Principal;
use agent::{Agent, Options};
use mcp::{ToolLimits, ToolProblem, ToolServers};
use serde_json::{Value, json};
use skill::{Definition, Manifest, Registry, ToolServer};
use store::Store;

use crate::support;

/// An agent with the tools of servers and no other skills.
pub(crate) struct Caller {
    pub(crate) tools: Registry,
    pub(crate) problems: Vec<String>,
    pub(crate) agent: Agent,
    tasks: a2a::Server,
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
        let found = servers.tools(&options.skills).await;
        options.tools = found.offered.clone();
        options.hidden_tools = found.hidden;
        options.on_close = vec![Arc::new(move || {
            let servers = servers.clone();
            Box::pin(async move { servers.close().await })
        })];
        let agent = Agent::create(Manifest::new("Caller"), options).unwrap();
        let config = a2a::server::Config::new(agent.card());
        let tasks = a2a::Server::start(config, Arc::new(agent.clone()), Store::memory(TABLES));
        Self {
            tools: found.offered,
            problems: found.problems.iter().map(ToolProblem::to_string).collect(),
            agent,
            tasks: tasks.await.unwrap(),
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
        let id = format!("m-{}", uuid::Uuid::new_v4());
        let message = skill::extension::call(id, tool, input);
        let call = Call::by(Principal::anonymous());
        let sent = self.tasks.send_message(call, message.into()).await;
        match sent.unwrap().payload {
            Answer::Task(task) => task,
            other => panic!("no task: {other:?}"),
        }
    }

    /// Calls a tool that succeeds, and returns its output.
    pub(crate) async fn gives(&self, tool: &str) -> Value {
        let task = self.call(tool, json!({})).await;
        assert_eq!(support::state(&task), TaskState::Completed, "{task:?}");
        skill::extension::output(&task).unwrap()
    }

    /// Calls a tool that fails, and returns the code and the message.
    pub(crate) async fn fails(&self, tool: &str) -> (String, String) {
        let task = self.call(tool, json!({})).await;
        assert_eq!(support::state(&task), TaskState::Failed, "{task:?}");
        let said = task.status.as_ref().unwrap().message.as_ref().unwrap();
        let said = said.parts[0].as_text().unwrap().to_owned();
        (skill::extension::failure_code(&task).unwrap(), said)
    }
}
