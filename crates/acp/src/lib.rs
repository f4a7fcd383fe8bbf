//! ACP (Agent Communication Protocol, REST): skills as its agents, tasks as its runs.
//!
//! Not to be taken for other protocols of the same letters. It is served for those who speak it already, as
//! a translation: every skill is an agent of ACP, the agent as a whole is one more, a run is an A2A task under the
//! task's own id, and a session is its context. So a run that was begun here can be followed, answered and
//! cancelled over any other wire, and the other way round; nothing is kept but what the task server keeps.
//!
//! ```
//! use a2a::binding::Wire;
//!
//! fn serve(wire: Wire, skills: skill::Registry, url: &str) -> axum::Router {
//!     acp::routes(wire, skills, url)
//! }
//! ```
//!
//! Layout, from the socket inwards:
//! - `binding`: REST below `/acp`, and Cap'n Web at `/acp/capnweb`; neither names an operation
//! - [`operation`]: the table, one row for each operation
//! - `server`: what the operations do, in words of A2A
//! - `agents`, `run`, `events`, `content`, `resource`: skills, tasks, what happens to them, what they say and what is
//!   kept of it, translated
//! - [`types`], [`error`], [`limits`]: ACP's data, what goes wrong, and how much of everything

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
