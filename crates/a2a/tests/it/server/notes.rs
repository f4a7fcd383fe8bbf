//! What an agent keeps with its task for itself, and what it is told and asked besides.

use a2a::error::Error;
use a2a::types::{Message, Task, TaskState};

use super::support::{Bench, Script, config, in_memory, message, on_disk, state, task};

fn made(task: &Task) -> &str {
    task.artifacts[0].parts[0].as_text().unwrap()
}

async fn more(bench: &Bench, to: &Task, text: &str) -> Task {
    let message = Message {
        task_id: to.id.clone(),
        ..message(text)
    };
    task(bench.send(bench.request(message)).await.unwrap())
}

#[tokio::test]
async fn notes_are_kept_with_their_task_and_hidden_from_other_tasks() {
    let bench = Bench::start().await;
    let other = bench.task("note:a=9 ask:?").await;
    let asked = bench.task("note:a=1 note:b=2 note:a=3 ask:?").await;
    assert!(!format!("{asked:?}").contains("\"b\""), "{asked:?}");
    let task = more(&bench, &asked, "notes done").await;
    assert_eq!(made(&task), r#"{"a": b"3", "b": b"2"}"#);
    let task = more(&bench, &other, "notes done").await;
    assert_eq!(made(&task), r#"{"a": b"9"}"#);
}

#[tokio::test]
async fn a_note_opens_its_task() {
    let bench = Bench::start().await;
    let task = bench.task("note:a=1 done").await;
    assert_eq!(state(&task), TaskState::Completed);
}

#[tokio::test]
async fn notes_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let bench = Bench::with(config(), on_disk(folder.path()), Script::new()).await;
    let asked = bench.task("note:a=1 ask:?").await;
    bench.server.stop().await;
    let bench = Bench::with(config(), on_disk(folder.path()), Script::new()).await;
    let task = more(&bench, &asked, "notes done").await;
    assert_eq!(made(&task), r#"{"a": b"1"}"#);
    bench.server.stop().await;
}

#[tokio::test]
async fn a_message_that_is_refused_before_anything_was_done_opens_no_task() {
    let bench = Bench::start().await;
    let refused = bench
        .send(bench.request(message("refuse:message.parts")))
        .await;
    assert!(
        matches!(refused, Err(Error::InvalidParams { .. })),
        "{refused:?}"
    );
    let failed = bench.task("working refuse:message.parts").await;
    assert_eq!(state(&failed), TaskState::Failed);
}

#[tokio::test]
async fn an_agent_is_told_when_a_task_has_ended_however_it_did() {
    let bench = Bench::with(config(), in_memory(), Script::new()).await;
    let done = bench.task("done").await;
    let asked = bench.task("ask:?").await;
    assert_eq!(bench.script.ended.lock().unwrap().join(" "), done.id);
    bench.cancel(&asked.id).await.unwrap();
    assert_eq!(*bench.script.ended.lock().unwrap(), [done.id, asked.id]);
}

#[tokio::test]
async fn the_id_of_a_context_begins_with_what_the_agent_says() {
    let bench = Bench::start().await;
    let task = bench.task("label:lamp done").await;
    assert!(task.context_id.starts_with("lamp-"), "{}", task.context_id);
    let task = bench.task("done").await;
    assert!(task.context_id.starts_with("agent-"), "{}", task.context_id);
}
