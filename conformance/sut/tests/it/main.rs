//! The agent that suites drive: the wires by hand, the official clients, and the suites themselves.
//!
//! Layout:
//! - `script`, `program`: the agent and its program
//! - `wire`: the A2A bindings on the wire; `client`: our client on every binding
//! - `interop`, `acp`, `mcp`: official clients and suites, which `cargo xtask test` installs

#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the line that was wrong"
)]

mod acp;
mod client;
mod interop;
mod mcp;
mod program;
mod script;
mod support;
mod wire;
