//! JSON-RPC 2.0 over a WebSocket: one object a frame, many calls at once on one connection.
//!
//! The frames are those of the JSON-RPC binding, and three more: a stream ends with a frame that says
//! so, a caller may end one before, and a call may carry its own service parameters, which otherwise
//! are those of the handshake. `docs/a2a-over-websocket.md` is the specification.

pub(in crate::binding) mod client;
mod frame;
pub mod server;
