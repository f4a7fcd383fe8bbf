//! Streams that come from the npm server, and sinks it writes to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use capnweb::{Error, ErrorKind, ReadableStream, Result, Stub, Value, WritableStream, target};
use futures_util::StreamExt;
use futures_util::future::join_all;

use super::{Peer, with_peer};
use crate::interop_target::objects::Counter;
use crate::interop_target::samples;
use crate::support::eventually::{eventually, steady};

const MIB: usize = 1 << 20;

async fn numbers(stream: ReadableStream) -> Vec<u32> {
    stream.cast::<u32>().map(Result::unwrap).collect().await
}

/// What the server says has become of its latest stream.
async fn state(peer: &Peer<'_>) -> (usize, String) {
    let state = peer.api.stream_state().await.unwrap();
    let produced = state.field("produced").unwrap().as_f64().unwrap() as usize;
    (
        produced,
        state.field("state").unwrap().as_str().unwrap().to_owned(),
    )
}

#[tokio::test]
async fn a_stream_is_read_to_its_end() {
    with_peer(async |peer| {
        let stream = peer.api.count_to(10_u32, None).await.unwrap();
        assert_eq!(numbers(stream).await, (1..=10).collect::<Vec<_>>());
        assert_eq!(state(peer).await, (10, "closed".to_owned()));
        assert!(
            numbers(peer.api.count_to(0_u32, None).await.unwrap())
                .await
                .is_empty()
        );
    })
    .await;
}

#[tokio::test]
async fn chunks_may_hold_capabilities() {
    with_peer(async |peer| {
        let mut stream = peer.api.count_to(3_u32, true).await.unwrap();
        let mut sums = Vec::new();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.unwrap();
            let Some(Value::Stub(counter)) = chunk.field("counter") else {
                panic!("{chunk:?}")
            };
            let counter = Stub::<Counter>::from_capability(counter.clone());
            sums.push(
                counter
                    .increment(chunk.field("value").unwrap().as_f64())
                    .await
                    .unwrap(),
            );
        }
        assert_eq!(sums, [2.0, 4.0, 6.0]);
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_fails_ends_with_its_error() {
    with_peer(async |peer| {
        let items: Vec<_> = peer
            .api
            .failing_stream(2_u32)
            .await
            .unwrap()
            .collect()
            .await;
        let error = items.last().unwrap().as_ref().unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::RangeError, "stream failed")
        );
        // The error may overtake unread chunks; none comes twice or out of order.
        assert!(items.len() <= 3, "{items:?}");
        assert_eq!(state(peer).await, (2, "failed".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_is_dropped_is_cancelled_at_its_source() {
    with_peer(async |peer| {
        let mut stream = peer.api.count_to(10_000_000_u32, None).await.unwrap();
        assert_eq!(stream.next().await.unwrap().unwrap().as_f64(), Some(1.0));
        drop(stream);
        eventually("the source", "cancelled".to_owned(), async || {
            state(peer).await.1
        })
        .await;
        drop(peer.api.count_to(10_000_000_u32, None).await.unwrap());
        eventually("the source", "cancelled".to_owned(), async || {
            state(peer).await.1
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_stream_without_a_reader_stops_within_the_window_and_goes_on_later() {
    with_peer(async |peer| {
        let stream = peer.api.byte_stream(24 * MIB, None).await.unwrap();
        let mut stream = stream.cast::<Bytes>();
        let first = stream.next().await.unwrap().unwrap();
        let produced = steady(async || state(peer).await.0).await;
        assert!(
            produced < 6 * MIB,
            "{produced} bytes were made for a reader that took one chunk"
        );
        let (mut bytes, mut hash) = (first.len(), samples::hash_of(&first, 0));
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.unwrap();
            bytes += chunk.len();
            hash = samples::hash_of(&chunk, hash);
        }
        assert_eq!(
            (bytes, hash),
            (
                24 * MIB,
                samples::hash_of(&samples::pattern(0, 24 * MIB), 0)
            )
        );
    })
    .await;
}

#[tokio::test]
async fn several_streams_flow_at_once() {
    with_peer(async |peer| {
        let streams = [5_u32, 50, 500]
            .map(|n| async move { numbers(peer.api.count_to(n, None).await.unwrap()).await });
        let lengths: Vec<_> = join_all(streams).await.iter().map(Vec::len).collect();
        assert_eq!(lengths, [5, 50, 500]);
    })
    .await;
}

// Sinks of ours.

/// What was written to a sink, and how it ended.
#[derive(Clone, Debug, Default, PartialEq)]
struct Written {
    chunks: Vec<f64>,
    end: Option<&'static str>,
}

/// Stores chunks; the one after `room` fails.
struct Sink {
    room: usize,
    written: Arc<Mutex<Written>>,
}

#[target(pub(crate))]
impl Sink {
    pub fn write(&self, chunk: f64) -> Result<()> {
        let mut written = self.written.lock().unwrap();
        if written.chunks.len() >= self.room {
            return Err(Error::range_error("my sink is full"));
        }
        written.chunks.push(chunk);
        Ok(())
    }

    pub fn close(&self) {
        self.written.lock().unwrap().end.get_or_insert("closed");
    }

    pub fn abort(&self, _reason: Value) {
        self.written.lock().unwrap().end.get_or_insert("aborted");
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.written.lock().unwrap().end.get_or_insert("dropped");
    }
}

fn sink(room: usize) -> (WritableStream, Arc<Mutex<Written>>) {
    let written = Arc::<Mutex<Written>>::default();
    (
        WritableStream::new(Sink {
            room,
            written: written.clone(),
        }),
        written,
    )
}

#[tokio::test]
async fn the_callee_writes_to_a_sink_of_ours() {
    with_peer(async |peer| {
        let (stream, written) = sink(100);
        assert_eq!(peer.api.write_to(stream, 5_u32).await.unwrap(), 5);
        let expected = Written {
            chunks: vec![1.0, 2.0, 3.0, 4.0, 5.0],
            end: Some("closed"),
        };
        eventually("the sink", expected, async || {
            written.lock().unwrap().clone()
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn the_callee_writes_into_a_pipe_that_is_read_here() {
    with_peer(async |peer| {
        let (writable, readable) = WritableStream::pipe();
        let writing = peer.api.write_to(writable, 100_u32).into_future();
        assert_eq!(numbers(readable).await, (1..=100).collect::<Vec<_>>());
        assert_eq!(writing.await.unwrap(), 100);
    })
    .await;
}

/// Takes a while for each chunk, and notes when it begins and when it is done.
struct SlowSink(Arc<Mutex<Vec<String>>>);

#[target(pub(crate))]
impl SlowSink {
    pub async fn write(&self, chunk: u32) {
        self.0.lock().unwrap().push(format!("{chunk}..."));
        tokio::time::sleep(Duration::from_millis(2)).await;
        self.0.lock().unwrap().push(format!("{chunk}"));
    }

    pub async fn close(&self) {
        self.0.lock().unwrap().push("closed".to_owned());
    }
}

#[tokio::test]
async fn a_sink_of_ours_gets_one_chunk_after_the_other() {
    with_peer(async |peer| {
        let log = Arc::<Mutex<Vec<String>>>::default();
        let stream = WritableStream::new(SlowSink(log.clone()));
        assert_eq!(peer.api.write_to(stream, 20_u32).await.unwrap(), 20);
        let chunks = (1..=20).flat_map(|chunk| [format!("{chunk}..."), format!("{chunk}")]);
        let expected: Vec<_> = chunks.chain(["closed".to_owned()]).collect();
        assert_eq!(*log.lock().unwrap(), expected);
    })
    .await;
}

#[tokio::test]
async fn a_sink_of_ours_that_fails_fails_the_callee() {
    with_peer(async |peer| {
        let (stream, written) = sink(3);
        let error = peer.api.write_to(stream, 5_u32).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::RangeError, "my sink is full")
        );
        assert_eq!(written.lock().unwrap().chunks, [1.0, 2.0, 3.0]);
    })
    .await;
}

#[tokio::test]
async fn a_sink_of_ours_that_is_not_closed_is_given_up() {
    with_peer(async |peer| {
        let (stream, written) = sink(3);
        peer.api.call("returnNull", (stream,)).await.unwrap();
        eventually("the sink", true, async || {
            written
                .lock()
                .unwrap()
                .end
                .is_some_and(|end| end != "closed")
        })
        .await;
        let (writable, mut readable) = WritableStream::pipe();
        peer.api.call("returnNull", (writable,)).await.unwrap();
        assert!(readable.next().await.unwrap().is_err());
    })
    .await;
}
