//! The common parts of the tests: servers on free ports, node and its scripts, raw connections, and waiting.

pub(crate) mod cutting;
pub(crate) mod eventually;
pub(crate) mod http;
pub(crate) mod node;
pub(crate) mod raw_socket;
pub(crate) mod serving;
pub(crate) mod typescript;
