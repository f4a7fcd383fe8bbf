//! REST: an address and a verb for each operation.

#[cfg(feature = "client")]
pub(in crate::binding) mod client;
#[cfg(feature = "http")]
pub mod server;
