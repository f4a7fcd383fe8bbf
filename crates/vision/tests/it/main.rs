//! The crate from outside.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fitting;
mod reading;
mod refused;
mod score;
