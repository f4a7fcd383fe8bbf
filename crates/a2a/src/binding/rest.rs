//! REST: an address and a verb for each operation.

pub mod server;
