//! The journal of an agent, from an event on.

use ::capnweb::{Error as RpcError, Value};
use serde_json::{Value as Json, json};

use super::follow::{Follower, Over};
use super::workspace::{What, WorkspaceObject, said};
use crate::api::agent::failure;
use crate::api::journal::shown;

/// How many records are told at once.
const BATCH: usize = 64;

pub(super) async fn follow(
    workspace: &WorkspaceObject,
    what: &What,
    follower: Follower,
) -> Result<Value, RpcError> {
    let chat = &workspace.shared().parts.chat;
    let agent = chat
        .agent(&workspace.as_caller(), what.text("agent")?)
        .await
        .map_err(|it| said(&it))?;
    let after = match what.number("after")? {
        Some(after) => after,
        None => agent.last_event().await.map_err(|it| said(&failure(it)))?,
    };
    let mut records = agent.follow(after).await.map_err(|it| said(&failure(it)))?;
    let subscription = follower.run(|callback| async move {
        while let Some(next) = records.next().await {
            let next = next.map_err(Over::because)?;
            for batch in next.chunks(BATCH) {
                let batch: Vec<Json> = batch
                    .iter()
                    .map(|(number, it)| shown(*number, it))
                    .collect();
                callback.tell(json!(batch)).await?;
            }
        }
        Ok(())
    });
    Ok(subscription.into_value())
}
