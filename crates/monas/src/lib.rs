//! The Monas server: configuration, composition, one listener, command line.
//!
//! Layout:
//! - [`mod@app`]: a program of one's own: skills, and everything around them
//! - `program`: the process: started, told to stop, ended
//! - [`command`]: the subcommands, one file or folder each
//! - [`config`]: the settings, from flags, environment and `monas.toml`
//! - [`log`], `signals`: what the process logs, and the signals it gets
//! - [`serve`]: what a server is composed of
//! - [`listen`]: one port: both versions of HTTP, TLS, Host and Origin, limits, graceful stop
//! - [`testkit`]: an agent in the test's own process, called over any wire
//! - [`sut`]: the agent that conformance suites drive

pub mod app;
mod command;
pub mod config;
mod error;
pub mod listen;
pub mod log;
mod program;
pub mod serve;
mod signals;
pub mod sut;
pub mod testkit;

pub use app::{App, app};
pub use config::Config;
pub use error::Error;
pub use serve::agents::Agents;
pub use serve::compose::Server;
