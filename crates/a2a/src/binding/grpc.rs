//! gRPC: the protocol's own service, with health and reflection beside it.

#[cfg(feature = "http")]
mod census;
#[cfg(feature = "client")]
pub(in crate::binding) mod client;
mod codec;
#[cfg(feature = "http")]
pub mod server;

/// The name of the service.
pub const SERVICE: &str = "lf.a2a.v1.A2AService";

/// The name of the service in 0.3.
pub const SERVICE_V0_3: &str = "a2a.v1.A2AService";
