//! Streams in both directions, as [`Stream`](futures_core::Stream) and [`Sink`](futures_sink::Sink).
//!
//! The protocol has no stream of its own: a writable stream is an object with `write`, `close` and `abort`, and
//! each chunk is a call, sent as a `stream` message that is answered unasked and releases itself. A readable
//! stream is sent by making a pipe: `["pipe"]` creates a writable end at the peer, the value names its
//! readable end, and a task here pumps the source into it.
//!
//! Order and ownership:
//!
//! - A readable stream is read once and sent once; clones share it, and sending takes it out.
//! - The pipe message leaves before the message that names it, otherwise the peer would not know its id.
//! - Chunks arrive in order because calls on one object do. `stream/pipe` keeps the places of chunks with
//!   promises that are not resolved yet.
//! - A write is answered when the reader has taken its chunk. That delay is the back-pressure: `stream/flow`
//!   estimates a window from it, as BBR does for TCP, and a writer waits while the window is full. Without it a
//!   fast writer would fill the peer's memory; with one chunk at a time each would cost a round trip.
//! - An error of a write is reported by a later write or by `close`.
//!
//! Dropping a readable stream cancels its source; dropping a writable one before [`WritableStream::close`]
//! aborts it. Sources are dropped through the trampoline, since their destructors are the application's code.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Polling, Poll, Waker};
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_sink::Sink;
use futures_util::{FutureExt, StreamExt};
use parking_lot::{Mutex, MutexGuard};

use crate::account::Account;
use crate::convert::FromValue;
use crate::error::{Error, Result};
use crate::expression::PathPart;
use crate::hook::{Action, Hook, Operation};
use crate::stub::Capability;
use crate::trampoline::{self, Job};
use crate::value::{Blob, Value};

pub(crate) mod flow;
pub(crate) mod pipe;
mod sink;

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;

use sink::GuardedSink;

/// How large the pieces are in which bytes at hand are streamed.
const PIECE: usize = 64 << 10;

pub(crate) type Source = Pin<Box<dyn Stream<Item = Result<Value>> + Send>>;

/// A stream of values to read from: the peer's, or one to give to it.
pub struct ReadableStream<T = Value> {
    source: Arc<Mutex<Option<Held>>>,
    item: PhantomData<fn() -> T>,
}

/// A source that is dropped through the trampoline: a destructor of the application must not run under a
/// session's lock, and a chain of streams in streams must not be dropped by recursion.
struct Held(Option<Source>);

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(source) = self.0.take() {
            trampoline::run(Job::DropSource(source));
        }
    }
}

impl ReadableStream {
    /// A stream of what `source` yields. An error ends it and reaches the reader.
    pub fn new<T: Into<Value>>(source: impl Stream<Item = Result<T>> + Send + 'static) -> Self {
        Self::of(Box::pin(source.map(|item| item.map(Into::into))))
    }

    /// A stream of values at hand.
    pub fn from_items<I>(items: I) -> Self
    where
        I: IntoIterator<Item: Into<Value> + 'static, IntoIter: Send + 'static>,
    {
        Self::new(futures_util::stream::iter(items).map(Ok))
    }

    /// A stream of bytes at hand, in pieces.
    pub fn from_bytes(mut bytes: Bytes) -> Self {
        Self::from_items(std::iter::from_fn(move || {
            (!bytes.is_empty()).then(|| bytes.split_to(bytes.len().min(PIECE)))
        }))
    }

    /// Reads a stream of bytes to its end; more than `limit` bytes are an error.
    pub async fn collect_bytes(self, limit: usize) -> Result<Bytes> {
        self.collect_charged(limit, |_| Ok(())).await
    }

    /// As [`Self::collect_bytes`]; `charge` is asked about each chunk before it is kept.
    async fn collect_charged(
        mut self,
        limit: usize,
        mut charge: impl FnMut(usize) -> Result<()>,
    ) -> Result<Bytes> {
        let mut collected = BytesMut::new();
        while let Some(chunk) = self.next().await {
            let chunk = match chunk? {
                Value::Bytes(bytes, _) => bytes,
                Value::String(text) => text.into(),
                other => {
                    return Err(Error::type_error(format!(
                        "expected a stream of bytes, got {}",
                        other.describe_kind()
                    )));
                }
            };
            if collected.len() + chunk.len() > limit {
                return Err(Error::range_error(format!(
                    "the stream is longer than {limit} bytes"
                )));
            }
            charge(chunk.len())?;
            collected.extend_from_slice(&chunk);
        }
        Ok(collected.freeze())
    }

    pub(crate) fn of(source: Source) -> Self {
        Self::holding(Held(Some(source)))
    }

    fn holding(source: Held) -> Self {
        Self {
            source: Arc::new(Mutex::new(Some(source))),
            item: PhantomData,
        }
    }
}

impl<T> ReadableStream<T> {
    /// Takes the stream out to hand it on; the other clones are empty afterwards.
    pub(crate) fn take(&self) -> Option<ReadableStream> {
        self.lock().take().map(ReadableStream::holding)
    }

    /// The next item as its source gives it: data that was printed before stays printed.
    pub(crate) fn poll_chunk(&self, polling: &mut Polling<'_>) -> Poll<Option<Result<Value>>> {
        let mut source = self.lock();
        let Some(stream) = source.as_mut().and_then(|held| held.0.as_mut()) else {
            return Poll::Ready(None);
        };
        let item = stream.as_mut().poll_next(polling);
        if let Poll::Ready(None) = item {
            let ended = source.take();
            drop(source);
            drop(ended);
        }
        item
    }

    /// The same stream, its items read as another type.
    pub fn cast<U>(self) -> ReadableStream<U> {
        ReadableStream {
            source: self.source,
            item: PhantomData,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Held>> {
        self.source.lock()
    }
}

impl<T: FromValue> Stream for ReadableStream<T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<Option<Self::Item>> {
        let convert =
            |item: Result<Value>| item.and_then(|value| T::from_value(value.without_raw()));
        self.poll_chunk(polling).map(|item| item.map(convert))
    }
}

impl<T> Clone for ReadableStream<T> {
    fn clone(&self) -> Self {
        Self {
            source: self.source.clone(),
            item: PhantomData,
        }
    }
}

impl<T> fmt::Debug for ReadableStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReadableStream")
    }
}

/// A stream of values to write to: the peer's, or one end of [`WritableStream::pipe`].
///
/// A write returns as soon as the window allows the next one, not when the chunk has arrived; what
/// went wrong with a chunk comes back from a later write or from `close`.
#[derive(Clone)]
pub struct WritableStream(Arc<Writing>);

struct Writing {
    state: Mutex<WritingState>,
    started: Instant,
    account: Account,
}

struct WritingState {
    /// Gone once closed or failed: that releases it at the peer.
    hook: Option<Hook>,
    window: flow::Window,
    writes_in_flight: usize,
    closing: bool,
    error: Option<Error>,
    waiting: Vec<Waker>,
}

impl WritableStream {
    /// A stream that sends its chunks to `sink`, an object with the methods `write(chunk)`, `close()` and
    /// `abort(reason)`.
    ///
    /// They are called one after the other, each when the one before has returned, which is also when
    /// the writer learns that its chunk has arrived. After a failed `write` there is no other, and no
    /// `close`. A writer that gives up without a word just drops the sink.
    pub fn new(sink: impl Into<Capability>) -> Self {
        let guarded = Capability::new(GuardedSink::new(sink.into()));
        Self::from_hook(guarded.into_hook(), Account::default())
    }

    /// A pipe in this process: what is written here is read there.
    pub fn pipe() -> (Self, ReadableStream) {
        let (writer, reader) = pipe::pipe();
        (
            Self::from_hook(Hook::Writer(writer), Account::default()),
            ReadableStream::of(Box::pin(reader)),
        )
    }

    pub(crate) fn from_hook(hook: Hook, account: Account) -> Self {
        let state = WritingState {
            hook: Some(hook),
            window: flow::Window::new(),
            writes_in_flight: 0,
            closing: false,
            error: None,
            waiting: Vec::new(),
        };
        Self(Arc::new(Writing {
            state: Mutex::new(state),
            started: Instant::now(),
            account,
        }))
    }

    /// Writes one chunk, after waiting for room.
    pub async fn write(&self, chunk: impl Into<Value>) -> Result<()> {
        std::future::poll_fn(|polling| self.0.poll_room(polling)).await?;
        self.0.send("write", Some(chunk.into()))
    }

    /// Ends the stream and waits until the other side has everything.
    pub async fn close(&self) -> Result<()> {
        std::future::poll_fn(|polling| self.0.poll_close(polling)).await
    }

    /// Ends the stream with an error; chunks that were not read yet are lost.
    pub async fn abort(&self, reason: Error) {
        // What it answers does not matter: the stream is over either way.
        let _ = self.0.send("abort", Some(Value::Error(reason.clone())));
        self.0.fail(reason);
    }

    /// The hook, to hand the stream on.
    pub(crate) fn hook(&self) -> Option<Hook> {
        self.0.lock().hook.clone()
    }

    /// Ends when a write has failed, or the session has.
    async fn broken(&self) -> Error {
        let link = match self.hook().map(|hook| hook.shortened()) {
            Some(Hook::Import(import)) => Some(import.link().clone()),
            _ => None,
        };
        let session = async {
            match link {
                Some(link) => link.closed().await,
                None => std::future::pending().await,
            }
        };
        let write = std::future::poll_fn(|polling| self.0.poll_broken(polling));
        futures_util::pin_mut!(session, write);
        futures_util::future::select(session, write)
            .await
            .factor_first()
            .0
    }
}

impl Writing {
    fn lock(&self) -> MutexGuard<'_, WritingState> {
        self.state.lock()
    }

    fn poll_room(&self, polling: &mut Polling<'_>) -> Poll<Result<()>> {
        let mut state = self.lock();
        if let Some(error) = &state.error {
            return Poll::Ready(Err(error.clone()));
        }
        if state.closing {
            return Poll::Ready(Err(Error::type_error("the stream is closed")));
        }
        // Without a size on the wire (a pipe in this process) there is one write at a time.
        let local = !matches!(
            state.hook.as_ref().map(Hook::shortened),
            Some(Hook::Import(_))
        );
        if state.window.is_full() || (local && state.writes_in_flight > 0) {
            state.wait(polling);
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_settled(&self, polling: &mut Polling<'_>) -> Poll<Result<()>> {
        let mut state = self.lock();
        if let Some(error) = &state.error {
            return Poll::Ready(Err(error.clone()));
        }
        if state.writes_in_flight > 0 {
            state.wait(polling);
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: &Arc<Self>, polling: &mut Polling<'_>) -> Poll<Result<()>> {
        let begin = {
            let mut state = self.lock();
            !std::mem::replace(&mut state.closing, true) && state.error.is_none()
        };
        if begin {
            self.send("close", None)?;
        }
        let settled = self.poll_settled(polling);
        if settled.is_ready() {
            let hook = self.lock().hook.take();
            drop(hook);
        }
        settled
    }

    fn poll_broken(&self, polling: &mut Polling<'_>) -> Poll<Error> {
        let mut state = self.lock();
        match &state.error {
            Some(error) => Poll::Ready(error.clone()),
            None => {
                state.wait(polling);
                Poll::Pending
            }
        }
    }

    /// Sends one of the three methods and accounts for its answer when it comes.
    fn send(self: &Arc<Self>, method: &str, argument: Option<Value>) -> Result<()> {
        let hook = {
            let mut state = self.lock();
            if let Some(error) = &state.error {
                return Err(error.clone());
            }
            let hook = state
                .hook
                .clone()
                .ok_or_else(|| Error::type_error("the stream is closed"))?;
            state.writes_in_flight += 1;
            hook
        };
        let arguments = argument.into_iter().collect();
        // The write must be counted before its answer can come, and its size is known only when it is
        // sent; so the answer is held back until the size is in.
        let writing = self.clone();
        let sent = Arc::new(Mutex::new(WriteState::Unsent));
        let answered = sent.clone();
        let waiter = Box::new(move |result: Result<Value>| {
            let mut answer = answered.lock();
            match std::mem::replace(&mut *answer, WriteState::Done) {
                WriteState::Unsent => *answer = WriteState::Early(result.map(drop)),
                WriteState::Sent(sent) => {
                    drop(answer);
                    writing.answered(sent, result.map(drop));
                }
                WriteState::Early(_) | WriteState::Done => {}
            }
        });
        let bytes = send_write(&hook, method, arguments, &self.account, waiter);
        let token = self.lock().window.send(bytes, self.started.elapsed());
        let mut answer = sent.lock();
        if let WriteState::Early(result) = std::mem::replace(&mut *answer, WriteState::Sent(token))
        {
            *answer = WriteState::Done;
            drop(answer);
            self.answered(token, result);
        }
        Ok(())
    }

    fn answered(&self, sent: flow::Sent, result: Result<()>) {
        let now = self.started.elapsed();
        let mut state = self.lock();
        state.writes_in_flight -= 1;
        let mut released = None;
        match result {
            Ok(()) => state.window.acknowledge(sent, now),
            Err(error) => {
                state.window.fail(sent);
                released = state.fail(error);
            }
        }
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop(released);
        waiting.into_iter().for_each(Waker::wake);
    }

    fn fail(&self, error: Error) {
        let mut state = self.lock();
        let released = state.fail(error);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        drop(released);
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl WritingState {
    /// Wakes the task at the next answer; once, however often it was polled meanwhile.
    fn wait(&mut self, polling: &Polling<'_>) {
        if !self
            .waiting
            .iter()
            .any(|waker| waker.will_wake(polling.waker()))
        {
            self.waiting.push(polling.waker().clone());
        }
    }

    /// Keeps the first error and gives up the hook, to be dropped outside the lock.
    fn fail(&mut self, error: Error) -> Option<Hook> {
        if self.error.is_none() {
            self.error = Some(error);
        }
        self.hook.take()
    }
}

enum WriteState {
    Unsent,
    Sent(flow::Sent),
    Early(Result<()>),
    Done,
}

/// Sends one stream method; gives its size on the wire, 0 when it does not leave the process.
fn send_write(
    hook: &Hook,
    method: &str,
    arguments: Vec<Value>,
    account: &Account,
    waiter: crate::hook::Waiter,
) -> usize {
    let path = vec![PathPart::Name(method.to_owned())];
    match hook.shortened() {
        Hook::Import(import) => import
            .link()
            .clone()
            .stream(&import, path, arguments, waiter),
        hook => {
            let operation = Operation {
                path,
                action: Action::Call(arguments),
                account: account.clone(),
                permit: None,
            };
            hook.apply(operation).settle(waiter);
            0
        }
    }
}

impl Sink<Value> for WritableStream {
    type Error = Error;

    fn poll_ready(self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<Result<()>> {
        self.0.poll_room(polling)
    }

    fn start_send(self: Pin<&mut Self>, chunk: Value) -> Result<()> {
        self.0.send("write", Some(chunk))
    }

    fn poll_flush(self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<Result<()>> {
        self.0.poll_settled(polling)
    }

    fn poll_close(self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<Result<()>> {
        self.0.poll_close(polling)
    }
}

impl fmt::Debug for WritableStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.0.lock();
        f.debug_struct("WritableStream")
            .field("in_flight", &state.window.in_flight())
            .field("error", &state.error)
            .finish_non_exhaustive()
    }
}

/// Moves a stream into a pipe to its end, or until either side gives up.
pub(crate) async fn pump(from: ReadableStream, to: WritableStream) {
    loop {
        let next = futures_util::select_biased! {
            next = std::future::poll_fn(|polling| from.poll_chunk(polling)).fuse() => next,
            _error = Box::pin(to.broken()).fuse() => return,
        };
        match next {
            // A failed write leaves the loop and drops `from`, which cancels it.
            Some(Ok(chunk)) => {
                if to.write(chunk).await.is_err() {
                    return;
                }
            }
            Some(Err(error)) => return to.abort(error).await,
            None => break,
        }
    }
    // The reader has gone when the last write failed.
    let _ = to.close().await;
}

/// Reads the bytes of a Blob that is arriving.
pub(crate) async fn collect_blob(
    mime: String,
    from: ReadableStream,
    account: &Account,
) -> Result<Value> {
    let limit = account.limits().max_blob_bytes;
    // Charged until it is complete; then the value that keeps it is charged.
    let mut held = Vec::new();
    let charge = |bytes| {
        held.push(account.hold(bytes)?);
        Ok(())
    };
    let bytes = from.collect_charged(limit, charge).await?;
    Ok(Value::Blob(Blob { mime, bytes }))
}
