//! Measurements: the reference implementations and ours, by turns in one run.
//!
//! - [`capnweb`]: npm capnweb and our crate;
//! - [`usage`]: processor time and memory of a server.

pub(crate) mod capnweb;
mod usage;
