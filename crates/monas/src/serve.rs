//! What a server is composed of.
//!
//! Layout:
//! - `compose`: constructs everything from the configuration
//! - `agents`: the agents of a server; `agents/host` gives them memory, files and each other
//! - `door`: authentication; `signing`: the key that signs the card
//! - `large`: large bodies below `/api`
//! - `page`, `metrics`, `operator`: the page at `/`, `/metrics`, and the routes below `/operator`
//! - [`mcp`]: the agent's skills over MCP; `tools`: tools of other MCP servers that the agent uses
//! - `models`: the models of the configuration
//! - [`demo`]: the small agent of `--demo`

pub(crate) mod agents;
pub(crate) mod compose;
pub mod demo;
pub(crate) mod door;
mod large;
pub mod mcp;
mod metrics;
pub(crate) mod models;
pub(crate) mod operator;
mod page;
pub(crate) mod signing;
pub(crate) mod tools;
