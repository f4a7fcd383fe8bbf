//! The real program: started, called, stopped.

#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the line that was wrong"
)]

mod access;
mod agents;
mod callers;
mod cli;
mod four;
mod law;
mod listen;
mod living;
mod mcp;
mod memory;
mod models;
mod operator;
mod outbound;
mod owners;
mod program;
mod reach;
mod server;
mod support;
mod tap;
mod tools;
mod typescript;
