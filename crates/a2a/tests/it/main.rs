//! The crate's integration tests: the real server on real stores, and types against the official SDK.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod binding;
mod served;
mod server;
mod signature;
mod types;
