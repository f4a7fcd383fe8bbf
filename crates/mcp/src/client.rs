//! Uses the tools of other MCP servers as skills.
//!
//! Each allowed tool of a server becomes an ordinary skill under an id that we make; the server's own name for the tool is
//! kept as the skill's origin and used on the wire. A tool server is not trusted: what it sends has limits, the texts it
//! sends are cleaned before they are shown, and its faults affect its own tools only.
//!
//! Layout:
//! - `config`: reads `mcp.json`
//! - `peer`: the connection to one server; `program` and `http`: the two transports
//! - `host`: the client side that a server sees: relays its questions and its progress to the skill that called it
//! - `call`: one call of a tool
//! - `tool`, `id`, `content`: the definition of a tool as a skill, its id, and its results

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use dial::Dialer;
use futures_util::future::join_all;
use skill::{Registry, ToolServer};

mod call;
mod clean;
mod config;
mod content;
mod host;
mod http;
mod id;
mod peer;
mod program;
mod tool;

pub use config::{ConfigError, expand, servers};
pub use peer::ConnectError;

use crate::limits::ToolLimits;
use peer::Peer;

/// The tool servers of one agent. Clones share one state.
///
/// The life of a tool server, which `Peer` keeps:
/// 1. [`new`](Self::new) connects to nothing. A server that is disabled is left out.
/// 2. [`tools`](Self::tools) connects to all servers at the same time, lists their tools and makes skills of them. A
///    server that fails is reported in [`Tools::problems`], and the agent is made without its tools. The list is read
///    once: tools that a server adds later are not seen.
/// 3. A call uses the connection, or makes a new one if it was lost: the program is started again, or the session opened
///    again. A request that may have reached the server is not repeated, since its tool may have side effects; the call
///    fails with `tool-server` instead.
/// 4. After a connection failed, calls fail with the same error for [`ToolLimits::pause`], so that a broken server is
///    not started for every call.
/// 5. [`close`](Self::close) ends all connections; programs get [`ToolLimits::grace`] to exit and are then killed.
///    Calls after that fail. A value that is dropped without it kills its programs at once.
///
/// Connections are not made at the first call, because the skills must be known when the agent is made: they are part of
/// its card, and the law refers to them by id.
#[derive(Clone)]
pub struct ToolServers {
    peers: Vec<Arc<Peer>>,
}

/// The skills that [`ToolServers::tools`] made, and what it could not use.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Tools {
    /// Skills that callers may use.
    pub offered: Registry,
    /// Skills that only the agent's other skills may use.
    pub hidden: Registry,
    /// Servers and tools that are missing, with the reason.
    pub problems: Vec<ToolProblem>,
}

/// A tool, or all tools of a server, cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolProblem {
    /// The server cannot be reached, or listing its tools failed.
    #[error("no tools from server {server:?}: {source}")]
    Unreachable {
        server: String,
        source: ConnectError,
    },
    /// The tool cannot be a skill: its name, definition or id is not acceptable.
    #[error("tool {tool:?} of server {server:?} not usable: {problem}")]
    Unusable {
        server: String,
        tool: String,
        problem: String,
    },
    /// The configuration allows a tool that the server does not have.
    #[error("server {server:?} has no tool {tool:?}, which its allow list names")]
    Missing { server: String, tool: String },
}

impl ToolServers {
    /// These servers. `environment` is what every program needs, such as `PATH`: a program that is started gets these
    /// variables and those of its own entry, and none of ours. `dialer` makes the connections to servers with an address.
    pub fn new(
        servers: &BTreeMap<String, ToolServer>,
        environment: &BTreeMap<String, String>,
        limits: &ToolLimits,
        dialer: &Dialer,
    ) -> Self {
        let used = servers.iter().filter(|(_, server)| !server.disabled);
        let peers = used
            .map(|(name, server)| Arc::new(Peer::new(name, server, environment, limits, dialer)));
        Self {
            peers: peers.collect(),
        }
    }

    /// Whether no server is enabled.
    pub fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// Connects to the servers and makes skills of their tools, under ids that neither `skills` nor `reserved` has.
    pub async fn tools(&self, skills: &Registry, reserved: &[&str]) -> Tools {
        let listed = join_all(self.peers.iter().map(|peer| peer.tools())).await;
        let mut problems = Vec::new();
        let mut found = Vec::new();
        for (peer, listed) in self.peers.iter().zip(listed) {
            let server = peer.name().to_owned();
            match listed {
                Ok(tools) => found.extend(tool::usable(peer, tools, &mut problems)),
                Err(source) => problems.push(ToolProblem::Unreachable { server, source }),
            }
        }
        let mut tools = Tools {
            problems,
            ..Tools::default()
        };
        let taken = |id: &str| skills.get(id).is_some() || reserved.contains(&id);
        tool::add(&found, taken, &mut tools);
        tools
    }

    /// Ends the connections and the programs that were started. The composition that made them calls it last.
    pub async fn close(&self) {
        join_all(self.peers.iter().map(|peer| peer.close())).await;
    }
}

impl fmt::Debug for ToolServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.peers.iter().map(|peer| peer.name());
        f.debug_list().entries(names).finish()
    }
}
