//! Others' MCP tools, taken in as skills.
//!
//! A server of tools is connected to when its tools are listed, and again when one is called and the connection is
//! gone. Each of its tools that is allowed becomes an ordinary skill under an id of ours; the server's own name for it
//! is kept as its origin and used on the wire. Nothing a server says is believed further than that: what it sends has
//! limits, what it calls itself is cleaned, and what it does wrong concerns its own tools alone.
//!
//! Layout:
//! - `config`: what other hosts write in `mcp.json`
//! - `peer`: the connection to one server; `program` and `http`: the two ways to one
//! - `host`: us, as a server sees us: who is asked, and who is told how far it is
//! - `call`: one call, from the first request to the last answer
//! - `tool`, `id`, `content`: a tool as a skill, what it is called, and what it gives

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use futures_util::future::{BoxFuture, join_all};
use skill::{Outside, Registry, ToolServer};

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

/// Servers of tools. Clones are the same.
#[derive(Clone)]
pub struct ToolServers {
    peers: Vec<Arc<Peer>>,
}

/// The tools of servers, as skills.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Tools {
    /// Those that callers are offered.
    pub offered: Registry,
    /// Those that are for the agent's own skills.
    pub hidden: Registry,
    /// What is not there, and why.
    pub problems: Vec<Problem>,
}

/// Something that is not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A server cannot be reached, or does not list its tools.
    #[error("the tools of {server:?} are not there: {source}")]
    Unreachable {
        /// Which server.
        server: String,
        /// Why.
        source: ConnectError,
    },
    /// A tool cannot be a skill.
    #[error("the tool {tool:?} of {server:?} is not there: {problem}")]
    Unusable {
        /// Which server.
        server: String,
        /// Which tool.
        tool: String,
        /// Why.
        problem: String,
    },
    /// A tool is allowed, and the server does not have it.
    #[error("{server:?} has no tool {tool:?}, which is allowed")]
    Missing {
        /// Which server.
        server: String,
        /// Which tool.
        tool: String,
    },
}

impl ToolServers {
    /// These servers. `environment` is what every program needs, such as `PATH`: a program that is started sees it,
    /// what its own entry says, and nothing else.
    pub fn new(
        servers: &BTreeMap<String, ToolServer>,
        environment: &BTreeMap<String, String>,
        limits: &ToolLimits,
    ) -> Self {
        let used = servers.iter().filter(|(_, server)| !server.disabled);
        let peers =
            used.map(|(name, server)| Arc::new(Peer::new(name, server, environment, limits)));
        Self {
            peers: peers.collect(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// Their tools, under ids that are not among those of `skills`. One server that is not there does not keep the
    /// others away.
    pub async fn tools(&self, skills: &Registry) -> Tools {
        let listed = join_all(self.peers.iter().map(|peer| peer.tools())).await;
        let mut problems = Vec::new();
        let mut found = Vec::new();
        for (peer, listed) in self.peers.iter().zip(listed) {
            let server = peer.name().to_owned();
            match listed {
                Ok(tools) => found.extend(tool::usable(peer, tools, &mut problems)),
                Err(source) => problems.push(Problem::Unreachable { server, source }),
            }
        }
        let mut tools = Tools {
            problems,
            ..Tools::default()
        };
        tool::add(&found, skills, &mut tools);
        tools
    }
}

impl Outside for ToolServers {
    fn close(&self) -> BoxFuture<'_, ()> {
        let closing = self.peers.iter().map(|peer| peer.close());
        let closed = join_all(closing);
        Box::pin(async { drop(closed.await) })
    }
}

impl fmt::Debug for ToolServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.peers.iter().map(|peer| peer.name());
        f.debug_list().entries(names).finish()
    }
}
