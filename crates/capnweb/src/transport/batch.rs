//! Many messages in one HTTP request, all their answers in its response.

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;

#[cfg(feature = "client")]
pub use client::{Batch, BatchClient};
