//! Streams: in order, to every subscriber, from any cursor.

use std::collections::BTreeSet;
use std::time::Duration;

use a2a::error::Error;
use a2a::event::Format;
use a2a::generation::Generations;
use a2a::server::{COMPACTED, Interrupted};
use a2a::service::{Call, Service as _};
use a2a::types::*;
use tokio::time::timeout;

use super::support::{Bench, Script, config, follow_up, in_memory, message};

#[tokio::test]
async fn a_stream_is_a_message_or_a_task_and_its_updates() {
    let bench = Bench::start().await;
    assert_eq!(bench.stream("echo:hi").await.rest().await, ["message hi"]);
    let events = bench
        .stream("working chunk:a chunk:b say:almost done")
        .await
        .rest()
        .await;
    assert_eq!(
        events,
        [
            "1 task Submitted",
            "2 Working",
            "3 artifact a",
            "4 artifact b",
            "5 Working almost",
            "6 Completed"
        ]
    );
}

#[tokio::test]
async fn all_followers_get_the_same_and_none_disturbs_another() {
    let bench = Bench::start().await;
    let begun = bench
        .task_at_once("working wait chunk:a wait chunk:b done")
        .await;
    let mut one = bench.subscribe(&begun.id, None).await.unwrap();
    let mut two = bench.subscribe(&begun.id, None).await.unwrap();
    let three = bench.subscribe(&begun.id, None).await.unwrap();
    assert_eq!(one.next().await, ["2 task Working"]);
    assert_eq!(two.next().await, ["2 task Working"]);
    drop(three);
    bench.script.gate.add_permits(1);
    assert_eq!(one.next().await, ["3 artifact a"]);
    drop(one);
    bench.script.gate.add_permits(1);
    assert_eq!(
        two.rest().await,
        ["3 artifact a", "4 artifact b", "5 Completed"]
    );
}

#[tokio::test]
async fn a_thousand_followers_share_one_encoding_for_each_format() {
    let bench = Bench::start().await;
    let begun = bench.task_at_once("working wait chunk:a done").await;
    let mut followers = Vec::new();
    for _ in 0..1000 {
        let mut follower = bench.subscribe(&begun.id, None).await.unwrap();
        assert_eq!(follower.next().await, ["2 task Working"]);
        followers.push(follower);
    }
    bench.script.gate.add_permits(1);
    let mut encoded = Vec::new();
    for follower in followers {
        for event in follower.rest_as_it_is().await {
            encoded.extend(
                [Format::Json, Format::Protobuf]
                    .map(|format| event.encode(format, Generations::Shown)),
            );
        }
    }
    assert_eq!(encoded.len(), 1000 * 2 * 2);
    // Bytes that are alive at the same time and lie at the same place are the same.
    let places: BTreeSet<*const u8> = encoded.iter().map(|bytes| bytes.as_ptr()).collect();
    assert_eq!(
        places.len(),
        2 * 2,
        "the artifact and the end, in each format"
    );
}

#[tokio::test]
async fn every_cursor_gives_the_rest() {
    let bench = Bench::start().await;
    let all = bench
        .stream("working chunk:a chunk:b done")
        .await
        .rest()
        .await;
    let tasks = bench.list(ListTasksRequest::default()).await.tasks;
    for cursor in 0..=all.len() {
        let rest = bench
            .subscribe(&tasks[0].id, Some(cursor as u64))
            .await
            .unwrap()
            .rest()
            .await;
        assert_eq!(rest, all[cursor..]);
    }
    let ahead = bench
        .subscribe(&tasks[0].id, Some(all.len() as u64 + 1))
        .await;
    assert!(matches!(ahead, Err(Error::InvalidParams { .. })));
}

#[tokio::test]
async fn a_finished_task_is_subscribed_to_by_cursor_only() {
    let bench = Bench::start().await;
    let done = bench.task("done").await;
    assert!(matches!(
        bench.subscribe(&done.id, None).await,
        Err(Error::UnsupportedOperation(_))
    ));
    assert!(matches!(
        bench.subscribe("made-up", None).await,
        Err(Error::TaskNotFound(_))
    ));
}

#[tokio::test]
async fn a_question_ends_the_stream_and_the_answer_has_its_own() {
    let bench = Bench::start().await;
    let mut stream = bench.stream("working ask:which?").await;
    let task = stream.first_task().await;
    assert_eq!(
        stream.rest().await,
        Vec::<String>::new(),
        "all of it was one portion"
    );
    let request = bench.request(follow_up(&task, "say:so done"));
    let answer = bench
        .server
        .send_streaming_message(bench.call(), request)
        .await
        .unwrap();
    let events = super::support::Events::from(answer).rest().await;
    assert_eq!(events, ["4 task Working", "5 Working so", "6 Completed"]);
    // To read it all again passes over the question.
    let all = bench
        .subscribe(&task.id, Some(0))
        .await
        .unwrap()
        .rest()
        .await;
    assert_eq!(
        all,
        [
            "1 task Submitted",
            "2 Working",
            "3 InputRequired which?",
            "4 Working",
            "5 Working so",
            "6 Completed"
        ]
    );
}

#[tokio::test]
async fn credentials_are_waited_for() {
    let bench = Bench::start().await;
    let mut stream = bench.stream("auth wait done").await;
    assert_eq!(stream.next().await, ["1 task Submitted", "2 AuthRequired"]);
    bench.script.gate.add_permits(1);
    assert_eq!(stream.rest().await, ["3 Completed"]);
}

#[tokio::test]
async fn a_server_can_keep_streams_open_for_questions() {
    let mut config = config();
    config.interrupted = Interrupted::GoesOn;
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    let mut stream = bench.stream("ask:which?").await;
    let task = stream.first_task().await;
    bench
        .send(bench.request(follow_up(&task, "done")))
        .await
        .unwrap();
    assert_eq!(stream.rest().await, ["3 Working", "4 Completed"]);
}

#[tokio::test]
async fn the_first_event_of_a_stream_respects_the_history_asked_for() {
    let bench = Bench::start().await;
    let mut request = bench.request(message("done"));
    request.configuration.get_or_insert_default().history_length = Some(0);
    let stream = bench
        .server
        .send_streaming_message(bench.call(), request)
        .await
        .unwrap();
    let task = super::support::Events::from(stream).first_task().await;
    assert!(task.history.is_empty());
}

#[tokio::test]
async fn a_cursor_older_than_the_journal_gets_a_marked_task() {
    let mut config = config();
    config.limits.retention.compact_after = Duration::ZERO;
    let bench = Bench::with(config, in_memory(), Script::new()).await;
    let done = bench.task("working chunk:a chunk:b done").await;
    // Upkeep runs by itself; it is done when the first event is gone.
    let compacted = timeout(Duration::from_secs(10), async {
        loop {
            let mut stream = bench.subscribe(&done.id, Some(0)).await.unwrap();
            let task = stream.first_task().await;
            if task.generation == done.generation {
                return task;
            }
            tokio::task::yield_now().await;
            bench.server.tidy().await.unwrap();
        }
    });
    let task = compacted.await.unwrap();
    assert_eq!(
        task.metadata.as_ref().unwrap().get(COMPACTED),
        Some(&true.into())
    );
    assert_eq!(task.artifacts, done.artifacts);
    assert_eq!(bench.get(&done.id).await.unwrap(), done);
    let call = Call {
        cursor: Some(done.generation.unsigned_abs()),
        ..bench.call()
    };
    let request = SubscribeToTaskRequest {
        id: done.id,
        ..SubscribeToTaskRequest::default()
    };
    let stream = bench.server.subscribe_to_task(call, request).await.unwrap();
    assert_eq!(
        super::support::Events::from(stream).rest().await,
        Vec::<String>::new()
    );
}
