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
//! Two revisions of MCP are served at one address: 2026-07-28, where every request carries all it needs, and 2025-11-25
//! with its sessions.
//!
//! Layout:
//! - [`Handler`], [`Config`]: the requests of MCP, answered from skills and tasks
//! - `server/tool`, `server/call`, `server/outcome`: a skill as a tool, a call, and the result of a call
//! - `server/question`, `server/task`: questions of a skill as forms, and calls that outlive their request
//! - `server/resource`, `server/prompt`: tasks and artifacts as resources, examples of skills as prompts
//! - [`Http`], [`stdio`], [`lines`]: the transports; `server/session` tracks the open requests of each session
//! - [`ToolServers`]: the tools of other servers, as skills
//! - [`Limits`], [`ToolLimits`]: sizes, counts and time limits

mod client;
mod limits;
mod server;

pub use client::{ConfigError, ConnectError, ToolProblem, ToolServers, Tools, expand, servers};
pub use limits::{Limits, ToolLimits};
pub use rmcp;
pub use server::http::{Http, HttpConfig, PATH, refusal};
pub use server::stdio::{lines, stdio};
pub use server::{Config, Handler, random_key};
