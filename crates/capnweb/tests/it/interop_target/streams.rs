//! The streams of the interop target: sources that tell how far they were read, sinks that tell what
//! was written, and what is computed over a stream.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use capnweb::{Error, ReadableStream, Result, Value, target};
use futures_util::{Stream, StreamExt};

use super::{lock, samples};

/// What has become of a source.
#[derive(Clone, Default)]
pub(crate) struct StreamState(Arc<Mutex<Progress>>);

struct Progress {
    produced: usize,
    state: &'static str,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            produced: 0,
            state: "none",
        }
    }
}

impl StreamState {
    pub(crate) fn to_value(&self) -> Value {
        let progress = lock(&self.0);
        Value::object([
            ("produced", Value::from(progress.produced)),
            ("state", progress.state.into()),
        ])
    }
}

/// Chunks made when asked for, each with its size.
pub(crate) struct Source<I> {
    chunks: I,
    state: StreamState,
}

impl<I> Source<I> {
    pub(crate) fn new(chunks: I) -> Self {
        let state = StreamState::default();
        lock(&state.0).state = "open";
        Self { chunks, state }
    }

    pub(crate) fn state(&self) -> StreamState {
        self.state.clone()
    }
}

impl<I> Stream for Source<I>
where
    I: Iterator<Item = Result<(usize, Value)>> + Unpin,
{
    type Item = Result<Value>;

    fn poll_next(mut self: Pin<&mut Self>, _polling: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.chunks.next();
        let mut progress = lock(&self.state.0);
        Poll::Ready(match next {
            Some(Ok((size, chunk))) => {
                progress.produced += size;
                Some(Ok(chunk))
            }
            Some(Err(error)) => {
                progress.state = "failed";
                Some(Err(error))
            }
            None => {
                progress.state = "closed";
                None
            }
        })
    }
}

impl<I> Drop for Source<I> {
    fn drop(&mut self) {
        let mut progress = lock(&self.state.0);
        if progress.state == "open" {
            progress.state = "cancelled";
        }
    }
}

/// What has become of a sink.
#[derive(Clone, Default)]
pub(crate) struct SinkContents(Arc<Mutex<Written>>);

struct Written {
    chunks: Vec<Value>,
    state: &'static str,
    reason: Option<String>,
}

impl Default for Written {
    fn default() -> Self {
        Self {
            chunks: Vec::new(),
            state: "none",
            reason: None,
        }
    }
}

impl SinkContents {
    pub(crate) fn to_value(&self) -> Value {
        let written = lock(&self.0);
        Value::object([
            ("chunks", Value::Array(written.chunks.clone())),
            ("state", written.state.into()),
            (
                "reason",
                written.reason.clone().map_or(Value::Null, Value::from),
            ),
        ])
    }

    fn end(&self, state: &'static str, reason: Option<String>) {
        let mut written = lock(&self.0);
        if written.state == "open" {
            written.state = state;
            written.reason = reason;
        }
    }
}

/// Stores what is written to it, so many chunks; the next one fails.
pub(crate) struct Sink {
    fail_after: f64,
    contents: SinkContents,
}

#[target(pub(crate))]
impl Sink {
    pub(crate) fn new(fail_after: f64) -> Self {
        let contents = SinkContents::default();
        lock(&contents.0).state = "open";
        Self {
            fail_after,
            contents,
        }
    }

    pub(crate) fn contents(&self) -> SinkContents {
        self.contents.clone()
    }

    pub fn write(&self, chunk: Value) -> Result<()> {
        let mut written = lock(&self.contents.0);
        if written.chunks.len() as f64 >= self.fail_after {
            drop(written);
            self.contents.end("failed", Some("sink full".to_owned()));
            return Err(Error::range_error("sink full"));
        }
        written.chunks.push(chunk);
        Ok(())
    }

    pub fn close(&self) {
        self.contents.end("closed", None);
    }

    pub fn abort(&self, reason: Option<Error>) {
        self.contents
            .end("aborted", reason.map(|reason| reason.message().to_owned()));
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.contents.end("aborted", None);
    }
}

/// Adds up numbers; functions are called for theirs; a negative number ends it.
pub(crate) async fn sum(mut readable: ReadableStream) -> Result<f64> {
    let mut sum = 0.0;
    while let Some(chunk) = readable.next().await {
        sum += match chunk? {
            Value::Stub(function) => function.invoke(()).cast::<f64>().await?,
            Value::Number(n) if n < 0.0 => break,
            Value::Number(n) => n,
            other => return Err(Error::type_error(format!("cannot add {other:?}"))),
        };
    }
    Ok(sum)
}

/// How much came, in how many chunks, and its hash.
pub(crate) async fn hash(mut readable: ReadableStream<Bytes>) -> Result<Value> {
    let (mut bytes, mut chunks, mut hash) = (0, 0, 0);
    while let Some(chunk) = readable.next().await {
        let chunk = chunk?;
        bytes += chunk.len();
        chunks += 1;
        hash = samples::hash_of(&chunk, hash);
    }
    Ok(Value::object([
        ("bytes", Value::from(bytes)),
        ("chunks", Value::from(chunks)),
        ("hash", Value::from(hash)),
    ]))
}
