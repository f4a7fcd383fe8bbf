//! ACP (Agent Communication Protocol, REST): skills as its agents, tasks as its runs.
//!
//! This is the protocol of the BeeAI project, not another one with the same letters. It is served for clients that use it
//! already, as a translation: every skill is an ACP agent, the agent as a whole is one more, a run is an A2A task with the
//! same id, and a session is the task's context. So a run that began over ACP can be followed, answered and cancelled over
//! A2A or MCP, and the other way round. This crate stores nothing; all state is in the task server.
//!
//! ```
//! use a2a::binding::Wire;
//!
//! fn serve(wire: &Wire, skills: &skill::Registry, url: &str) -> axum::Router {
//!     acp::routes(wire, skills, url)
//! }
//! ```
//!
//! Layout, from the socket inwards:
//! - `binding`: REST below `/acp`, and Cap'n Web at `/acp/capnweb`; neither names an operation
//! - [`operation`]: the table, one row for each operation
//! - `server`: the operations, carried out by the task server
//! - `agents`, `run`, `events`, `content`, `resource`: translate skills, tasks, events, messages and stored messages
//! - [`types`], [`error`], [`limits`]: the data types of ACP, errors, and limits
//!
//! The HTTP parts that are the same in every protocol are those of `a2a::binding`: reading a body within limits
//! (`read_body`), refusing a request before its body is read (`turn_away`), event streams (`sse`), authentication
//! (`Wire`). They are used here as a toolkit, so that ACP has the limits and time-outs of A2A.

mod agents;
#[cfg(test)]
#[path = "agents_tests.rs"]
mod agents_tests;
mod binding;
mod content;
#[cfg(test)]
#[path = "content_tests.rs"]
mod content_tests;
pub mod error;
mod events;
#[cfg(test)]
#[path = "events_tests.rs"]
mod events_tests;
pub mod limits;
pub mod operation;
mod resource;
mod run;
mod server;
pub mod types;

pub use binding::{CAPNWEB_PATH, PATH, is_ours, refusal, routes};
pub use error::Error;
