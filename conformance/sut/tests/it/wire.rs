//! The A2A bindings on the wire: what official clients never send, and what they never look at.
//!
//! The server is the program `sut`. Layout:
//! - `caller`: one call in the words of each binding; `events`: streams
//! - the rest: one subject of tests each

pub(crate) mod caller;
pub(crate) mod events;
pub(crate) mod random;

mod capnweb;
mod card;
mod crash;
mod errors;
mod extensions;
mod generations;
mod grpc;
mod jsonrpc;
mod listing;
mod races;
mod replay;
mod rest;
mod resume;
mod table;
mod tenants;
mod v0_3;
mod versions;
mod webhooks;
mod websocket;
