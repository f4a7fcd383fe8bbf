//! The wires, each derived from the table of operations. No file below names an operation.

use std::sync::Arc;

use a2a::binding::Wire;
use axum::Router;
use axum::body::Body;
use http::{Response, StatusCode};
use skill::Registry;

use crate::server::Server;

mod capnweb;
mod rest;

/// Where REST is: everything below it.
pub const PATH: &str = "/acp";

/// Where Cap'n Web is: WebSockets by GET, batches by POST.
pub const CAPNWEB_PATH: &str = "/acp/capnweb";

/// All of it: the agent behind `wire` and these skills of its, as agents of ACP. `url` is where this server is
/// reached, without a path: what sessions refer to is below it.
pub fn routes(wire: Wire, skills: Registry, url: &str) -> Router {
    let url = format!("{}{PATH}", url.trim_end_matches('/'));
    let server = Arc::new(Server::new(wire, skills, url));
    rest::routes(server.clone()).merge(capnweb::routes(server))
}

/// How ACP says no to a request that did not come as far as its routes, such as one from a page that may not call.
pub fn refusal(status: StatusCode, why: &str) -> Response<Body> {
    rest::turned_away(status, why)
}

/// Whether a path is one of ACP's.
pub fn is_ours(path: &str) -> bool {
    let below = path.strip_prefix(PATH);
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}
