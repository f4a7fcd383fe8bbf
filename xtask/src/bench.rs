//! Measurements: the reference implementations and ours, by turns in one run.
//!
//! - [`a2a`]: official A2A servers and ours;
//! - [`capnweb`]: npm capnweb and our crate;
//! - [`address`]: where a server under test listens;
//! - [`usage`]: processor time and memory of a server;
//! - [`flags`]: the options of a bench;
//! - [`document`]: where its table goes.

pub(crate) mod a2a;
mod address;
pub(crate) mod capnweb;
mod document;
mod flags;
mod usage;
