//! The common parts of a session's unit tests: two joined sessions, a raw peer, and a target to call.

use std::collections::HashMap;
use std::future::IntoFuture;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use expect_test::Expect;
use tokio::sync::Notify;

use crate::hook::Hook;
use crate::hook::deferred::{Resolver, deferred};
use crate::{
    Any, Arguments, Capability, Connection, Error, Limits, Member, Options, Promise,
    ReadableStream, Reply, Result, Stats, Stub, Target, Value, WritableStream,
};

pub(crate) const REST: Stats = Stats {
    imports: 1,
    exports: 1,
    pending: 0,
};

/// Two sessions with frames moved by hand. Dropping them asserts that their tables are empty.
pub(crate) struct Peers {
    pub(crate) server: Connection,
    /// Offers nothing, unless said otherwise.
    pub(crate) client: Connection,
    pub(crate) sample: Arc<Sample>,
}

impl Peers {
    pub(crate) fn new() -> Self {
        Self::with(&Options::default())
    }

    pub(crate) fn with(options: &Options) -> Self {
        Self::offering(Capability::nothing(), options)
    }

    /// The client offers `main`.
    pub(crate) fn offering(main: impl Into<Capability>, options: &Options) -> Self {
        let sample = Sample::new();
        let server = Connection::new(Capability::from_target(sample.clone()), options);
        let client = Connection::new(main, &Options::default());
        Self {
            server,
            client,
            sample,
        }
    }

    /// The server's main object, as the client holds it.
    pub(crate) fn stub(&self) -> Stub {
        self.client.remote::<Any>()
    }

    /// Moves frames until there are none. Gives how many there were.
    pub(crate) fn pump(&self) -> usize {
        let mut moved = 0;
        loop {
            let frames: Vec<_> = self.client.take_outgoing().into();
            let answers: Vec<_> = self.server.take_outgoing().into();
            if frames.is_empty() && answers.is_empty() {
                return moved;
            }
            moved += frames.len() + answers.len();
            frames.iter().for_each(|frame| self.server.receive(frame));
            answers.iter().for_each(|frame| self.client.receive(frame));
        }
    }

    /// Moves frames and lets tasks run until neither has anything left to do.
    pub(crate) async fn quiet(&self) {
        let mut idle = 0;
        while idle < 3 {
            for _ in 0..16 {
                tokio::task::yield_now().await;
            }
            idle = if self.pump() == 0 { idle + 1 } else { 0 };
        }
    }

    /// Waits for a result while frames move.
    pub(crate) async fn wait<F: IntoFuture>(&self, future: F) -> F::Output {
        let mut future = pin!(future.into_future());
        loop {
            self.pump();
            tokio::select! {
                biased;
                output = &mut future => return output,
                () = self.server.outgoing() => {}
                () = self.client.outgoing() => {}
            }
        }
    }

    /// The result of a promise that needs no task to come.
    #[track_caller]
    pub(crate) fn result(&self, promise: Promise) -> Result<Value> {
        let mut future = pin!(promise.into_future());
        self.pump();
        now(future.as_mut()).expect("the promise is settled once no frame is left")
    }

    /// As [`Peers::result`], of a call on the server's main object, printed.
    #[track_caller]
    pub(crate) fn call(&self, method: &str, arguments: Vec<Value>) -> String {
        show(self.result(self.stub().call(method, arguments)))
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.pump();
        for connection in [&self.server, &self.client] {
            assert_rest(connection);
        }
    }
}

/// Nothing is left in its tables: not even the main objects, when it has ended.
#[track_caller]
pub(crate) fn assert_rest(connection: &Connection) {
    let rest = if connection.close_frame().is_some() {
        Stats::default()
    } else {
        REST
    };
    assert_eq!(connection.stats(), rest, "the session leaks");
}

/// The output of a future that is ready.
pub(crate) fn now<T>(future: std::pin::Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Option<T> {
    match future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) {
        std::task::Poll::Ready(output) => Some(output),
        std::task::Poll::Pending => None,
    }
}

/// A result in one line.
pub(crate) fn show(result: Result<Value>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    }
}

/// A session that offers [`Sample`] to a peer that writes frames by hand.
pub(crate) struct Raw {
    pub(crate) connection: Connection,
    pub(crate) sample: Arc<Sample>,
}

impl Raw {
    pub(crate) fn new() -> Self {
        Self::with(&Options::default())
    }

    pub(crate) fn limited(change: impl FnOnce(&mut Limits)) -> Self {
        let mut limits = Limits::default();
        change(&mut limits);
        Self::with(&Options::default().limits(limits))
    }

    pub(crate) fn with(options: &Options) -> Self {
        let sample = Sample::new();
        Self {
            connection: Connection::new(Capability::from_target(sample.clone()), options),
            sample,
        }
    }

    /// Feeds the frames, one on each line; gives what is sent, and how the session ends if it does.
    pub(crate) fn feed(&self, frames: &str) -> String {
        for frame in frames
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
        {
            self.connection.receive(frame);
        }
        self.sent()
    }

    /// What is sent, one frame on each line.
    pub(crate) fn sent(&self) -> String {
        let mut sent: Vec<String> = self.connection.take_outgoing().into();
        if let Some(close) = self.connection.close_frame() {
            sent.push(format!("close {} {}", close.code, close.reason));
        }
        sent.join("\n")
    }

    /// Feeds the frames and compares what is sent.
    #[expect(clippy::needless_pass_by_value, reason = "so that tests read well")]
    pub(crate) fn check(&self, frames: &str, expected: Expect) {
        expected.assert_eq(&self.feed(frames));
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_rest(&self.connection);
        }
    }
}

/// Feeds a session frames that leave nothing behind, and compares what it sends.
pub(crate) fn check(frames: &str, expected: Expect) {
    Raw::new().check(frames, expected);
}

/// Runs `work` where deep recursion does not get far.
pub(crate) fn with_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work);
    thread
        .expect("a thread can be started")
        .join()
        .expect("the work ends well");
}

/// A target with a bit of everything.
#[derive(Default)]
pub(crate) struct Sample {
    /// What `note` was called with, in order.
    pub(crate) notes: Mutex<Vec<String>>,
    /// Answers that `later` owes.
    pub(crate) owed: Mutex<HashMap<String, Resolver>>,
    /// What `keep` was given.
    pub(crate) kept: Mutex<Vec<Value>>,
    /// Opened by the test; `wait` waits for it.
    pub(crate) gate: Notify,
    /// How many objects made by `counter` are gone.
    pub(crate) gone: Arc<AtomicUsize>,
}

impl Sample {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn notes(&self) -> String {
        self.notes.lock().expect("no test panics here").join(" ")
    }

    pub(crate) fn gone(&self) -> usize {
        self.gone.load(Ordering::SeqCst)
    }

    /// Gives the answer that `later(name)` owes.
    pub(crate) fn answer(&self, name: &str, answer: Result<Value>) {
        let resolver = self.owed.lock().expect("no test panics here").remove(name);
        resolver
            .expect("it was asked for")
            .resolve(Hook::from_result(answer, &Default::default()));
    }

    fn keep(&self, value: Value) {
        self.kept.lock().expect("no test panics here").push(value);
    }
}

impl Target for Sample {
    fn member(&self, name: &str) -> Member {
        match name {
            "settings" | "itself" => Member::Getter,
            "missing" => Member::Absent,
            _ => Member::Method,
        }
    }

    fn get(self: Arc<Self>, property: &str) -> Reply {
        match property {
            "settings" => Reply::ready(Value::object([("size", 3), ("depth", 4)])),
            _ => Reply::ready(Capability::from_target(self)),
        }
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Reply {
        let mut arguments = arguments.rest().into_iter();
        let mut next = || arguments.next().unwrap_or_default();
        match method {
            "echo" => Reply::ready(next()),
            "first" => Reply::ready(match next() {
                Value::Array(items) => items.into_iter().next().unwrap_or_default(),
                other => other,
            }),
            "count" => Reply::ready(1 + arguments.len() as u32),
            "square" => {
                let number = next().as_f64().unwrap_or(f64::NAN);
                Reply::ready(number * number)
            }
            "list" => {
                let length = next().as_f64().unwrap_or(0.0) as u32;
                Reply::ready((0..length).collect::<Vec<_>>())
            }
            "counter" => {
                let start = next().as_f64().unwrap_or(0.0);
                Reply::ready(Counter::stub(start, &self.gone))
            }
            "fail" => Reply::error(Error::range_error("test error")),
            "throw" => Reply::error(match next() {
                Value::Error(error) => error,
                value => Error::thrown(value),
            }),
            "panic" => panic!("a secret of the handler"),
            "internal" => Reply::error(Error::internal("a secret of the database")),
            "note" => {
                let text = format!("{:?}", next());
                self.notes.lock().expect("no test panics here").push(text);
                Reply::ready(())
            }
            "later" => {
                let (promise, resolver) = deferred();
                let name = next().as_str().unwrap_or_default().to_owned();
                self.owed
                    .lock()
                    .expect("no test panics here")
                    .insert(name, resolver);
                Reply::ready(Promise::<Value>::from(crate::promise::Pipelined::from(
                    Hook::Promise(promise),
                )))
            }
            "wait" => {
                let value = next();
                Reply::future(async move {
                    self.gate.notified().await;
                    value
                })
            }
            // Calls a function and hands on the promise of its result.
            "callback" => match next() {
                Value::Stub(function) => {
                    Reply::ready(function.invoke(arguments.collect::<Vec<_>>()))
                }
                _ => Reply::error(Error::type_error("not a function")),
            },
            "callback_inside" => match next() {
                Value::Stub(function) => Reply::ready(Value::object([(
                    "result",
                    function.invoke(arguments.collect::<Vec<_>>()),
                )])),
                _ => Reply::error(Error::type_error("not a function")),
            },
            "keep" => {
                self.keep(next());
                Reply::ready(())
            }
            "kept" => Reply::ready(
                self.kept
                    .lock()
                    .expect("no test panics here")
                    .last()
                    .cloned()
                    .unwrap_or_default(),
            ),
            "forget" => {
                let kept = std::mem::take(&mut *self.kept.lock().expect("no test panics here"));
                drop(kept);
                Reply::ready(())
            }
            "readable" => {
                let length = next().as_f64().unwrap_or(0.0) as u32;
                Reply::ready(ReadableStream::from_items(0..length))
            }
            "collect" => match next() {
                Value::Readable(stream) => Reply::future(collect(stream)),
                _ => Reply::error(Error::type_error("not a stream")),
            },
            // Gives the writing end and keeps the reading one.
            "writable" => {
                let (writable, readable) = WritableStream::pipe();
                self.keep(Value::Readable(readable));
                Reply::ready(writable)
            }
            "write" => {
                let stream = next();
                let chunks: Vec<Value> = arguments.collect();
                match stream {
                    Value::Writable(stream) => Reply::future(async move {
                        for chunk in chunks {
                            stream.write(chunk).await?;
                        }
                        stream.close().await
                    }),
                    _ => Reply::error(Error::type_error("not a stream")),
                }
            }
            _ => Reply::no_such_method(method),
        }
    }
}

/// All that a stream gives, and how it ended.
pub(crate) async fn collect(mut stream: ReadableStream) -> Result<Vec<Value>> {
    let mut chunks = Vec::new();
    while let Some(chunk) = futures_util::StreamExt::next(&mut stream).await {
        chunks.push(chunk?);
    }
    Ok(chunks)
}

/// An object that counts, and counts itself out when it is dropped.
pub(crate) struct Counter {
    value: Mutex<f64>,
    gone: Arc<AtomicUsize>,
}

impl Counter {
    pub(crate) fn stub(start: f64, gone: &Arc<AtomicUsize>) -> Capability {
        Capability::new(Self {
            value: Mutex::new(start),
            gone: gone.clone(),
        })
    }
}

impl Target for Counter {
    fn member(&self, name: &str) -> Member {
        match name {
            "increment" => Member::Method,
            "value" => Member::Getter,
            _ => Member::Absent,
        }
    }

    fn get(self: Arc<Self>, _property: &str) -> Reply {
        Reply::ready(*self.value.lock().expect("no test panics here"))
    }

    fn call(self: Arc<Self>, _method: &str, mut arguments: Arguments) -> Reply {
        let by = arguments.take::<Option<f64>>("by");
        Reply::ready(by.map(|by| {
            let mut value = self.value.lock().expect("no test panics here");
            *value += by.unwrap_or(1.0);
            *value
        }))
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        self.gone.fetch_add(1, Ordering::SeqCst);
    }
}

/// A target without state, for use without a session.
pub(crate) struct Counted;

impl Target for Counted {
    fn member(&self, _name: &str) -> Member {
        Member::Method
    }

    fn call(self: Arc<Self>, method: &str, mut arguments: Arguments) -> Reply {
        match method {
            "list" => Reply::ready(vec![1, 2]),
            _ => Reply::ready(arguments.take::<f64>("number").map(|number| number + 1.0)),
        }
    }
}
