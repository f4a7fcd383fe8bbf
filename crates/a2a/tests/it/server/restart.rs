//! Data that a stopped server leaves is found by the next one.

use std::sync::Arc;

use a2a::server::AfterRestart;
use a2a::types::*;
use tokio::sync::Semaphore;

use super::support::{Bench, Script, config, on_disk, said, state};

#[tokio::test]
async fn a_task_that_was_worked_on_ends_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let before = Bench::with(config(), on_disk(folder.path()), Script::new()).await;
    let begun = before.task_at_once("working chunk:a for-ever").await;
    let asked = before.task("ask:which?").await;
    let done = before.task("done").await;
    before.server.stop().await;
    drop(before);
    let after = Bench::with(config(), on_disk(folder.path()), Script::new()).await;
    let events = after
        .subscribe(&begun.id, Some(3))
        .await
        .unwrap()
        .rest()
        .await;
    assert_eq!(
        events,
        ["4 Failed the server stopped while the task was being worked on"]
    );
    let ended = after.get(&begun.id).await.unwrap();
    assert_eq!(state(&ended), TaskState::Failed);
    assert!(said(&ended).contains("stopped"));
    assert_eq!(ended.artifacts.len(), 1);
    assert_eq!(after.get(&asked.id).await.unwrap(), asked);
    assert_eq!(after.get(&done.id).await.unwrap(), done);
}

#[tokio::test]
async fn an_agent_that_can_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let before = Bench::with(config(), on_disk(folder.path()), Script::new()).await;
    let begun = before.task_at_once("working wait done").await;
    before.server.stop().await;
    drop(before);
    let script = Arc::new(Script {
        gate: Semaphore::new(1),
        after_restart: AfterRestart::Resume,
        ended: std::sync::Mutex::default(),
    });
    let after = Bench::with(config(), on_disk(folder.path()), script).await;
    let events = after
        .subscribe(&begun.id, Some(2))
        .await
        .unwrap()
        .rest()
        .await;
    assert_eq!(events, ["3 Completed"]);
}
