//! Skills behind a real listener, called by the client of `rmcp` in both revisions.

#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the line that was wrong"
)]

mod asking;
mod calling;
mod client;
mod lines;
mod listing;
mod old_sse;
mod reading;
mod relay;
mod session;
mod support;
mod tasks;
mod wire;
