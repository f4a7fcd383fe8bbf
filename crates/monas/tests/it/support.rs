//! The common parts of the tests.

pub(crate) mod agent;
pub(crate) mod cutting;
pub(crate) mod http;
pub(crate) mod program;
pub(crate) mod server;
pub(crate) mod sut;
