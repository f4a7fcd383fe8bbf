//! Server-sent events: a stream of replies as lines, each with the cursor to go on from.

mod read;
#[cfg(test)]
#[path = "sse/read_tests.rs"]
mod read_tests;
mod write;

pub(super) use read::{Event, Reader};
pub use write::{Write, response};
