//! Skills behind a real task server: what callers see of them, and what they cannot break.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agents;
mod asking;
mod calling;
mod chaos;
mod fenced;
mod mind;
mod preview;
mod refused;
mod registry;
mod support;
mod with_model;
