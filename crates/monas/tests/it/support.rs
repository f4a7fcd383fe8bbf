//! What the tests have in common.

pub(crate) mod http;
pub(crate) mod program;
