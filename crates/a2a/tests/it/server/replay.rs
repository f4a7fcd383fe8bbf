//! A send that is repeated.

use a2a::error::Error;
use a2a::service::{Call, Service as _};
use a2a::types::*;

use super::support::{Bench, Events, Script, config, follow_up, message, on_disk, task};

#[tokio::test]
async fn the_same_send_gets_the_same_answer() {
    let bench = Bench::start().await;
    let request = bench.request(message("working done"));
    let first = task(bench.send(request.clone()).await.unwrap());
    assert_eq!(task(bench.send(request).await.unwrap()), first);
    let request = bench.request(message("echo:hi"));
    let first = bench.send(request.clone()).await.unwrap();
    assert_eq!(bench.send(request).await.unwrap(), first);
    assert_eq!(bench.list(ListTasksRequest::default()).await.total_size, 1);
}

#[tokio::test]
async fn another_send_under_the_same_id_is_refused() {
    let bench = Bench::start().await;
    let request = bench.request(message("done"));
    bench.send(request.clone()).await.unwrap();
    let mut other = request.clone();
    other
        .message
        .as_mut()
        .unwrap()
        .parts
        .push(Part::text("and more"));
    assert!(matches!(
        bench.send(other).await,
        Err(Error::InvalidParams { .. })
    ));
    let streamed = bench
        .server
        .send_streaming_message(bench.call(), request.clone())
        .await;
    assert!(matches!(streamed.err(), Some(Error::InvalidParams { .. })));
    // Ids of different callers and tenants have nothing to do with each other.
    bench.by("ada", "").send(request.clone()).await.unwrap();
    bench
        .by("", "acme")
        .send(SendMessageRequest {
            tenant: "acme".to_owned(),
            ..request
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn two_at_the_same_time_are_one() {
    let bench = Bench::start().await;
    let request = bench.request(message("working wait done"));
    let ask = || tokio::spawn(bench.server.send_message(bench.call(), request.clone()));
    let (one, two) = (ask(), ask());
    bench.script.gate.add_permits(1);
    assert_eq!(one.await.unwrap().unwrap(), two.await.unwrap().unwrap());
}

#[tokio::test]
async fn a_stream_that_was_cut_off_goes_on_by_the_same_send() {
    let bench = Bench::start().await;
    let request = bench.request(message("working chunk:a wait chunk:b done"));
    let mut cut = Events::from(
        bench
            .server
            .send_streaming_message(bench.call(), request.clone())
            .await
            .unwrap(),
    );
    assert_eq!(
        cut.next().await,
        ["1 task Submitted", "2 Working", "3 artifact a"]
    );
    drop(cut);
    bench.script.gate.add_permits(1);
    let call = Call {
        cursor: Some(2),
        ..bench.call()
    };
    let rest = bench
        .server
        .send_streaming_message(call, request.clone())
        .await
        .unwrap();
    assert_eq!(
        Events::from(rest).rest().await,
        ["3 artifact a", "4 artifact b", "5 Completed"]
    );
    let all = bench
        .server
        .send_streaming_message(bench.call(), request)
        .await
        .unwrap();
    assert_eq!(Events::from(all).rest().await.len(), 5);
}

#[tokio::test]
async fn a_restart_does_not_make_it_forget() {
    let folder = tempfile::tempdir().unwrap();
    let before = Bench::with(config(), on_disk(folder.path()), Script::new()).await;
    let request = before.request(message("working done"));
    let first = task(before.send(request.clone()).await.unwrap());
    before.server.stop().await;
    drop(before);
    let after = Bench::with(config(), on_disk(folder.path()), Script::new()).await;
    assert_eq!(task(after.send(request).await.unwrap()), first);
}

#[tokio::test]
async fn a_repeated_stream_is_as_the_caller_asked_for_it() {
    let bench = Bench::start().await;
    let mut request = bench.request(message("done"));
    request.configuration.get_or_insert_default().history_length = Some(0);
    for _ in 0..2 {
        let stream = bench
            .server
            .send_streaming_message(bench.call(), request.clone());
        let task = Events::from(stream.await.unwrap()).first_task().await;
        assert!(task.history.is_empty());
    }
}

#[tokio::test]
async fn a_repeated_follow_up_begins_with_the_task_as_it_is() {
    let bench = Bench::start().await;
    let asked = bench.task("ask:?").await;
    let request = bench.request(follow_up(&asked, "say:so done"));
    let stream = || {
        bench
            .server
            .send_streaming_message(bench.call(), request.clone())
    };
    let first = Events::from(stream().await.unwrap()).rest().await;
    assert_eq!(first, ["3 task Working", "4 Working so", "5 Completed"]);
    let again = Events::from(stream().await.unwrap()).rest().await;
    assert_eq!(again, ["5 task Completed"]);
}
