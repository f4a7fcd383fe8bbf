//! A task is the fold of its events. Pure: the same events give the same task, anywhere.

use crate::types::{Artifact, Event as Payload, Message, StreamResponse, Task, TaskStatus};

/// Takes an event into the task. `received` is the message of the caller that came with it.
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

/// What a status said becomes history when another status takes its place.
fn replace_status(task: &mut Task, status: TaskStatus) {
    let said = task
        .status
        .replace(status)
        .and_then(|status| status.message);
    task.history.extend(said);
}

/// An artifact replaces the one of its id, or adds to it. The newest is looked at first: it is the
/// one that grows.
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

/// Puts the ids that are the same in all events of a task into one of them, or takes them out.
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

/// The same for a message.
pub(crate) fn set_message_ids(message: &mut Message, task: &str, context: &str) {
    task.clone_into(&mut message.task_id);
    context.clone_into(&mut message.context_id);
}

/// Leaves the newest messages of the history only. Without a length all of it stays.
pub(crate) fn cut_history(task: &mut Task, length: Option<i32>) {
    if let Some(length) = length {
        let length = usize::try_from(length).unwrap_or(0);
        let older = task.history.len().saturating_sub(length);
        task.history.drain(..older);
    }
}
