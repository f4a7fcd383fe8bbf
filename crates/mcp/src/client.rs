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
//! - `sign_in`: tokens for servers that ask for them
//! - `call`: one call of a tool
//! - `tool`, `id`, `content`: the definition of a tool as a skill, its id, and its results

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use access::Secrets;
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
mod sign_in;
mod tool;

pub use config::{ConfigError, expand, servers};
pub use peer::ConnectError;
pub use sign_in::{SignIns, plan};

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
    #[error(
        "no tools from server {server:?} at {place}: {source}; start it or correct its entry, then start the agent again"
    )]
    Unreachable {
        server: String,
        /// Its address, or the command that starts it.
        place: String,
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
    /// These servers; none is signed in to. `environment` is what every program needs, such as `PATH`: a program that is started gets these
    /// variables and those of its own entry, and none of ours. `dialer` makes the connections to servers with an address.
    pub fn new(
        servers: &BTreeMap<String, ToolServer>,
        environment: &BTreeMap<String, String>,
        limits: &ToolLimits,
        dialer: &Dialer,
    ) -> Self {
        Self::make(servers, environment, limits, dialer, None)
    }

    /// As [`new`](Self::new), with what signs in at servers that ask for tokens.
    pub fn with_sign_ins(
        servers: &BTreeMap<String, ToolServer>,
        environment: &BTreeMap<String, String>,
        limits: &ToolLimits,
        dialer: &Dialer,
        sign_ins: &SignIns,
    ) -> Self {
        Self::make(servers, environment, limits, dialer, Some(sign_ins))
    }

    fn make(
        servers: &BTreeMap<String, ToolServer>,
        environment: &BTreeMap<String, String>,
        limits: &ToolLimits,
        dialer: &Dialer,
        sign_ins: Option<&SignIns>,
    ) -> Self {
        let used = servers.iter().filter(|(_, server)| !server.disabled);
        let peers = used.map(|(name, server)| {
            let sign_in = sign_ins.and_then(|it| it.of(server, dialer));
            Arc::new(Peer::new(
                name,
                server,
                environment,
                limits,
                dialer,
                sign_in,
            ))
        });
        Self {
            peers: peers.collect(),
        }
    }

    /// Sets where the secrets are found that entries name in their headers and variables.
    #[must_use]
    pub fn with_secrets(self, secrets: &Secrets) -> Self {
        for peer in &self.peers {
            peer.use_secrets(secrets);
        }
        self
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
                Err(source) => problems.push(ToolProblem::Unreachable {
                    server,
                    place: peer.place().to_owned(),
                    source,
                }),
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
