//! The common parts of the tests.

#[path = "../../../../crates/monas/tests/it/support/agent.rs"]
pub(crate) mod agent;
#[expect(dead_code, reason = "the tests of monas use all of it")]
#[path = "../../../../crates/monas/tests/it/support/http.rs"]
pub(crate) mod http;
pub(crate) mod server;
pub(crate) mod sut;
