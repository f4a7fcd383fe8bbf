//! A task is the fold of its events.
//!
//! The journal stores events, never tasks (apart from snapshots, which are folds as well). Every reply that holds a task
//! is made here: `GetTask`, lists, the state of a run before its next commit, a webhook that sends whole tasks, and a
//! client that follows a stream. So there is one definition of what an event does to a task, and it is pure: no clock,
//! no ids made, no store. The same events give the same task in the server, in a client and after a restart; the model
//! checks depend on that.
//!
//! The rules: the first event is the task as it was opened. A status replaces the status, and the message of the status
//! that it replaces moves into the history, so that no words of the agent are lost. A part of an artifact is appended
//! to the artifact of its id or replaces it. A message of the caller is not an event of its own; it travels beside the
//! event that recorded it and is appended to the history. Each event sets the generation, which is its sequence number
//! in the stream: an event that did not would break cursors and `ifGenerationMatch`.

use crate::types::{Artifact, Event as Payload, Message, StreamResponse, Task, TaskStatus};

/// Folds an event into the task. `received` is the message of the caller that was recorded with it.
pub(crate) fn apply(task: &mut Task, event: &StreamResponse, received: Option<&Message>) {
    match &event.payload {
        Payload::Task(created) => *task = created.clone(),
        Payload::StatusUpdate(update) => {
            task.generation = update.generation;
            if let Some(status) = &update.status {
                replace_status(task, status.clone());
            }
        }
        Payload::ArtifactUpdate(update) => {
            task.generation = update.generation;
            if let Some(artifact) = &update.artifact {
                take_artifact(&mut task.artifacts, artifact, update.append);
            }
        }
        Payload::Message(_) | Payload::Unset => {}
    }
    if let Some(received) = received {
        task.history.push(received.clone());
    }
}

/// Replaces the status; the message of the old one moves into the history.
fn replace_status(task: &mut Task, status: TaskStatus) {
    let said = task
        .status
        .replace(status)
        .and_then(|status| status.message);
    task.history.extend(said);
}

/// Replaces the artifact of the same id, or appends to it. The search begins with the newest, which is the one that
/// usually grows.
fn take_artifact(artifacts: &mut Vec<Artifact>, artifact: &Artifact, append: bool) {
    let known = artifacts
        .iter_mut()
        .rev()
        .find(|known| known.artifact_id == artifact.artifact_id);
    match known {
        Some(known) if append => known.parts.extend(artifact.parts.iter().cloned()),
        Some(known) => known.clone_from(artifact),
        None => artifacts.push(artifact.clone()),
    }
}

/// Sets the ids that are the same in all events of a task; empty ids clear them for storage.
pub(crate) fn set_ids(event: &mut StreamResponse, task: &str, context: &str) {
    let (task_id, context_id, status) = match &mut event.payload {
        Payload::Task(it) => {
            for message in &mut it.history {
                set_message_ids(message, task, context);
            }
            (&mut it.id, &mut it.context_id, it.status.as_mut())
        }
        Payload::StatusUpdate(it) => (&mut it.task_id, &mut it.context_id, it.status.as_mut()),
        Payload::ArtifactUpdate(it) => (&mut it.task_id, &mut it.context_id, None),
        Payload::Message(_) | Payload::Unset => return,
    };
    task.clone_into(task_id);
    context.clone_into(context_id);
    if let Some(message) = status.and_then(|status| status.message.as_mut()) {
        set_message_ids(message, task, context);
    }
}

/// Sets the task id and the context id of a message.
pub(crate) fn set_message_ids(message: &mut Message, task: &str, context: &str) {
    task.clone_into(&mut message.task_id);
    context.clone_into(&mut message.context_id);
}

/// Keeps only the newest messages of the history; all of them without a length.
pub(crate) fn cut_history(task: &mut Task, length: Option<i32>) {
    if let Some(length) = length {
        let length = usize::try_from(length).unwrap_or(0);
        let older = task.history.len().saturating_sub(length);
        task.history.drain(..older);
    }
}
