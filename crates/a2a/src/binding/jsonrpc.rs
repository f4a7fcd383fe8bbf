//! JSON-RPC 2.0 over HTTP: one address, the operation's name in the request.

pub(in crate::binding) mod client;
mod envelope;
#[cfg(test)]
#[path = "jsonrpc/envelope_tests.rs"]
mod envelope_tests;
pub mod server;

pub use envelope::{Envelope, Id};
