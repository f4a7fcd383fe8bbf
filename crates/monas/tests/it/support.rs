//! What the tests have in common.

pub(crate) mod http;
