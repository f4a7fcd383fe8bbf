//! Tasks are folded from their events.

use crate::fold::{apply, cut_history};
use crate::types::{
    Artifact, Event as Payload, Message, Part, StreamResponse, Task, TaskArtifactUpdateEvent,
    TaskState, TaskStatus, TaskStatusUpdateEvent,
};

fn status(generation: i64, state: TaskState, said: Option<&str>) -> StreamResponse {
    StreamResponse {
        payload: Payload::StatusUpdate(TaskStatusUpdateEvent {
            status: Some(TaskStatus {
                state,
                message: said.map(message),
                ..TaskStatus::default()
            }),
            generation,
            ..TaskStatusUpdateEvent::default()
        }),
    }
}

fn artifact(generation: i64, id: &str, text: &str, append: bool) -> StreamResponse {
    StreamResponse {
        payload: Payload::ArtifactUpdate(TaskArtifactUpdateEvent {
            artifact: Some(Artifact {
                artifact_id: id.to_owned(),
                parts: vec![Part::text(text)],
                ..Artifact::default()
            }),
            append,
            generation,
            ..TaskArtifactUpdateEvent::default()
        }),
    }
}

fn message(id: &str) -> Message {
    Message {
        message_id: id.to_owned(),
        ..Message::default()
    }
}

fn ids(task: &Task) -> Vec<&str> {
    task.history
        .iter()
        .map(|message| &*message.message_id)
        .collect()
}

#[test]
fn what_a_status_said_becomes_history_with_the_next_status() {
    let mut task = Task::default();
    apply(
        &mut task,
        &status(1, TaskState::InputRequired, Some("which?")),
        None,
    );
    assert!(task.history.is_empty());
    apply(
        &mut task,
        &status(2, TaskState::Working, None),
        Some(&message("this one")),
    );
    assert_eq!(ids(&task), ["which?", "this one"]);
    assert_eq!(task.generation, 2);
}

#[test]
fn an_artifact_grows_or_is_replaced() {
    let mut task = Task::default();
    apply(&mut task, &artifact(1, "a", "one", false), None);
    apply(&mut task, &artifact(2, "b", "other", false), None);
    apply(&mut task, &artifact(3, "a", "two", true), None);
    assert_eq!(
        task.artifacts[0].parts,
        [Part::text("one"), Part::text("two")]
    );
    apply(&mut task, &artifact(4, "a", "anew", false), None);
    assert_eq!(task.artifacts[0].parts, [Part::text("anew")]);
    assert_eq!(task.artifacts.len(), 2);
}

#[test]
fn the_newest_messages_stay() {
    let mut task = Task {
        history: ["a", "b", "c"].map(message).into(),
        ..Task::default()
    };
    cut_history(&mut task, None);
    assert_eq!(ids(&task), ["a", "b", "c"]);
    cut_history(&mut task, Some(2));
    assert_eq!(ids(&task), ["b", "c"]);
    cut_history(&mut task, Some(0));
    assert!(task.history.is_empty());
}
