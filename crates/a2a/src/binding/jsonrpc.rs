//! JSON-RPC 2.0 over HTTP: one address, the operation's name in the request.

#[cfg(feature = "client")]
pub(in crate::binding) mod client;
#[cfg(feature = "http")]
mod envelope;
#[cfg(all(test, feature = "http"))]
#[path = "jsonrpc/envelope_tests.rs"]
mod envelope_tests;
#[cfg(feature = "http")]
pub(in crate::binding) mod metadata;
#[cfg(all(test, feature = "http"))]
#[path = "jsonrpc/metadata_tests.rs"]
mod metadata_tests;
#[cfg(feature = "http")]
pub mod server;

#[cfg(feature = "http")]
pub use envelope::{Envelope, Id};
