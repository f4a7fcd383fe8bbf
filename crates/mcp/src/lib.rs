//! Skills over MCP, and others' MCP tools as skills.
//!
//! To call a tool is to call a skill, and what comes of it is a task of the one journal: it can be watched,
//! answered and cancelled over A2A, too, and nothing of the protocol reaches the skill.
//!
//! ```no_run
//! # async fn serve(tasks: a2a::Server, agent: skill::Agent) {
//! use std::sync::Arc;
//!
//! let config = mcp::Config::new(agent.skills().clone(), Arc::new(tasks));
//! let http = mcp::Http::new(mcp::Handler::new(config), mcp::HttpConfig::default());
//! let router: axum::Router = http.routes();
//! # let _ = router;
//! # }
//! ```
//!
//! Both wires are at one address: revision 2026-07-28, where every request stands alone, and 2025-11-25 with its
//! sessions.
//!
//! Layout:
//! - [`Handler`], [`Config`]: the requests of MCP, answered from skills and tasks
//! - `server/tool`, `server/call`, `server/outcome`: what a tool is, how it is called, and what is said of the end
//! - `server/question`, `server/task`: what a skill asks, and work that outlives its request
//! - `server/resource`, `server/prompt`: tasks, artifacts and examples
//! - [`Http`], [`stdio`], [`lines`]: the ways in; `server/session` knows which requests of a session are under way
//! - [`ToolServers`]: the tools of other servers, as skills
//! - [`Limits`], [`ToolLimits`]: how much of everything

mod client;
mod limits;
mod server;

pub use client::{ConfigError, ConnectError, Problem, ToolServers, Tools, expand, servers};
pub use limits::{Limits, ToolLimits};
pub use rmcp;
pub use server::http::{Http, HttpConfig, PATH, complaint as refusal};
pub use server::stdio::{lines, stdio};
pub use server::{Config, Handler};
