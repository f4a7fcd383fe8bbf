//! Translation of events that the skills of the integration tests do not produce.

use a2a::event::Event as Happened;
use a2a::types::{
    Artifact, Event as Payload, Message, Part, StreamResponse, Task, TaskArtifactUpdateEvent,
    TaskState, TaskStatus, TaskStatusUpdateEvent,
};
use serde_json::{Value, json};

use crate::events::EventTranslator;

fn task(state: TaskState, artifacts: Vec<Artifact>) -> Payload {
    Payload::Task(Task {
        id: "t".to_owned(),
        status: Some(TaskStatus {
            state,
            ..TaskStatus::default()
        }),
        artifacts,
        ..Task::default()
    })
}

fn status(state: TaskState, text: Option<&str>) -> Payload {
    Payload::StatusUpdate(TaskStatusUpdateEvent {
        status: Some(TaskStatus {
            state,
            message: text.map(|text| Message::agent("m", text)),
            ..TaskStatus::default()
        }),
        ..TaskStatusUpdateEvent::default()
    })
}

fn artifact(id: &str, text: &str) -> Artifact {
    Artifact {
        artifact_id: id.to_owned(),
        parts: vec![Part::text(text)],
        ..Artifact::default()
    }
}

fn made(id: &str, text: &str, append: bool, last_chunk: bool) -> Payload {
    Payload::ArtifactUpdate(TaskArtifactUpdateEvent {
        artifact: Some(artifact(id, text)),
        append,
        last_chunk,
        ..TaskArtifactUpdateEvent::default()
    })
}

/// The translated events in short form.
fn check(mut translator: EventTranslator, happened: Vec<Payload>, expected: &[&str]) {
    let mut told = Vec::new();
    for payload in happened {
        let event = Happened::new(StreamResponse { payload });
        for event in translator.take(&event) {
            let event = serde_json::to_value(event).unwrap();
            let kind = event["type"].as_str().unwrap();
            let text = |part: &Value| part["content"].as_str().unwrap_or_default().to_owned();
            told.push(match kind {
                "message.part" => format!("{kind} {}", text(&event["part"])),
                "message.completed" => {
                    let parts = event["message"]["parts"].as_array().unwrap();
                    let parts: Vec<_> = parts.iter().map(text).collect();
                    format!("{kind} {}", parts.join("|"))
                }
                "generic" => format!("{kind} {}", event["generic"]["message"].as_str().unwrap()),
                _ => format!(
                    "{kind} {}",
                    event["run"]["status"].as_str().unwrap_or_default()
                ),
            });
        }
    }
    let told: Vec<_> = told.iter().map(|line| line.trim_end()).collect();
    assert_eq!(told, expected);
}

#[test]
fn what_grows_side_by_side_is_told_one_after_the_other() {
    check(
        EventTranslator::new("whole"),
        vec![
            task(TaskState::Submitted, vec![]),
            made("a", "1", false, false),
            made("b", "2", false, false),
            made("a", "3", true, false),
            status(TaskState::Completed, None),
        ],
        &[
            "run.created created",
            "run.in-progress in-progress",
            "message.created",
            "message.part 1",
            "message.completed 1",
            "message.created",
            "message.part 2",
            "message.completed 2",
            "message.created",
            "message.part 3",
            "message.completed 3",
            "run.completed completed",
        ],
    );
}

#[test]
fn a_snapshot_tells_what_became_of_events_that_are_no_more() {
    check(
        EventTranslator::new("whole"),
        vec![task(
            TaskState::Completed,
            vec![artifact("a", "1"), artifact("b", "2")],
        )],
        &[
            "run.created created",
            "run.in-progress in-progress",
            "message.created",
            "message.part 1",
            "message.completed 1",
            "message.created",
            "message.part 2",
            "message.completed 2",
            "run.completed completed",
        ],
    );
}

#[test]
fn a_resumed_run_repeats_no_earlier_event() {
    check(
        EventTranslator::resumed("whole"),
        vec![
            task(TaskState::Working, vec![artifact("a", "1")]),
            status(TaskState::Working, Some("going on")),
            made("b", "2", false, true),
            status(TaskState::Rejected, Some("no")),
        ],
        &[
            "run.in-progress in-progress",
            "generic going on",
            "message.created",
            "message.part 2",
            "message.completed 2",
            "run.failed failed",
        ],
    );
}

#[test]
fn what_is_cancelled_before_it_begins_is_told_whole() {
    check(
        EventTranslator::new("whole"),
        vec![
            task(TaskState::Submitted, vec![]),
            status(TaskState::Canceled, None),
        ],
        &[
            "run.created created",
            "run.in-progress in-progress",
            "run.cancelled cancelled",
        ],
    );
}

#[test]
fn a_run_that_was_refused_says_why() {
    let mut translator = EventTranslator::new("whole");
    translator.take(&Happened::new(StreamResponse {
        payload: task(TaskState::Submitted, vec![]),
    }));
    let refused = status(TaskState::Rejected, Some("not today"));
    let told = translator.take(&Happened::new(StreamResponse { payload: refused }));
    let told = serde_json::to_value(told).unwrap();
    let error = json!({ "code": "server_error", "message": "not today" });
    assert_eq!(told[1]["run"]["error"], error);
}
