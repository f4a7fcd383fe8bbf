//! The events of a task, as A2A 1.0 has them.

use ::capnweb::{Error as RpcError, Value};
use a2a::event::Event;
use a2a::service::Call;
use a2a::types::{Event as StreamEvent, GetTaskRequest, SubscribeToTaskRequest, TaskState};
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
    let (caller, origin) = (workspace.caller().clone(), workspace.origin().clone());
    let call = move || {
        let mut call = Call::by(caller.clone());
        call.origin = origin.clone();
        call
    };
    let service = chat.parts().service.clone();
    let events = service.subscribe_to_task(call(), request.clone()).await;
    let mut events = events.map_err(|error| said(&failure(&error)))?;
    let subscription = follower.run(|callback| async move {
        loop {
            let mut state = None;
            while let Some(portion) = events.next().await {
                let portion = portion.map_err(Over::because)?;
                state = portion.iter().rev().find_map(|it| state_of(it)).or(state);
                let told: Vec<Json> = portion.iter().map(|it| json!(it.response())).collect();
                if !told.is_empty() {
                    callback.tell(told.into()).await?;
                }
            }
            if state.is_none_or(TaskState::is_terminal) {
                return Ok(());
            }
            // A stream of A2A ends with a question; a page follows the task until it ends.
            events = match service.subscribe_to_task(call(), request.clone()).await {
                Ok(events) => events,
                Err(_) => {
                    // It ended meanwhile.
                    let wanted = GetTaskRequest {
                        tenant: request.tenant.clone(),
                        id: request.id.clone(),
                        ..GetTaskRequest::default()
                    };
                    let task = service.get_task(call(), wanted).await;
                    let task = task.map_err(Over::because)?;
                    return callback.tell(json!([{ "task": task }])).await;
                }
            };
        }
    });
    Ok(subscription.into_value())
}

/// The state of the task that an event tells.
fn state_of(event: &Event) -> Option<TaskState> {
    match &event.response().payload {
        StreamEvent::Task(task) => Some(task.state()),
        StreamEvent::StatusUpdate(update) => update.status.as_ref().map(|it| it.state),
        _ => None,
    }
}
