//! Server-sent events: a stream of replies as lines, each with the cursor to go on from.

#[cfg(feature = "http")]
mod write;

#[cfg(feature = "client")]
pub(super) use dial::sse::{Event, Reader};
#[cfg(feature = "http")]
pub use write::{Write, response};

/// The cursor to resume behind an event: its id.
#[cfg(feature = "client")]
pub(super) fn cursor(event: &Event) -> Option<u64> {
    event.id.as_deref().and_then(|id| id.parse().ok())
}
