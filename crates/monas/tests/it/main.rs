//! The real program: started, called, stopped.

#![expect(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the line that was wrong"
)]

mod access;
mod ag_ui;
mod agents;
mod attacks;
mod backup;
mod callers;
mod chat;
mod cli;
mod closed;
#[cfg(target_os = "linux")]
mod commands;
mod door;
mod four;
mod law;
mod lending;
mod listen;
mod living;
mod mcp;
mod memory;
mod mirror;
mod models;
mod naming;
mod openapi;
mod operator;
mod outbound;
mod owners;
mod page;
mod program;
mod reach;
mod rights;
mod secrets;
mod server;
mod support;
mod talk;
mod talking;
mod tap;
mod tools;
mod trail;
mod typescript;
