//! The nature of a skill: how it is defined, found, previewed and called in memory.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod in_memory;
mod preview;
mod refused;
mod registry;
mod support;
