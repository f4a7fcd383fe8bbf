//! The notices of the watchdog, over all agents, from now on.

use ::capnweb::Value;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use super::follow::{Follower, Over};
use super::workspace::WorkspaceObject;

pub(super) fn follow(workspace: &WorkspaceObject, follower: Follower) -> Value {
    let mut notices = workspace.shared().parts.chat.alerts();
    let subscription = follower.run(|callback| async move {
        loop {
            match notices.recv().await {
                Ok(notice) => callback.tell(json!([*notice])).await?,
                // The list has what was missed.
                Err(RecvError::Lagged(missed)) => {
                    callback
                        .tell(json!([{ "type": "missed", "payload": { "count": missed } }]))
                        .await?
                }
                Err(RecvError::Closed) => return Err(Over::because("the server is stopping")),
            }
        }
    });
    subscription.into_value()
}
