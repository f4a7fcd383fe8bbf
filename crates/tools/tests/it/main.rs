//! A project as those see it who work in it, and as those do who attack it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod attack;
mod files;
mod limits;
mod paths;
mod race;
mod search;
mod skills;
mod support;
