//! Skills behind a real listener, and the protocol's own client as the peer, on both wires.

#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the line that was wrong"
)]

mod asking;
mod calling;
mod client;
mod lines;
mod listing;
mod reading;
mod session;
mod support;
mod tasks;
mod wire;
