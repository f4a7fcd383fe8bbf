//! Streams that are cut, at any point, and go on from a cursor: nothing lost, nothing doubled, in order.

use serde_json::{Value, json};

use super::caller::{BINDINGS, Binding, Caller};
use super::events::{Event, Events, Next, state};
use super::random::Random;
use crate::support::sut::{Store, Sut};

fn message(prefix: &str, text: &str) -> Value {
    let id = format!("{prefix}-{}", uuid::Uuid::new_v4());
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]}})
}

/// The task of a stream's first event.
fn task_of(event: &Event) -> String {
    event.body["task"]["id"]
        .as_str()
        .expect("the first event is the task")
        .to_owned()
}

/// Every event of a task, read again from its beginning.
async fn all(sut: &Sut, task: &str) -> Vec<Event> {
    let mut caller = sut.caller(Binding::JsonRpc).await;
    caller.resume(task, 0).await.unwrap().rest().await
}

/// The events bear the numbers from 1 on, without a gap.
fn check_numbers(events: &[Event]) {
    let numbers: Vec<_> = events.iter().map(|event| event.id.unwrap()).collect();
    let expected: Vec<_> = (1..=events.len() as u64).collect();
    assert_eq!(numbers, expected);
}

/// Reads at most this many events, and says whether the stream is over.
async fn take(events: &mut Events, count: u64, into: &mut Vec<Event>) -> bool {
    for _ in 0..count {
        match events.next().await {
            Next::Event(event) => into.push(event),
            Next::End => return true,
            other => panic!("{other:?} after {into:?}"),
        }
    }
    false
}

#[tokio::test]
async fn a_stream_that_is_cut_again_and_again_is_whole() {
    let sut = Sut::in_memory().await;
    let mut random = Random::new();
    for binding in BINDINGS {
        for round in 0..5 {
            let mut caller = sut.caller(binding).await;
            let request = message("cut", "burst 100");
            let mut events = caller.open("SendStreamingMessage", request).await.unwrap();
            let mut seen = vec![events.event().await];
            let task = task_of(&seen[0]);
            // A second client watches the whole task.
            let mut watcher = sut.caller(Binding::JsonRpc).await;
            let watched =
                tokio::spawn(async move { watcher.resume(&task, 0).await.unwrap().rest().await });
            let task = task_of(&seen[0]);
            let mut over = take(&mut events, random.below(40), &mut seen).await;
            while !over {
                // Dropping both ends of what we hold closes the connection under the server's hands.
                drop((events, caller));
                caller = sut.caller(binding).await;
                let cursor = seen.last().unwrap().id.unwrap();
                events = caller.resume(&task, cursor).await.unwrap();
                over = take(&mut events, 1 + random.below(40), &mut seen).await;
            }
            check_numbers(&seen);
            assert_eq!(
                seen,
                watched.await.unwrap(),
                "{binding:?} {round} {random:?}"
            );
            assert_eq!(
                state(&seen.last().unwrap().body),
                Some("TASK_STATE_COMPLETED")
            );
        }
    }
}

#[tokio::test]
async fn every_cursor_of_a_finished_task_gives_what_follows_it() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::JsonRpc).await;
    let events = caller
        .open("SendStreamingMessage", message("whole", "burst 8"))
        .await
        .unwrap();
    let whole = events.rest().await;
    check_numbers(&whole);
    let task = task_of(&whole[0]);
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        for cursor in 0..=whole.len() {
            let rest = caller
                .resume(&task, cursor as u64)
                .await
                .unwrap()
                .rest()
                .await;
            assert_eq!(rest, whole[cursor..], "{binding:?} {cursor}");
        }
        // A cursor that was never given out.
        let failure = caller
            .resume(&task, whole.len() as u64 + 1)
            .await
            .unwrap_err();
        assert_eq!(failure.reason(), Some("INVALID_PARAMS"), "{binding:?}");
        caller.set("last-event-id", "-1");
        let failure = caller
            .open("SubscribeToTask", json!({"id": task}))
            .await
            .unwrap_err();
        assert_eq!(failure.reason(), Some("INVALID_PARAMS"), "{binding:?}");
    }
}

#[tokio::test]
async fn a_cursor_goes_on_live_where_the_past_ends() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        let mut request = message("tck-cancel", "go");
        request["configuration"] = json!({"returnImmediately": true});
        let sent = caller.call("SendMessage", request).await.unwrap();
        let task = sent["task"]["id"].as_str().unwrap();
        let mut reader = sut.caller(binding).await;
        let mut events = reader.resume(task, 0).await.unwrap();
        let mut seen = vec![events.event().await];
        while state(&seen.last().unwrap().body) != Some("TASK_STATE_WORKING") {
            seen.push(events.event().await);
        }
        caller
            .call("CancelTask", json!({"id": task}))
            .await
            .unwrap();
        seen.extend(events.rest().await);
        check_numbers(&seen);
        assert_eq!(
            state(&seen.last().unwrap().body),
            Some("TASK_STATE_CANCELED"),
            "{binding:?}"
        );
    }
}

#[tokio::test]
async fn a_stream_goes_on_after_the_server_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new();
    for binding in BINDINGS {
        let store = Store::Folder(folder.path().join(format!("{binding:?}")));
        let mut sut = Sut::start(&store).await;
        let (mut caller, mut events) = begin(&sut, binding, "cut", "burst 5000").await;
        let mut seen = vec![events.event().await];
        let task = task_of(&seen[0]);
        take(&mut events, random.below(60), &mut seen).await;
        // What was on its way when the server died may still arrive; it was committed.
        sut.kill().await;
        while let Next::Event(event) = events.next().await {
            seen.push(event);
        }
        drop((events, caller));

        sut = Sut::start(&store).await;
        caller = sut.caller(binding).await;
        let cursor = seen.last().unwrap().id.unwrap();
        seen.extend(caller.resume(&task, cursor).await.unwrap().rest().await);
        check_numbers(&seen);
        assert_eq!(seen, all(&sut, &task).await, "{binding:?} {random:?}");
        let last = &seen.last().unwrap().body;
        let state = state(last).unwrap();
        // It may have been done just before the end.
        if state != "TASK_STATE_COMPLETED" {
            assert_eq!(state, "TASK_STATE_FAILED", "{binding:?} {random:?}");
            check_reason(&last["statusUpdate"]["status"]);
        }
        let kept = caller.call("GetTask", json!({"id": task})).await.unwrap();
        assert_eq!(kept["status"]["state"], state, "{binding:?}");
    }
}

#[tokio::test]
async fn a_task_that_worked_when_the_server_died_has_failed_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    for binding in BINDINGS {
        let store = Store::Folder(folder.path().join(format!("{binding:?}")));
        let sut = Sut::start(&store).await;
        let (caller, mut events) = begin(&sut, binding, "tck-cancel", "go").await;
        let mut seen = vec![events.event().await];
        let task = task_of(&seen[0]);
        while state(&seen.last().unwrap().body) != Some("TASK_STATE_WORKING") {
            seen.push(events.event().await);
        }
        sut.kill().await;
        drop((events, caller));

        let sut = Sut::start(&store).await;
        let mut caller = sut.caller(binding).await;
        let cursor = seen.last().unwrap().id.unwrap();
        let rest = caller.resume(&task, cursor).await.unwrap().rest().await;
        assert_eq!(rest.len(), 1, "{binding:?}: {rest:?}");
        assert_eq!(
            state(&rest[0].body),
            Some("TASK_STATE_FAILED"),
            "{binding:?}"
        );
        check_reason(&rest[0].body["statusUpdate"]["status"]);
        let failure = caller
            .call("CancelTask", json!({"id": task}))
            .await
            .unwrap_err();
        assert_eq!(failure.reason(), Some("TASK_NOT_CANCELABLE"), "{binding:?}");
    }
}

#[tokio::test]
async fn a_task_that_waited_for_its_user_still_does_after_the_server_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    for binding in BINDINGS {
        let store = Store::Folder(folder.path().join(format!("{binding:?}")));
        let sut = Sut::start(&store).await;
        let mut caller = sut.caller(binding).await;
        let asked = caller
            .call("SendMessage", message("tck-multi-turn", "first"))
            .await
            .unwrap();
        let asked = &asked["task"];
        assert_eq!(asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
        sut.kill().await;

        let sut = Sut::start(&store).await;
        let mut caller = sut.caller(binding).await;
        let kept = caller
            .call("GetTask", json!({"id": asked["id"]}))
            .await
            .unwrap();
        assert_eq!(&kept, asked, "{binding:?}");
        let mut more = message("more", "second");
        more["message"]["taskId"] = asked["id"].clone();
        let answered = caller.call("SendMessage", more).await.unwrap();
        assert_eq!(
            answered["task"]["status"]["state"], "TASK_STATE_COMPLETED",
            "{binding:?}"
        );
    }
}

async fn begin(sut: &Sut, binding: Binding, prefix: &str, text: &str) -> (Caller, Events) {
    let mut caller = sut.caller(binding).await;
    let events = caller
        .open("SendStreamingMessage", message(prefix, text))
        .await
        .unwrap();
    (caller, events)
}

/// A status that says why.
fn check_reason(status: &Value) {
    let reason = status["message"]["parts"][0]["text"].as_str();
    assert!(
        reason.is_some_and(|reason| !reason.is_empty()),
        "no reason is given: {status}"
    );
}
