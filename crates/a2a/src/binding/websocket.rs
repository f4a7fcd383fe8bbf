//! JSON-RPC 2.0 over a WebSocket: one object a frame, many calls at once on one connection.
//!
//! The frames are those of the JSON-RPC binding, and three more: a stream ends with a frame that says
//! so, a caller may end one before, and a call may carry its own service parameters, which otherwise
//! are those of the handshake. `docs/a2a-over-websocket.md` is the specification.

#[cfg(feature = "client")]
pub(in crate::binding) mod client;
#[cfg(feature = "http")]
mod frame;
#[cfg(feature = "http")]
pub mod server;

/// The path of the binding.
pub(super) const PATH: &str = "/ws/a2a";

/// The subprotocol. A caller that names none is served in the same way.
const SUBPROTOCOL: &str = "a2a.v1";
