//! The Monas server: configuration, composition, one listener, command line.
//!
//! Layout, in the order in which a process comes to life:
//! - [`program`]: the process: started, told to stop, ended
//! - [`command`], [`config`]: what the user asks for, from flags, environment and `monas.toml`
//! - [`log`], `signals`: what it says, and what it is told
//! - [`compose`]: everything is constructed here and nowhere else
//! - [`listen`]: one port: both versions of HTTP, TLS, Host and Origin, limits, graceful stop
//! - `page`: the page at `/`

pub mod command;
pub mod compose;
pub mod config;
mod error;
pub mod listen;
pub mod log;
mod page;
pub mod program;
mod signals;

pub use compose::Server;
pub use config::Config;
pub use error::Error;
