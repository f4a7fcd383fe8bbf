//! Streams of ours that the npm server reads, and its sinks that we write to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use capnweb::{
    Capability, Date, Error, ErrorKind, ReadableStream, Result, Stub, Value, WritableStream,
};
use futures_util::{Stream, StreamExt, stream};

use super::with_peer;
use crate::interop_target::InteropTarget;
use crate::interop_target::samples::{self, is_same};
use crate::support::eventually::{eventually, steady};

const MIB: usize = 1 << 20;

/// How far a stream of ours was read, and whether it was let go.
#[derive(Clone, Default)]
struct Seen {
    produced: Arc<AtomicUsize>,
    dropped: Arc<AtomicBool>,
}

impl Seen {
    /// The stream of these chunks, watched.
    fn watch<T: Into<Value> + 'static>(
        &self,
        chunks: impl Iterator<Item = T> + Send + 'static,
    ) -> impl Stream<Item = Result<T>> + Send + 'static {
        let (produced, end) = (self.produced.clone(), SetOnDrop(self.dropped.clone()));
        stream::iter(chunks).map(move |chunk| {
            let _ = &end;
            produced.fetch_add(1, Ordering::SeqCst);
            Ok(chunk)
        })
    }

    async fn assert_dropped(&self) {
        eventually("the source is dropped", true, async || {
            self.dropped.load(Ordering::SeqCst)
        })
        .await;
    }
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn pieces(size: usize) -> impl Iterator<Item = Bytes> + Send + 'static {
    (0..size)
        .step_by(65536)
        .map(|at| samples::pattern(at, 65536))
}

/// What `hashBytes` gives for the pattern of that size.
fn hash_of(size: usize) -> Value {
    let hash = samples::hash_of(&samples::pattern(0, size), 0);
    Value::object([
        ("bytes", Value::from(size)),
        ("chunks", Value::from(size / 65536)),
        ("hash", Value::from(hash)),
    ])
}

#[tokio::test]
async fn a_stream_of_ours_is_read_by_the_callee() {
    with_peer(async |peer| {
        assert_eq!(
            peer.api
                .sum(ReadableStream::from_items([1, 2, 3, 4]))
                .await
                .unwrap(),
            10.0
        );
        assert_eq!(
            peer.api
                .sum(ReadableStream::from_items(Vec::<u32>::new()))
                .await
                .unwrap(),
            0.0
        );
    })
    .await;
}

#[tokio::test]
async fn capabilities_in_our_chunks_are_called() {
    with_peer(async |peer| {
        let give = |n: f64| Value::from(Capability::from_fn(move |_| std::future::ready(n)));
        let chunks = vec![Value::from(1), give(20.0), give(300.0)];
        assert_eq!(
            peer.api
                .sum(ReadableStream::from_items(chunks))
                .await
                .unwrap(),
            321.0
        );
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_the_callee_cancels_stops_here() {
    with_peer(async |peer| {
        let seen = Seen::default();
        let chunks = [5, 6].into_iter().chain(std::iter::repeat(-1));
        assert_eq!(
            peer.api
                .sum(ReadableStream::new(seen.watch(chunks)))
                .await
                .unwrap(),
            11.0
        );
        seen.assert_dropped().await;
    })
    .await;
}

#[tokio::test]
async fn a_stream_that_the_callee_never_reads_stops_here() {
    with_peer(async |peer| {
        let seen = Seen::default();
        let stream = ReadableStream::new(seen.watch(0_u32..));
        peer.api.call("returnNull", (stream,)).await.unwrap();
        seen.assert_dropped().await;
    })
    .await;
}

#[tokio::test]
async fn the_error_of_a_stream_of_ours_reaches_the_callee() {
    with_peer(async |peer| {
        let broken = Error::of(ErrorKind::UriError, "source broke");
        let chunks = stream::iter([Ok(1), Ok(2), Err(broken)]);
        let error = peer.api.sum(ReadableStream::new(chunks)).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::UriError, "source broke")
        );
    })
    .await;
}

#[tokio::test]
async fn a_slow_reader_holds_us_back() {
    with_peer(async |peer| {
        let seen = Seen::default();
        let stream = ReadableStream::new(seen.watch(pieces(16 * MIB)));
        let result = peer.api.call("hashBytes", (stream, 2000)).into_future();
        let produced = steady(async || seen.produced.load(Ordering::SeqCst) * 65536).await;
        assert!(
            produced > 0 && produced < 6 * MIB,
            "{produced} bytes were sent to a reader that had not begun"
        );
        let result = result.await.unwrap();
        assert!(is_same(&result, &hash_of(16 * MIB)), "{result:?}");
    })
    .await;
}

#[tokio::test]
async fn a_stream_comes_back_and_is_sent_on() {
    with_peer(async |peer| {
        let chunks = vec![
            Value::from(1),
            "two".into(),
            Value::object([("three", Value::from(u64::MAX))]),
        ];
        let echoed = peer
            .api
            .echo(Value::from(ReadableStream::from_items(chunks.clone())))
            .await
            .unwrap();
        let Value::Readable(echoed) = echoed else {
            panic!("{echoed:?}")
        };
        let back: Vec<_> = echoed.map(Result::unwrap).collect().await;
        assert!(is_same(&Value::Array(back), &Value::Array(chunks)));
        let received = peer.api.count_to(100_u32, None).await.unwrap();
        assert_eq!(peer.api.sum(received).await.unwrap(), 5050.0);
        // Not even received: the promise of the stream is the argument.
        let promised = peer.api.count_to(100_u32, None);
        assert_eq!(peer.api.sum(promised).await.unwrap(), 5050.0);
    })
    .await;
}

// Sinks of the server.

async fn contents(api: &Stub<InteropTarget>) -> (usize, String, Value) {
    let contents = api.sink_contents().await.unwrap();
    let chunks = contents.field("chunks").unwrap().as_array().unwrap().len();
    let state = contents
        .field("state")
        .unwrap()
        .as_str()
        .unwrap()
        .to_owned();
    (chunks, state, contents.field("reason").unwrap().clone())
}

#[tokio::test]
async fn a_sink_stores_what_is_written() {
    with_peer(async |peer| {
        let sink = peer.api.open_sink(None).await.unwrap();
        let date = Value::from(Date::from_milliseconds(3.0));
        let chunks = [
            1.into(),
            "two".into(),
            date,
            Value::object([("four", vec![4])]),
            Value::bytes(vec![5]),
        ];
        for chunk in &chunks {
            sink.write(chunk.clone()).await.unwrap();
        }
        sink.close().await.unwrap();
        let contents = peer.api.sink_contents().await.unwrap();
        assert!(
            is_same(
                contents.field("chunks").unwrap(),
                &Value::Array(chunks.into())
            ),
            "{contents:?}"
        );
        assert_eq!(contents.field("state").unwrap().as_str(), Some("closed"));
        assert!(sink.write(6).await.is_err(), "written after the end");
    })
    .await;
}

#[tokio::test]
async fn a_thousand_writes_arrive_in_order_through_the_sink_trait() {
    with_peer(async |peer| {
        let sink = peer.api.open_sink(None).await.unwrap();
        stream::iter(0..1000)
            .map(|i| Ok(Value::from(i)))
            .forward(sink)
            .await
            .unwrap();
        let contents = peer.api.sink_contents().await.unwrap();
        let expected = Value::array(0..1000);
        assert!(is_same(contents.field("chunks").unwrap(), &expected));
        assert_eq!(contents.field("state").unwrap().as_str(), Some("closed"));
    })
    .await;
}

#[tokio::test]
async fn a_sink_is_told_why_it_was_aborted() {
    with_peer(async |peer| {
        let sink = peer.api.open_sink(None).await.unwrap();
        sink.write(1).await.unwrap();
        sink.abort(Error::new("changed my mind")).await;
        let aborted = async || {
            let (chunks, state, reason) = contents(&peer.api).await;
            (chunks, state, reason.as_str().map(str::to_owned))
        };
        let expected = (1, "aborted".to_owned(), Some("changed my mind".to_owned()));
        eventually("the sink", expected, aborted).await;
        assert_eq!(
            sink.write(2).await.unwrap_err().message(),
            "changed my mind"
        );
    })
    .await;
}

#[tokio::test]
async fn a_sink_that_is_dropped_is_aborted() {
    with_peer(async |peer| {
        let sink: WritableStream = peer.api.open_sink(None).await.unwrap();
        drop(sink);
        eventually("the sink", "aborted".to_owned(), async || {
            contents(&peer.api).await.1
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_sink_that_fails_fails_the_writer() {
    with_peer(async |peer| {
        let sink = peer.api.open_sink(2.0).await.unwrap();
        let writing = async {
            for i in 0..1000 {
                sink.write(i).await?;
                // Gives the answers a chance to come in.
                peer.api.square(Value::from(1)).await?;
            }
            sink.close().await
        };
        let error = writing.await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::RangeError, "sink full")
        );
        assert_eq!(sink.close().await.unwrap_err().message(), "sink full");
        let (chunks, state, _) = contents(&peer.api).await;
        assert_eq!((chunks, state.as_str()), (2, "failed"));
    })
    .await;
}
