//! The Monas server: configuration, composition, one listener, command line.
//!
//! Layout, in the order in which a process comes to life:
//! - [`mod@app`]: a program of one's own: skills, and everything around them
//! - [`program`]: the process: started, told to stop, ended
//! - [`command`], [`config`]: what the user asks for, from flags, environment and `monas.toml`
//! - [`log`], `signals`: what it says, and what it is told
//! - [`compose`]: everything is constructed here and nowhere else
//! - [`listen`]: one port: both versions of HTTP, TLS, Host and Origin, limits, graceful stop
//! - `page`: the page at `/`
//! - [`operator`]: what an operator asks of a running server, at its addresses and by the command line
//! - [`door`]: who is let in
//! - [`memory`]: what an agent remembers, from the command line
//! - `mcp`: the agent's skills over MCP, as this server is configured
//! - `tools`: the tools of other servers that the agent uses
//! - [`models`]: the models of the configuration, and weights
//! - [`signing`]: the key that signs the card
//! - [`cli`]: the program as a client of any agent
//! - [`tap`]: the frames of a Cap'n Web session, shown as they pass
//! - [`testkit`]: an agent in the test's own process, called over any wire
//! - [`demo`], [`sut`]: the agent that is served, and the one that conformance suites drive

pub mod agents;
pub mod app;
pub mod cli;
pub mod command;
pub mod compose;
pub mod config;
pub mod demo;
pub mod door;
mod error;
pub mod life;
pub mod listen;
mod lives;
pub mod log;
mod mcp;
pub mod memory;
mod metrics;
pub mod models;
pub mod operator;
mod page;
pub mod program;
mod signals;
pub mod signing;
mod site;
pub mod sut;
pub mod tap;
pub mod testkit;
mod tools;

pub use agents::Agents;
pub use app::{App, app};
pub use compose::Server;
pub use config::Config;
pub use error::Error;
