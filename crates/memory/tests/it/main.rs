//! Memory as its users see it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod afterwards;
mod junk;
mod keeping;
mod recall;
mod support;
