//! Agents behind a real task server: what one can ask of them, and what they do not do before a person agrees.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod approving;
mod asked_first;
mod calls;
mod commits;
mod delegating;
mod first_minutes;
mod letters;
mod population;
mod remembering;
mod states;
mod support;
mod talking;
mod thinking;
mod why;
mod without_model;
