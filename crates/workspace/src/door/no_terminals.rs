//! Terminals where commands are not run: there are none.

use ::capnweb::{Error as RpcError, Value};

use super::follow::Follower;
use super::workspace::{What, WorkspaceObject};

fn none() -> RpcError {
    let error = RpcError::new("this system has no sandbox for terminals");
    error.with_code("no_terminals").with_prop("status", 404.0)
}

#[expect(clippy::unused_async, reason = "as where there are terminals")]
pub(super) async fn list(_: &WorkspaceObject, _: &What) -> Result<Value, RpcError> {
    Err(none())
}

#[expect(clippy::unused_async, reason = "as where there are terminals")]
pub(super) async fn open(_: &WorkspaceObject, _: &What, _: Follower) -> Result<Value, RpcError> {
    Err(none())
}

#[expect(clippy::unused_async, reason = "as where there are terminals")]
pub(super) async fn attach(_: &WorkspaceObject, _: &What, _: Follower) -> Result<Value, RpcError> {
    Err(none())
}
