//! Streams between two sessions: chunks, ends, back-pressure, and what chunks hold.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use expect_test::expect;
use futures_util::{SinkExt, StreamExt};

use super::*;
use crate::testing::{Counter, Peers, Raw, collect, now, show};
use crate::{Body, Limits, Options, Request, Response};

/// Counts when it is dropped.
struct Gone(Arc<AtomicUsize>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A stream that never ends, and tells when it is dropped.
fn endless() -> (ReadableStream, Arc<AtomicUsize>) {
    let gone = Arc::<AtomicUsize>::default();
    let held = Gone(gone.clone());
    let stream = futures_util::stream::repeat_with(move || {
        let _held = &held;
        Ok(Value::from("x".repeat(1000)))
    });
    (ReadableStream::new(stream), gone)
}

fn count(gone: &AtomicUsize) -> usize {
    gone.load(Ordering::SeqCst)
}

// On the wire.

#[tokio::test]
async fn a_stream_is_announced_sent_and_released() {
    let raw = Raw::new();
    raw.check(
        "[\"push\",[\"pipeline\",0,[\"readable\"],[2]]]\n[\"pull\",1]",
        expect![[r#"
        ["pipe"]
        ["resolve",1,["readable",1]]"#]],
    );
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    raw.check(
        "",
        expect![[r#"
        ["stream",["pipeline",1,["write"],[0]]]
        ["stream",["pipeline",1,["write"],[1]]]
        ["stream",["pipeline",1,["close"],[]]]"#]],
    );
    raw.feed("[\"resolve\",2,[\"undefined\"]]\n[\"resolve\",3,[\"undefined\"]]\n[\"resolve\",4,[\"undefined\"]]\n[\"release\",1,1]");
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    raw.check("", expect![[r#"["release",1,1]"#]]);
}

#[tokio::test]
async fn a_write_is_acknowledged_when_its_chunk_is_read() {
    let raw = Raw::new();
    raw.check(
        r#"
        ["pipe"]
        ["push",["pipeline",0,["keep"],[["readable",1]]]]
        ["stream",["pipeline",1,["write"],["one"]]]
        ["stream",["pipeline",1,["write"],["two"]]]
        ["stream",["pipeline",1,["close"],[]]]
        ["release",1,1]
        ["release",2,1]
        "#,
        expect![[r#"["resolve",5,["undefined"]]"#]],
    );
    let Some(Value::Readable(mut stream)) = raw.sample.kept.lock().expect("not poisoned").pop()
    else {
        panic!("a stream")
    };
    assert_eq!(stream.next().await.map(show).as_deref(), Some("\"one\""));
    raw.check("", expect![[r#"["resolve",3,["undefined"]]"#]]);
    assert_eq!(stream.next().await.map(show).as_deref(), Some("\"two\""));
    assert!(stream.next().await.is_none());
    raw.check("", expect![[r#"["resolve",4,["undefined"]]"#]]);
}

#[test]
fn a_writable_stream_knows_three_methods() {
    let raw = Raw::new();
    raw.check(
        r#"
        ["pipe"]
        ["push",["pipeline",1,["locked"]]]
        ["push",["pipeline",1,["flush"],[]]]
        ["push",["pipeline",1,[],[]]]
        ["push",["pipeline",1]]
        ["pull",2]
        ["pull",3]
        ["pull",4]
        ["pull",5]
        ["release",1,1]
        ["release",2,1]
        ["release",3,1]
        ["release",4,1]
        ["release",5,1]
        ["release",-1,1]
        "#,
        expect![[r#"
            ["reject",2,["error","TypeError","a WritableStream has no properties"]]
            ["reject",3,["error","TypeError","'flush' is not a method of a WritableStream."]]
            ["reject",4,["error","TypeError","a WritableStream only has the methods write, close and abort"]]
            ["resolve",5,["export",-1]]"#]],
    );
}

// Reading what the other side offers.

#[tokio::test]
async fn a_returned_stream_is_read_to_its_end() {
    let peers = Peers::new();
    let stream = peers
        .wait(
            peers
                .stub()
                .call("readable", (5,))
                .cast::<ReadableStream<u32>>(),
        )
        .await
        .expect("a stream");
    let chunks: Vec<_> = peers.wait(stream.collect::<Vec<_>>()).await;
    assert_eq!(
        chunks
            .into_iter()
            .collect::<Result<Vec<_>>>()
            .expect("no error"),
        [0, 1, 2, 3, 4]
    );
    peers.quiet().await;
}

#[tokio::test]
async fn a_passed_stream_is_read_by_the_callee() {
    let peers = Peers::new();
    let stream = ReadableStream::from_items(["a", "b"]);
    let read = peers
        .wait(peers.stub().call("collect", (Value::Readable(stream),)))
        .await;
    assert_eq!(show(read), r#"["a", "b"]"#);
    peers.quiet().await;
}

#[tokio::test]
async fn a_failing_source_fails_the_reader_after_what_it_has_read() {
    let peers = Peers::new();
    let source = futures_util::stream::iter([Ok(1), Err(Error::range_error("the source broke"))]);
    let read = peers
        .wait(
            peers
                .stub()
                .call("collect", (Value::Readable(ReadableStream::new(source)),)),
        )
        .await;
    assert_eq!(show(read), "RangeError: the source broke");
    peers.quiet().await;
}

#[tokio::test]
async fn dropping_the_reader_cancels_the_source() {
    let peers = Peers::new();
    let (source, gone) = endless();
    peers
        .wait(peers.stub().call("keep", (Value::Readable(source),)))
        .await
        .expect("it is kept");
    peers.quiet().await;
    assert_eq!(count(&gone), 0);
    peers.sample.kept.lock().expect("not poisoned").clear();
    peers.quiet().await;
    assert_eq!(count(&gone), 1);
}

#[tokio::test]
async fn a_stream_without_a_reader_is_cancelled() {
    let peers = Peers::new();
    let (source, gone) = endless();
    peers
        .wait(
            peers
                .stub()
                .call("note", (Value::Null, Value::Readable(source))),
        )
        .await
        .expect("it ignores it");
    peers.quiet().await;
    assert_eq!(count(&gone), 1);
}

#[tokio::test]
async fn a_session_that_ends_ends_its_streams() {
    let peers = Peers::new();
    let (source, gone) = endless();
    peers
        .wait(peers.stub().call("keep", (Value::Readable(source),)))
        .await
        .expect("it is kept");
    peers.quiet().await;
    let Some(Value::Readable(mut stream)) = peers.sample.kept.lock().expect("not poisoned").pop()
    else {
        panic!("a stream")
    };
    peers.server.end(Error::new("the wire was cut"));
    peers.client.end(Error::new("the wire was cut"));
    peers.quiet().await;
    assert_eq!(count(&gone), 1);
    // What had arrived can still be read; then the stream fails.
    while let Some(chunk) = stream.next().await {
        if let Err(error) = chunk {
            assert_eq!(
                error.message(),
                "the stream was dropped before it was closed"
            );
            return;
        }
    }
    panic!("the stream has no clean end");
}

#[tokio::test]
async fn a_stream_can_be_sent_once() {
    let peers = Peers::new();
    let stream = ReadableStream::from_items([1]);
    let twice = vec![Value::Readable(stream.clone()), Value::Readable(stream)];
    let sent = peers.stub().call("collect", twice);
    assert_eq!(
        show(peers.result(sent)),
        "TypeError: the ReadableStream was already read or sent"
    );
    peers.quiet().await;
}

// Writing to what the other side offers.

#[tokio::test]
async fn chunks_written_to_the_peer_are_read_there() {
    let peers = Peers::new();
    let Ok(Value::Writable(mut writable)) = peers.wait(peers.stub().call("writable", ())).await
    else {
        panic!("a stream")
    };
    let Some(Value::Readable(readable)) = peers.sample.kept.lock().expect("not poisoned").pop()
    else {
        panic!("a stream")
    };
    let write = async {
        writable.write("one").await?;
        writable.send(Value::from("two")).await?;
        SinkExt::close(&mut writable).await
    };
    let (written, read) = peers
        .wait(futures_util::future::join(write, collect(readable)))
        .await;
    written.expect("it was written");
    assert_eq!(
        format!("{:?}", read.expect("it was read")),
        r#"["one", "two"]"#
    );
    let late = writable.write("three").await.expect_err("it is closed");
    assert_eq!(late.to_string(), "TypeError: the stream is closed");
    peers.quiet().await;
}

#[tokio::test]
async fn a_stream_of_ours_is_written_by_the_callee() {
    let peers = Peers::new();
    let (writable, readable) = WritableStream::pipe();
    let arguments = vec![Value::Writable(writable), "a".into(), "b".into()];
    let written = peers.stub().call("write", arguments);
    let (written, read) = peers
        .wait(futures_util::future::join(
            written.into_future(),
            collect(readable),
        ))
        .await;
    assert_eq!(show(written), "undefined");
    assert_eq!(format!("{:?}", read.expect("it was read")), r#"["a", "b"]"#);
    peers.quiet().await;
}

#[tokio::test]
async fn an_abort_reaches_the_reader_and_overtakes_what_waits() {
    let peers = Peers::new();
    let Ok(Value::Writable(writable)) = peers.wait(peers.stub().call("writable", ())).await else {
        panic!("a stream")
    };
    peers
        .wait(writable.write("lost"))
        .await
        .expect("there is room");
    peers
        .wait(writable.abort(Error::type_error("given up")))
        .await;
    peers.quiet().await;
    let Some(Value::Readable(readable)) = peers.sample.kept.lock().expect("not poisoned").pop()
    else {
        panic!("a stream")
    };
    assert_eq!(
        collect(readable)
            .await
            .expect_err("it was aborted")
            .to_string(),
        "TypeError: given up"
    );
    assert_eq!(
        writable
            .write("more")
            .await
            .expect_err("it was aborted")
            .to_string(),
        "TypeError: given up"
    );
    drop(writable);
    peers.quiet().await;
}

#[tokio::test]
async fn dropping_the_writer_without_closing_aborts() {
    let peers = Peers::new();
    let Ok(Value::Writable(writable)) = peers.wait(peers.stub().call("writable", ())).await else {
        panic!("a stream")
    };
    drop(writable);
    peers.quiet().await;
    let Some(Value::Readable(readable)) = peers.sample.kept.lock().expect("not poisoned").pop()
    else {
        panic!("a stream")
    };
    let error = collect(readable).await.expect_err("it was not closed");
    assert_eq!(
        error.message(),
        "the stream was dropped before it was closed"
    );
}

#[tokio::test]
async fn a_failed_write_wakes_a_writer_that_waits_for_room() {
    let peers = Peers::new();
    let Ok(Value::Writable(writable)) = peers.wait(peers.stub().call("writable", ())).await else {
        panic!("a stream")
    };
    let chunk = "x".repeat(300 << 10);
    peers
        .wait(writable.write(chunk.clone()))
        .await
        .expect("one write may overshoot");
    let mut blocked = Box::pin(writable.write("next"));
    assert!(now(blocked.as_mut()).is_none());
    peers.quiet().await;
    assert!(now(blocked.as_mut()).is_none());
    peers.sample.kept.lock().expect("not poisoned").clear();
    let error = peers
        .wait(blocked)
        .await
        .expect_err("nobody reads any more");
    assert_eq!(error.message(), "the stream was cancelled by its reader");
    drop(writable);
    peers.quiet().await;
}

// Back-pressure.

#[tokio::test]
async fn a_slow_reader_slows_the_source_down() {
    let peers = Peers::new();
    let made = Arc::<AtomicUsize>::default();
    let counting = made.clone();
    let source = futures_util::stream::repeat_with(move || {
        counting.fetch_add(1, Ordering::SeqCst);
        Ok(Value::from("x".repeat(10_000)))
    });
    peers
        .wait(peers.stub().call(
            "keep",
            (Value::Readable(ReadableStream::new(source.take(1000))),),
        ))
        .await
        .expect("kept");
    peers.quiet().await;
    let before = made.load(Ordering::SeqCst);
    // 256 KiB of frames of a bit more than 10,000 bytes, one of which may overshoot, and one in hand.
    assert!((26..=29).contains(&before), "{before}");
    let Some(Value::Readable(mut stream)) = peers.sample.kept.lock().expect("not poisoned").pop()
    else {
        panic!("a stream")
    };
    for _ in 0..5 {
        assert!(stream.next().await.expect("there is more").is_ok());
    }
    peers.quiet().await;
    assert!(made.load(Ordering::SeqCst) > before);
    let rest = peers.wait(stream.count()).await;
    assert_eq!(rest, 995);
    peers.quiet().await;
}

#[tokio::test]
async fn in_this_process_there_is_one_write_at_a_time() {
    let (writable, mut readable) = WritableStream::pipe();
    writable.write(1).await.expect("there is room");
    let mut second = Box::pin(writable.write(2));
    assert!(now(second.as_mut()).is_none());
    assert_eq!(readable.next().await.map(show).as_deref(), Some("1.0"));
    second.await.expect("there is room again");
    let mut close = Box::pin(writable.close());
    assert!(now(close.as_mut()).is_none());
    assert_eq!(readable.next().await.map(show).as_deref(), Some("2.0"));
    close.await.expect("everything was read");
    assert!(readable.next().await.is_none());
}

// What chunks hold.

#[tokio::test]
async fn a_capability_in_a_chunk_works_and_is_released_with_it() {
    let peers = Peers::new();
    let gone = Arc::default();
    let chunks = vec![
        Value::from(Counter::stub(1.0, &gone)),
        Value::from(Counter::stub(2.0, &gone)),
    ];
    peers
        .wait(peers.stub().call(
            "keep",
            (Value::Readable(ReadableStream::from_items(chunks)),),
        ))
        .await
        .expect("kept");
    peers.quiet().await;
    let Some(Value::Readable(mut stream)) = peers.sample.kept.lock().expect("not poisoned").pop()
    else {
        panic!("a stream")
    };
    let Some(Ok(Value::Stub(counter))) = stream.next().await else {
        panic!("a capability")
    };
    assert_eq!(show(peers.wait(counter.call("increment", ())).await), "2.0");
    drop(counter);
    peers.quiet().await;
    assert_eq!(count(&gone), 1);
    // The second is released unread.
    drop(stream);
    peers.quiet().await;
    assert_eq!(count(&gone), 2);
}

#[tokio::test]
async fn a_chunk_that_is_late_keeps_its_place() {
    let peers = Peers::new();
    let Ok(Value::Writable(writable)) = peers.wait(peers.stub().call("writable", ())).await else {
        panic!("a stream")
    };
    let Some(Value::Readable(mut readable)) = peers.sample.kept.lock().expect("not poisoned").pop()
    else {
        panic!("a stream")
    };
    let late = peers.stub().call("later", ("x",));
    peers
        .wait(writable.write(Value::array([Value::from(&late)])))
        .await
        .expect("there is room");
    peers
        .wait(writable.write("after"))
        .await
        .expect("there is room");
    peers.quiet().await;
    assert!(now(std::pin::pin!(readable.next()).as_mut()).is_none());
    peers.sample.answer("x", Ok("late".into()));
    assert_eq!(
        readable.next().await.map(show).as_deref(),
        Some(r#"["late"]"#)
    );
    assert_eq!(
        readable.next().await.map(show).as_deref(),
        Some("\"after\"")
    );
    peers
        .wait(writable.close())
        .await
        .expect("everything was read");
    drop(late);
    peers.quiet().await;
}

#[tokio::test]
async fn data_printed_before_is_read_as_data_in_this_process() {
    let (writable, readable) = WritableStream::pipe();
    let raw = Value::object([("a", 1)]).to_raw().expect("it is plain");
    writable.write(raw).await.expect("there is room");
    let mut readable = readable.cast::<Value>();
    assert_eq!(
        readable.next().await.map(show).as_deref(),
        Some(r#"{"a": 1.0}"#)
    );
}

#[tokio::test]
async fn a_stream_in_a_chunk_is_a_stream() {
    let peers = Peers::new();
    let inner = Value::Readable(ReadableStream::from_items([1, 2]));
    let outer = Value::Readable(ReadableStream::from_items(vec![inner]));
    let Ok(Value::Readable(mut outer)) = peers.wait(peers.stub().call("echo", (outer,))).await
    else {
        panic!("a stream")
    };
    let Some(Ok(Value::Readable(inner))) = peers.wait(outer.next()).await else {
        panic!("a stream")
    };
    let read = peers.wait(collect(inner)).await;
    assert_eq!(format!("{:?}", read.expect("it was read")), "[1.0, 2.0]");
    assert!(peers.wait(outer.next()).await.is_none());
    drop(outer);
    peers.quiet().await;
}

// Blobs and bodies.

#[tokio::test]
async fn blobs_of_every_size_come_back_whole() {
    let peers = Peers::new();
    for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 300_000] {
        let bytes = Bytes::from((0..length).map(|index| index as u8).collect::<Vec<_>>());
        let blob = Blob {
            mime: "image/png".to_owned(),
            bytes,
        };
        let echoed = peers
            .wait(peers.stub().call("echo", (Value::array([blob.clone()]),)))
            .await
            .expect("echoed");
        match echoed.as_array() {
            Some([Value::Blob(echoed)]) => assert!(*echoed == blob),
            other => panic!("{other:?}"),
        }
    }
    peers.quiet().await;
}

#[tokio::test]
async fn a_blob_makes_its_call_wait() {
    let peers = Peers::new();
    let blob = Blob {
        mime: String::new(),
        bytes: Bytes::from_static(b"hi"),
    };
    let first = peers.stub().call("note", (blob,));
    let second = peers.stub().call("note", ("overtakes",));
    peers
        .wait(futures_util::future::join(
            first.into_future(),
            second.into_future(),
        ))
        .await
        .0
        .expect("it ran");
    assert_eq!(peers.sample.notes(), r#""overtakes" Blob("", 2 bytes)"#);
    peers.quiet().await;
}

#[tokio::test]
async fn a_blob_larger_than_allowed_fails_its_call() {
    let peers = Peers::with(&Options::default().limits(Limits {
        max_blob_bytes: 1000,
        ..Limits::default()
    }));
    let blob = Blob {
        mime: String::new(),
        bytes: vec![0; 1001].into(),
    };
    assert_eq!(
        show(peers.wait(peers.stub().call("echo", (blob,))).await),
        "RangeError: the stream is longer than 1000 bytes"
    );
    peers.quiet().await;
}

#[tokio::test]
async fn bodies_travel_with_requests_and_responses() {
    let peers = Peers::new();
    let body = || {
        Body::Stream(ReadableStream::from_items([
            Bytes::from_static(b"a"),
            Bytes::from_static(b"b"),
        ]))
    };
    let headers = vec![("content-type".to_owned(), "text/plain".to_owned())];
    let request = Request {
        url: "http://example.com/".to_owned(),
        method: "POST".to_owned(),
        headers: headers.clone(),
        body: body(),
        extra: Default::default(),
    };
    let response = Response {
        status: 201,
        status_text: "made".to_owned(),
        headers,
        body: body(),
        extra: Default::default(),
    };
    let sent = Value::array([Value::from(request), Value::from(response)]);
    let Ok(Value::Array(mut echoed)) = peers.wait(peers.stub().call("echo", (sent,))).await else {
        panic!("echoed")
    };
    let (Some(Value::Response(response)), Some(Value::Request(request))) =
        (echoed.pop(), echoed.pop())
    else {
        panic!("a request and a response")
    };
    assert_eq!(
        (request.method.as_str(), request.url.as_str()),
        ("POST", "http://example.com/")
    );
    assert_eq!(
        (response.status, response.status_text.as_str()),
        (201, "made")
    );
    for body in [request.body, response.body] {
        let Body::Stream(stream) = body else {
            panic!("a stream")
        };
        assert_eq!(
            peers.wait(stream.collect_bytes(100)).await.expect("bytes"),
            "ab"
        );
    }
    peers.quiet().await;
}

// Limits.

#[tokio::test]
async fn unread_bytes_beyond_the_limit_end_the_session() {
    for chunk in [
        format!("\"{}\"", "x".repeat(2000)),
        format!(r#"["error","Error","{}"]"#, "x".repeat(2000)),
        format!(r#"["headers",[["name","{}"]]]"#, "x".repeat(2000)),
        format!(r#"["regexp","{}"]"#, "x".repeat(2000)),
        format!(r#"[[{}1]]"#, "1,".repeat(2000)),
    ] {
        let raw = Raw::limited(|limits| limits.max_queued_bytes = 10_000);
        raw.feed("[\"pipe\"]");
        for _ in 0..5 {
            raw.feed(&format!(r#"["stream",["pipeline",1,["write"],[{chunk}]]]"#));
        }
        assert_eq!(
            raw.connection
                .close_frame()
                .map(|close| close.reason)
                .as_deref(),
            Some("the session's streams hold too many unread bytes"),
            "{}",
            &chunk[..20]
        );
    }
}

#[tokio::test]
async fn waiting_writers_are_woken_once() {
    let (writable, _readable) = WritableStream::pipe();
    writable.write(1).await.expect("there is room");
    std::future::poll_fn(|polling| {
        for _ in 0..100 {
            assert!(writable.0.poll_room(polling).is_pending());
        }
        Poll::Ready(())
    })
    .await;
    assert_eq!(writable.0.lock().waiting.len(), 1);
}
