//! Transports of frames. Each one is small: the protocol is in the session, and a transport only
//! moves its frames.

#[cfg(any(feature = "client", feature = "server"))]
pub mod batch;
pub mod pair;
#[cfg(any(feature = "client", feature = "server"))]
pub mod websocket;

#[cfg(feature = "server")]
pub mod origin;
#[cfg(feature = "server")]
pub mod server;
