//! An agent behind a task server, for the tests of this workspace: a store, a clock, a server, and short ways to call it.
//!
//! A crate that serves or runs agents needs the same few things in its tests. [`Kit`] is a task server with an agent and a
//! caller; [`DataFolder`] is a store that outlives a server, for tests of restarts; [`Clock`] is a time that a test sets;
//! [`state`], [`text`], [`output`] and [`question`] read a task. What belongs to one crate, such as its skills or its HTTP
//! client, stays in that crate's tests and is built on these.
//!
//! It is a dev-dependency only, so it does not count as an arrow between crates. It depends on the protocols' lower half
//! (`a2a`, `skill`, `store`) and on no crate that serves them, so that each of those can use it. The agent is given as a
//! trait object: the kit does not know how agents are made.
//!
//! Everything here panics when something is not as expected: a failed call ends the test with the line that made it.

#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the line that was wrong"
)]

mod clock;
mod data;
mod kit;
mod read;

pub use clock::Clock;
pub use data::{DataFolder, memory_store, memory_store_with};
pub use kit::{Kit, at_once, fresh_id, task_of};
pub use read::{output, question, state, status_text, text};
