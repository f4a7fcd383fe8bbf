//! The watchdog judged from outside: by the frozen journals, by agents that are stuck, by restarts, by rules of users.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod frozen;
mod life;
mod rules;

#[path = "../../../../conformance/watch/journals.rs"]
mod journals;
