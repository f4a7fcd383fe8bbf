//! The interop target of `conformance/capnweb/README.md`, in Rust: the same object that `target.mjs`
//! hosts with npm, so that either side can be put against either.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use capnweb::{
    Any, Blob, Callback, Capability, Error, Promise, ReadableStream, Request, Response, Result,
    Stub, Value, WritableStream, target,
};

pub(crate) mod objects;
pub(crate) mod samples;
pub(crate) mod streams;

use objects::{Counter, Tracked, double};
use streams::{Sink, SinkContents, Source, StreamState};

/// What all sessions of one server share.
#[derive(Default)]
pub(crate) struct World {
    kept: Mutex<HashMap<String, Capability>>,
    tracked: Arc<AtomicU32>,
}

/// The main object of one session.
pub(crate) struct InteropTarget {
    world: Arc<World>,
    log: Mutex<Vec<Value>>,
    /// About the latest stream that was handed out.
    stream: Mutex<StreamState>,
    /// The latest sink that was handed out.
    sink: Mutex<SinkContents>,
}

impl InteropTarget {
    pub(crate) fn new(world: Arc<World>) -> Self {
        Self {
            world,
            log: Mutex::default(),
            stream: Mutex::default(),
            sink: Mutex::default(),
        }
    }

    fn follow<T>(&self, source: Source<T>) -> ReadableStream
    where
        Source<T>: futures_util::Stream<Item = Result<Value>> + Send + 'static,
    {
        *lock(&self.stream) = source.state();
        ReadableStream::new(source)
    }
}

#[target(pub(crate))]
impl InteropTarget {
    pub fn square(&self, n: Value) -> f64 {
        n.as_f64().map_or(f64::NAN, |n| n * n)
    }

    pub fn echo(&self, x: Value) -> Value {
        x
    }

    pub fn greet(&self, name: String) -> String {
        format!("Hello, {name}!")
    }

    pub fn bytes(&self, bytes: Bytes) -> Bytes {
        bytes
    }

    pub fn list(&self, n: u32) -> Vec<u32> {
        (0..n).collect()
    }

    pub fn generate_fibonacci(&self, n: usize) -> Vec<f64> {
        let pairs = std::iter::successors(Some((0.0, 1.0)), |(a, b)| Some((*b, a + b)));
        pairs.map(|(a, _)| a).take(n).collect()
    }

    pub fn return_null(&self) -> Value {
        Value::Null
    }

    pub fn return_undefined(&self) {}

    pub fn return_number(&self, n: f64) -> f64 {
        n
    }

    pub async fn delay(&self, milliseconds: f64, value: Value) -> Value {
        tokio::time::sleep(Duration::from_secs_f64(milliseconds / 1000.0)).await;
        value
    }

    pub async fn hang(&self) {
        std::future::pending().await
    }

    pub fn append(&self, x: Value) -> usize {
        let mut log = lock(&self.log);
        log.push(x);
        log.len()
    }

    pub fn log(&self) -> Value {
        Value::Array(lock(&self.log).clone())
    }

    // Objects and functions.

    pub fn make_counter(&self, start: Option<f64>) -> Counter {
        Counter::new(start.unwrap_or(0.0))
    }

    pub fn increment_counter(&self, counter: Stub<Counter>, by: Option<f64>) -> Promise<f64> {
        counter.increment(by.unwrap_or(1.0))
    }

    pub async fn call_me(&self, callback: Callback<(u32,), f64>, n: u32) -> Result<f64> {
        // Awaiting asks for the result, so all are asked for before the first is waited for.
        let asked: Vec<_> = (0..n).map(|i| callback.call((i,)).into_future()).collect();
        let mut sum = 0.0;
        for result in asked {
            sum += result.await?;
        }
        Ok(sum)
    }

    pub fn call_square(&self, squarer: Stub<Any>, n: Value) -> Value {
        Value::object([("result", squarer.call("square", (n,)))])
    }

    pub async fn call_function(&self, function: Callback, n: Value) -> Result<Value> {
        Ok(Value::object([("result", function.call(vec![n]).await?)]))
    }

    #[getter]
    pub fn info(&self) -> Value {
        let nested = Value::object([
            ("list", Value::array([1, 2, 3])),
            (
                "counters",
                Value::array([Counter::new(1.0), Counter::new(2.0)]),
            ),
        ]);
        Value::object([
            ("name", "interop".into()),
            ("version", 1.into()),
            ("counter", Counter::new(100.0).into()),
            ("double", double().into()),
            ("nested", nested),
        ])
    }

    // Three parties and lifetimes.

    pub fn keep(&self, name: String, stub: Capability) {
        let before = lock(&self.world.kept).insert(name, stub);
        // Released outside the lock: that may call into a session.
        drop(before);
    }

    pub fn kept(&self, name: String) -> Value {
        let stub = lock(&self.world.kept).get(&name).cloned();
        Value::object([("stub", stub.map_or(Value::Null, Value::Stub))])
    }

    pub fn drop_kept(&self, name: String) -> bool {
        let dropped = lock(&self.world.kept).remove(&name);
        dropped.is_some()
    }

    pub fn make_tracked(&self) -> Tracked {
        Tracked::new(self.world.tracked.clone())
    }

    pub fn live_tracked(&self) -> u32 {
        self.world.tracked.load(Ordering::SeqCst)
    }

    // Samples and errors.

    pub fn make(&self, kind: String) -> Result<Value> {
        samples::make(&kind)
    }

    pub async fn check(&self, kind: String, value: Value) -> Result<bool> {
        samples::check(&kind, value).await
    }

    pub fn throw_sample(&self, kind: String) -> Result<()> {
        Err(match samples::make(&kind)? {
            Value::Error(error) => error,
            other => Error::thrown(other),
        })
    }

    pub fn fail(&self, message: String) -> Result<()> {
        Err(Error::range_error(message))
    }

    pub fn throw_error(&self) -> Result<()> {
        Err(Error::range_error("test error"))
    }

    // Blobs and fetch types.

    pub fn echo_blob(&self, blob: Blob) -> Blob {
        blob
    }

    pub fn serve(&self, request: Request) -> Result<Response> {
        let headers = [
            ("x-method", request.method),
            ("x-path", path_of(&request.url)?),
        ];
        Ok(Response {
            status: 200,
            status_text: String::new(),
            headers: headers.map(|(name, value)| (name.to_owned(), value)).into(),
            body: request.body,
            extra: Default::default(),
        })
    }

    // Streams.

    pub fn count_to(&self, n: u32, wrap: Option<bool>) -> ReadableStream {
        let wrap = wrap.unwrap_or(false);
        let chunk = move |i| match wrap {
            true => Value::object([
                ("value", Value::from(i)),
                ("counter", Counter::new(f64::from(i)).into()),
            ]),
            false => Value::from(i),
        };
        self.follow(Source::new((1..=n).map(move |i| Ok((1, chunk(i))))))
    }

    pub fn byte_stream(&self, size: usize, chunk: Option<usize>) -> ReadableStream {
        let chunk = chunk.unwrap_or(65536);
        let pieces = (0..size)
            .step_by(chunk)
            .map(move |at| samples::pattern(at, chunk.min(size - at)));
        self.follow(Source::new(
            pieces.map(|bytes| Ok((bytes.len(), bytes.into()))),
        ))
    }

    pub fn failing_stream(&self, n: u32) -> ReadableStream {
        let failure = std::iter::once_with(|| Err(Error::range_error("stream failed")));
        self.follow(Source::new(
            (1..=n).map(|i| Ok((1, i.into()))).chain(failure),
        ))
    }

    pub fn stream_state(&self) -> Value {
        lock(&self.stream).to_value()
    }

    pub async fn sum(&self, readable: ReadableStream) -> Result<f64> {
        streams::sum(readable).await
    }

    pub async fn hash_bytes(
        &self,
        readable: ReadableStream<Bytes>,
        delay: Option<f64>,
    ) -> Result<Value> {
        tokio::time::sleep(Duration::from_secs_f64(delay.unwrap_or(0.0) / 1000.0)).await;
        streams::hash(readable).await
    }

    pub fn open_sink(&self, fail_after: Option<f64>) -> WritableStream {
        let sink = Sink::new(fail_after.unwrap_or(f64::INFINITY));
        *lock(&self.sink) = sink.contents();
        WritableStream::new(sink)
    }

    pub fn sink_contents(&self) -> Value {
        lock(&self.sink).to_value()
    }

    pub async fn write_to(&self, writable: WritableStream, n: u32) -> Result<u32> {
        for i in 1..=n {
            writable.write(i).await?;
        }
        writable.close().await?;
        Ok(n)
    }
}

/// The path of an absolute URL, without its query.
fn path_of(url: &str) -> Result<String> {
    let url: http::Uri = url
        .parse()
        .map_err(|_| Error::type_error("the request has no valid URL"))?;
    Ok(url.path().to_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
