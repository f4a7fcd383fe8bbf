//! The agent protocol A2A: types, the operation table, bindings, task server, client.
//!
//! An agent implements one trait and is reached over JSON-RPC, REST and gRPC, each derived from one
//! table of operations. What happens to its tasks is in a journal: a stream that was cut off goes on
//! after its last event, and a process that was killed has lost nothing it acknowledged.
//!
//! Layout, from the socket inwards:
//! - [`binding`]: the wires; none of them names an operation
//! - [`operation`]: THE TABLE, one row for each operation
//! - [`service`]: what an agent server does, one method for each row
//! - [`server`]: the task server: an agent behind those methods, on a journal
//! - [`client`]: the other end of the wires
//! - [`types`]: the protocol's data, one declaration for JSON and protobuf
//! - [`v0_3`]: version 0.3, translated at the edge
//! - [`version`]: the versions, by name
//! - [`signature`], [`webhook`]: signed cards and signed deliveries
//! - [`typescript`]: that data and those operations, declared for TypeScript
//! - [`sabotage`]: requirements broken on purpose, for the proof alone
//! - [`generation`]: what 1.1 adds, and which callers see it
//! - [`event`], [`error`], [`limits`]: what happens, what goes wrong, and how much of everything
//!
//! # Features
//!
//! Without any feature: types, the table, the [`Service`] trait and errors; no network and no store.
//! - `client`: calls agents over JSON-RPC, REST and Cap'n Web
//! - `server`: the task server on its journal, without a network
//! - `http`: serves a task server over JSON-RPC, REST and Cap'n Web, and delivers webhooks
//! - `grpc`, `websocket`: add their binding to `client` and `http`
//! - `sabotage`: breaks requirements, for the proof only
//!
//! All but `sabotage` are on by default; crates of this workspace name the ones they need.

#![cfg_attr(
    not(all(
        feature = "client",
        feature = "http",
        feature = "grpc",
        feature = "websocket"
    )),
    allow(
        dead_code,
        unused_imports,
        reason = "what one end alone leaves unused, the other end uses; the default build is checked whole"
    )
)]

#[cfg(any(feature = "client", feature = "http"))]
pub mod binding;
#[cfg(feature = "client")]
pub mod client;
pub mod error;
pub mod event;
pub(crate) mod fold;
#[cfg(test)]
mod fold_tests;
pub mod generation;
pub mod limits;
pub mod operation;
pub mod sabotage;
#[cfg(feature = "server")]
pub mod server;
pub mod service;
#[cfg(any(feature = "client", feature = "http"))]
pub mod signature;
pub mod types;
pub mod typescript;
#[cfg(any(feature = "client", feature = "server"))]
pub mod v0_3;
pub mod version;
#[cfg(any(feature = "client", feature = "server"))]
pub mod webhook;

pub use access::calls;
#[cfg(feature = "client")]
pub use client::Client;
#[cfg(feature = "server")]
pub use dial::trace;
pub use error::Error;
#[cfg(feature = "server")]
pub use limits::Limits;
#[cfg(feature = "server")]
pub use server::Server;
pub use service::{Call, Service};
pub use version::Version;
