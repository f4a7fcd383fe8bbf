//! `/workspace/capnweb`: the door of the page. A session of Cap'n Web begins with an object that takes credentials and gives
//! the workspace of their owner: a method for each route of the REST API, and streams.
//!
//! A method is a row of the table of routes, and is carried out by the routes themselves, in this process: the same access
//! rules, limits, records, checks and errors. A new route is a new method.
//!
//! Layout:
//! - `root`: the first object, and how it takes credentials
//! - `table`: from a row of the routes to a method: its name, and its request from one object of fields
//! - `workspace`: the object of a caller
//! - `follow`: callbacks that are told what happens, until they are let go of
//! - `chat`, `journal`, `questions`, `tasks`, `files`, `terminals`, `wire`: what can be followed
//! - `declarations`: the same for TypeScript

use std::sync::Arc;

use ::capnweb::{OriginPolicy, Server};
use a2a::binding::Wire;
use a2a::binding::capnweb::server::{is_guest, options};
use a2a::binding::turn_away;
use access::{Origin, Principal, RouteRule};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{Response, StatusCode};
use axum::middleware::{Next, from_fn_with_state};

use crate::api::files::Projects;
use crate::api::refusal;
use crate::chat::Chat;
use root::RootObject;
use table::Table;

mod alerts;
mod chat;
pub mod declarations;
mod files;
mod follow;
mod journal;
mod questions;
mod root;
mod table;
mod tasks;
#[cfg(target_os = "linux")]
mod terminals;
#[cfg(not(target_os = "linux"))]
#[path = "door/no_terminals.rs"]
mod terminals;
mod wire;
mod workspace;

pub use wire::{WireCall, WireTap};

/// Where the door is.
pub const PATH: &str = "/workspace/capnweb";

/// The name of the wire. It is counted among those of agents, whose limits are wider: a page makes many calls at once.
pub const WIRE: &str = "workspace";

/// Parts of a server that the door needs.
#[derive(Clone)]
pub struct DoorParts {
    /// The door that knows callers, limits, and where sessions are counted.
    pub wire: Wire,
    /// The routes, behind their access check.
    pub routes: Router,
    /// Their rules.
    pub rows: Vec<RouteRule>,
    pub chat: Chat,
    pub projects: Projects,
    /// The calls of all wires, for those who may see them.
    pub tap: WireTap,
    pub about: AboutServer,
}

/// Facts of a server that every caller may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AboutServer {
    /// The hash of the page's files: another one means that a page is out of date.
    pub build: String,
    pub version: String,
    /// Whether callers need no credentials.
    pub open: bool,
    /// The path that the server is behind; empty for the root.
    pub base: String,
}

impl std::fmt::Debug for DoorParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DoorParts").finish_non_exhaustive()
    }
}

/// The caller of a request that comes through the door: it was recognised when it signed in. Only code of this process can
/// put it among the extensions of a request.
#[derive(Clone, Debug)]
pub struct DoorCaller {
    pub caller: Principal,
    pub origin: Origin,
}

/// State that all sessions share.
#[derive(Debug)]
struct Shared {
    parts: DoorParts,
    table: Table,
}

/// The route of the door.
pub fn routes(mut parts: DoorParts) -> Router {
    parts.wire.name = WIRE;
    let wire = parts.wire.clone();
    let table = Table::of(&parts.rows);
    let shared = Arc::new(Shared { parts, table });
    let server = Server::for_requests(move |request: &Parts, peer| {
        ::capnweb::Capability::new(RootObject::new(shared.clone(), request, peer))
    })
    .options(options(&wire))
    // The listener has checked the origin of the request.
    .origins(OriginPolicy::Any);
    Router::new()
        .route(PATH, server.route())
        .layer(from_fn_with_state(wire, admit))
}

/// Refuses a session to a caller with wrong credentials. One without any may sign in.
async fn admit(State(wire): State<Wire>, request: Request, next: Next) -> Response<Body> {
    let (head, body) = request.into_parts();
    match wire.call_in_session(&head) {
        Err(error) if !is_guest(&error, &body, &wire) => {
            wire.refused(&head, &error);
            turn_away(body, &wire.limits).await;
            let status = StatusCode::from_u16(error.code().http);
            let status = status.unwrap_or(StatusCode::UNAUTHORIZED);
            refusal(status, "invalid_token", "invalid token")
        }
        _ => next.run(Request::from_parts(head, body)).await,
    }
}
