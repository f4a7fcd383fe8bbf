//! A project used through its public API, with honest and with hostile input.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod attack;
mod cache;
mod changes;
mod edit;
mod files;
mod limits;
mod observer;
mod paths;
mod race;
#[cfg(target_os = "linux")]
mod sandbox;
mod search;
mod skills;
mod support;
#[cfg(target_os = "linux")]
mod terminal;
