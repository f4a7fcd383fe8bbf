//! The events of a task, as A2A 1.0 has them.

use ::capnweb::{Error as RpcError, Value};
use a2a::service::Call;
use a2a::types::SubscribeToTaskRequest;
use futures_util::StreamExt as _;
use serde_json::{Value as Json, json};

use super::follow::{Follower, Over};
use super::workspace::{What, WorkspaceObject, said};
use crate::api::invalid;
use crate::api::tasks::{failure, tenant};

pub(super) async fn follow(
    workspace: &WorkspaceObject,
    what: &What,
    follower: Follower,
) -> Result<Value, RpcError> {
    let chat = &workspace.shared().parts.chat;
    let id = what.text("id")?;
    let id = id.ok_or_else(|| said(&invalid("id", "id is missing")))?;
    let caller = workspace.as_caller();
    let tenant = tenant(chat, &caller, what.text("agent")?);
    let request = SubscribeToTaskRequest {
        tenant: tenant.await.map_err(|it| said(&it))?,
        id: id.to_owned(),
    };
    let mut call = Call::by(workspace.caller().clone());
    call.origin = workspace.origin().clone();
    let service = &chat.parts().service;
    let events = service.subscribe_to_task(call, request).await;
    let mut events = events.map_err(|error| said(&failure(&error)))?;
    let subscription = follower.run(|callback| async move {
        while let Some(portion) = events.next().await {
            let portion = portion.map_err(Over::because)?;
            let told: Vec<Json> = portion.iter().map(|it| json!(it.response())).collect();
            if !told.is_empty() {
                callback.tell(told.into()).await?;
            }
        }
        Ok(())
    });
    Ok(subscription.into_value())
}
