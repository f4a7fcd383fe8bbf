//! gRPC: the protocol's own service, with health and reflection beside it.

pub(in crate::binding) mod client;
mod codec;
pub mod server;
