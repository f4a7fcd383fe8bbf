//! The Monas server.
//!
//! Today it serves one demo object over Cap'n Web; agents move in behind the same listener.
//!
//! Layout:
//! - [`command`]: the command line, and the environment behind it
//! - [`compose`]: everything is constructed here and nowhere else
//! - [`listen`]: the accept loop: Host check, connection limits, time-outs, graceful stop

pub mod command;
pub mod compose;
pub mod listen;

pub use compose::{Config, Server};
