//! What a person agrees to before it is done.

use a2a::types::TaskState;
use agent::{Law, State};
use serde_json::json;
use skill::extension;

use crate::support::{World, approve, output, said, state, status};

const WISH: &str = "note buy milk in todo.md";

#[tokio::test]
async fn nothing_is_done_before_it_is_approved() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(
        status(&task).contains("+ buy milk in todo.md"),
        "the preview is shown: {}",
        status(&task)
    );
    assert!(world.notes.written.lock().unwrap().is_empty());
    let asked = bench.resident.status().await.unwrap();
    assert_eq!(
        (asked.state, asked.approvals.len()),
        (State::AwaitingApproval, 1)
    );

    let task = bench.answer(&task, approve()).await;
    assert_eq!(
        (state(&task), output(&task).as_str()),
        (TaskState::Completed, "wrote todo.md")
    );
    assert_eq!(world.notes.written.lock().unwrap().len(), 1);
    assert_eq!(bench.resident.status().await.unwrap().state, State::Idle);
}

#[tokio::test]
async fn a_plain_word_will_do() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let mut message = said("talk", "yes");
    message.task_id = task.id.clone();
    message.context_id = task.context_id.clone();
    let task = bench.send(message).await;
    assert_eq!(output(&task), "wrote todo.md");
}

#[tokio::test]
async fn what_is_rejected_is_not_done() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let answer = json!({ "decision": "reject", "why": "not today" });
    let task = bench.answer(&task, answer).await;
    assert_eq!(state(&task), TaskState::Completed);
    assert!(output(&task).contains("not today"), "{}", output(&task));
    assert!(world.notes.written.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_is_modified_is_done_as_modified() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let wrong = json!({ "decision": "modify", "input": r#"{"path":1}"# });
    let task = bench.answer(&task, wrong).await;
    assert_eq!(
        state(&task),
        TaskState::InputRequired,
        "it is asked again: {}",
        status(&task)
    );
    let edited =
        json!({ "decision": "modify", "input": r#"{"path":"a.md","content":"oat milk"}"# });
    let task = bench.answer(&task, edited).await;
    assert_eq!(output(&task), "wrote a.md");
    let written = world.notes.written.lock().unwrap().clone();
    assert_eq!(written, [("a.md".to_owned(), "oat milk".to_owned())]);
}

#[tokio::test]
async fn a_caller_that_names_the_skill_passes_the_same_gate() {
    let world = World::new();
    let bench = world.begin().await;
    let input = json!({ "path": "x", "content": "y" });
    let task = bench.call("write-note", input).await;
    assert_eq!(state(&task), TaskState::InputRequired);
    assert!(world.notes.written.lock().unwrap().is_empty());
    let task = bench.answer(&task, approve()).await;
    assert_eq!(output(&task), "wrote x");
}

#[tokio::test]
async fn a_grant_counts_for_a_conversation_or_for_a_beginning() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    bench.answer(&task, json!({ "decision": "session" })).await;
    let task = bench.say("note buy bread in todo.md").await;
    assert_eq!(
        output(&task),
        "wrote todo.md",
        "in the same conversation it is not asked again"
    );
    let elsewhere = bench.send(said("other", "note x in log/a.md")).await;
    assert_eq!(state(&elsewhere), TaskState::InputRequired);
    let by_prefix = json!({ "decision": "approve", "field": "path", "prefix": "log/" });
    bench.answer(&elsewhere, by_prefix).await;
    let task = bench.send(said("third", "note x in log/b.md")).await;
    assert_eq!(output(&task), "wrote log/b.md");
    let task = bench.send(said("third", "note x in log/../b.md")).await;
    assert_eq!(
        state(&task),
        TaskState::InputRequired,
        "a path that climbs out is asked about"
    );
}

#[tokio::test]
async fn once_is_once() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    bench.answer(&task, approve()).await;
    let again = bench.say(WISH).await;
    assert_eq!(state(&again), TaskState::InputRequired);
}

#[tokio::test]
async fn a_question_survives_the_end_of_the_process() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let before = bench.resident.status().await.unwrap().approvals;
    bench.killed().await;

    let bench = world.begin().await;
    let asked = bench.resident.status().await.unwrap();
    assert_eq!(
        (asked.state, asked.approvals),
        (State::AwaitingApproval, before)
    );
    assert!(world.notes.written.lock().unwrap().is_empty());
    let task = bench.answer(&task, approve()).await;
    assert_eq!(
        (state(&task), output(&task).as_str()),
        (TaskState::Completed, "wrote todo.md")
    );
    assert_eq!(world.notes.written.lock().unwrap().len(), 1);
    assert_eq!(bench.resident.check().await.unwrap().differs, None);
}

#[tokio::test]
async fn what_nobody_decides_in_time_is_not_done() {
    let world = World::new();
    let mut law = Law::default();
    law.attention.approval_seconds = 60;
    let bench = world.begin_with(law, None).await;
    let task = bench.say(WISH).await;
    world.pass(61);
    let task = bench.answer(&task, approve()).await;
    assert!(
        output(&task).contains("nobody decided in time"),
        "{}",
        output(&task)
    );
    assert!(world.notes.written.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_task_that_is_cancelled_asks_nobody_any_more() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let task = bench.cancel(&task).await;
    assert_eq!(state(&task), TaskState::Canceled);
    loop {
        let status = bench.resident.status().await.unwrap();
        if status.approvals.is_empty() && status.working == 0 {
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_question_is_a_form_that_every_protocol_can_show() {
    let world = World::new();
    let bench = world.begin().await;
    let task = bench.say(WISH).await;
    let question = extension::question(&task).unwrap();
    let fields = question.schema["properties"].as_object().unwrap();
    assert!(fields.values().all(|field| field["type"] == "string"));
}
