//! The agent protocol: types, the operation table, bindings, task server.

pub mod types;
