//! ACP on a real listener, over a task server with an agent of skills.

#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the line that was wrong"
)]

mod access;
mod agents;
mod awaiting;
mod cancelling;
mod equivalence;
mod malformed;
mod runs;
mod sessions;
mod support;
mod wires;
