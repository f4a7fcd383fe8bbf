//! Server-sent events: a stream of replies as lines, each with the cursor to go on from.

#[cfg(feature = "client")]
mod read;
#[cfg(all(test, feature = "client"))]
#[path = "sse/read_tests.rs"]
mod read_tests;
#[cfg(feature = "http")]
mod write;

#[cfg(feature = "client")]
pub(super) use read::{Event, Reader};
#[cfg(feature = "http")]
pub use write::{Write, response};
