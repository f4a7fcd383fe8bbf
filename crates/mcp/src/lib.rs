//! Serves skills as MCP tools, and uses the tools of other MCP servers as skills.
//!
//! A `tools/call` becomes an A2A message that names a skill, so its work is a task in the journal: it can be followed,
//! answered and cancelled over A2A too. The skill itself sees nothing of MCP.
//!
//! ```no_run
//! # async fn serve(tasks: a2a::Server, agent: agent::Agent) {
//! use std::sync::Arc;
//!
//! let config = mcp::Config::new(agent.skills().clone(), Arc::new(tasks));
//! let http = mcp::Http::new(mcp::Handler::new(config), mcp::HttpConfig::default());
//! let router: axum::Router = http.routes();
//! # let _ = router;
//! # }
//! ```
//!
//! Every revision of MCP is served at one address: 2026-07-28, where each request carries all it needs, and those from
//! 2024-11-05 to 2025-11-25 with their sessions. The transport of 2024-11-05 has addresses of its own.
//!
//! Layout:
//! - [`Handler`], [`Config`]: the requests of MCP, answered from skills and tasks
//! - `server/tool`, `server/call`, `server/outcome`: a skill as a tool, a call, and the result of a call
//! - `server/question`, `server/state`, `server/task`: questions of a skill as forms, and calls that outlive their request
//! - `server/resource`, `server/prompt`: tasks and artifacts as resources, examples of skills as prompts
//! - [`Http`], [`stdio`], [`lines`]: the transports, in front of a [`Responder`]; `server` says how they are made
//! - [`relay`]: standard input and output, passed on to a server over HTTP
//! - [`ToolServers`]: the tools of other servers, as skills
//! - [`Limits`], [`ToolLimits`]: sizes, counts and time limits

mod client;
mod limits;
mod relay;
mod server;

pub use client::{
    ConfigError, ConnectError, SignIns, ToolProblem, ToolServers, Tools, expand, plan, servers,
};
pub use limits::{Limits, ToolLimits};
pub use relay::{RelayTarget, relay};
pub use server::http::{Http, HttpConfig, PATH, refusal};
pub use server::request::{Answering, Identity, Request, RequestResult, Responder};
pub use server::revision::{ClientInfo, Revision};
pub use server::rpc::{Id, RpcError, code};
pub use server::stdio::{lines, stdio};
pub use server::{Config, Handler, METHODS, random_key};
