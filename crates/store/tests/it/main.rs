//! The store from outside: the contract of every engine, and the further promises of the SQLite engine.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod contract;
mod manual_writer;
#[cfg(feature = "postgres")]
mod postgres;
mod sqlite;
mod support;
