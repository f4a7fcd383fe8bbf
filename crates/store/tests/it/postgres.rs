//! Promises of the PostgreSQL engine beyond the contract of all engines.

mod holding;
mod loss;
mod schema;
pub(crate) mod server;
mod tls;
