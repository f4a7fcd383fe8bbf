//! The Monas server: configuration, composition, one listener, command line.
//!
//! Layout:
//! - [`mod@app`]: the builder of programs with skills of their own
//! - `program`: the process: runs a command, gives the exit code
//! - `command`: the subcommands, one file or folder each
//! - [`config`]: the settings, from flags, environment and `monas.toml`
//! - [`log`], `signals`: the log, and the signals that stop the process
//! - [`serve`]: what a server is composed of
//! - [`listen`]: one port: both versions of HTTP, TLS, Host and Origin, limits, graceful stop
//! - [`testkit`]: an agent in the test's own process, called over any binding

pub mod app;
mod command;
pub mod config;
mod error;
pub mod listen;
pub mod log;
mod program;
pub mod serve;
mod signals;
pub mod testkit;

pub use app::{App, app};
pub use config::Config;
pub use error::Error;
pub use program::serve_until_signal;
pub use serve::agents::Agents;
pub use serve::agents::host::AgentSource;
pub use serve::compose::{Serve, Server};
