//! REST: an address and a verb for each operation.

pub(in crate::binding) mod client;
pub mod server;
