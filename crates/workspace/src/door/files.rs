//! Changes of the files of a project, whatever made them.

use ::capnweb::{Error as RpcError, Value};
use serde_json::{Value as Json, json};

use super::follow::{Follower, Over};
use super::workspace::{What, WorkspaceObject, said};
use crate::api::files::project_of;
use crate::changed::{ChangedFile, Changes};

/// How many changes are told at once.
const BATCH: usize = 500;

pub(super) async fn follow(
    workspace: &WorkspaceObject,
    what: &What,
    follower: Follower,
) -> Result<Value, RpcError> {
    let parts = &workspace.shared().parts;
    let agent = parts
        .chat
        .agent(&workspace.as_caller(), what.text("agent")?)
        .await
        .map_err(|it| said(&it))?;
    let project = project_of(&parts.projects, &agent).map_err(|it| said(&it))?;
    let followed = parts.chat.changes().follow(agent.id(), &project.project);
    let mut followed = followed.await.map_err(|it| said(&it))?;
    let subscription = follower.run(|callback| async move {
        loop {
            let changes: Vec<Json> = match followed.next().await {
                Changes::Files(files) => files.iter().map(told).collect(),
                // Anything may have changed.
                Changes::Missed => vec![json!({ "path": "/project", "operation": "modified" })],
                Changes::Over => return Err(Over::because("the project cannot be read")),
            };
            for batch in changes.chunks(BATCH) {
                callback.tell(json!(batch)).await?;
            }
        }
    });
    Ok(subscription.into_value())
}

fn told(file: &ChangedFile) -> Json {
    let mut told = json!({ "path": file.path, "operation": file.operation });
    if let Some(size) = file.size {
        told["size"] = size.into();
    }
    told
}
