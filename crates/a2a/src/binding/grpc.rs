//! gRPC: the protocol's own service, with health and reflection beside it.

mod codec;
pub mod server;
