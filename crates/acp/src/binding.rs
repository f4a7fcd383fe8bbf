//! The bindings, each derived from the table of operations. No file below names an operation.

use std::sync::Arc;

use a2a::binding::Wire;
use axum::Router;
use axum::body::Body;
use http::{Response, StatusCode};
use skill::Registry;

use crate::server::AcpServer;

mod capnweb;
mod rest;

/// The base path of REST.
pub const PATH: &str = "/acp";

/// The path of Cap'n Web: WebSocket by GET, batch by POST.
pub const CAPNWEB_PATH: &str = "/acp/capnweb";

/// The routes of ACP for the agent behind `wire` and these skills. `url` is the public address of this server, without a
/// path; the links in sessions begin with it.
pub fn routes(wire: &Wire, skills: &Registry, url: &str) -> Router {
    let url = format!("{}{PATH}", url.trim_end_matches('/'));
    let server = |name| {
        let wire = Wire {
            name,
            ..wire.clone()
        };
        Arc::new(AcpServer::new(wire, skills.clone(), url.clone()))
    };
    rest::routes(server("acp/rest")).merge(capnweb::routes(server("acp/capnweb")))
}

/// A refusal in the form of ACP, for requests that are refused before they reach a route, such as one from a web page that
/// may not call.
pub fn refusal(status: StatusCode, why: &str) -> Response<Body> {
    rest::turned_away(status, why)
}

/// Whether a path is below [`PATH`].
pub fn is_ours(path: &str) -> bool {
    let below = path.strip_prefix(PATH);
    below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}
