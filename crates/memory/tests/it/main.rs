//! Memory through its public API.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod background;
mod code;
mod junk;
mod keeping;
mod owners;
mod recall;
mod support;
