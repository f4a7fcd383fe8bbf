//! The store from outside: what every engine promises, and what the one with a file promises beyond it.
#![expect(clippy::unwrap_used, reason = "a test that fails says where")]

mod contract;
mod manual_writer;
mod sqlite;
mod support;
