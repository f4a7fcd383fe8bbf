//! The routes below `/api`, as clients see them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod memory;
mod watch;
