//! A pipe inside this process: chunks in at the [`Writer`], out at the [`Reader`], each write
//! answered when its chunk is taken. That delay is what slows a peer's sender down.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as Polling, Poll, Waker};

use futures_core::Stream;
use parking_lot::{Mutex, MutexGuard};

use crate::account::Account;
use crate::error::{Error, Result};
use crate::expression::PathPart;
use crate::hook::deferred::{Resolver, deferred};
use crate::hook::settled::Settled;
use crate::hook::{Action, Hook, Operation};
use crate::permit::Unread;
use crate::settle;
use crate::trampoline::{self, Job};
use crate::value::Value;

/// The writing end: it understands `write(chunk)`, `close()` and `abort(reason)`.
/// Dropped before `close`, it aborts the stream.
pub(crate) struct Writer {
    pipe: Arc<Pipe>,
}

/// The reading end. Dropped before the end, it cancels the stream: all writes fail.
pub(crate) struct Reader {
    pipe: Arc<Pipe>,
}

struct Pipe {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// In the order written, also chunks with promises that are not resolved yet.
    chunks: VecDeque<Chunk>,
    /// How many chunks have left the queue, so that a late one finds its place.
    taken: u64,
    /// Set by `close` and by the first failure; nothing is accepted afterwards.
    end: Option<Result<()>>,
    reader_gone: bool,
    reader: Option<Waker>,
}

struct Chunk {
    content: Option<Result<Value>>,
    taken: Resolver,
    _unread: Unread,
}

pub(crate) fn pipe() -> (Arc<Writer>, Reader) {
    let pipe = Arc::new(Pipe {
        state: Mutex::default(),
    });
    (Arc::new(Writer { pipe: pipe.clone() }), Reader { pipe })
}

impl Writer {
    pub(crate) fn apply(&self, operation: Operation) -> Hook {
        let method = match operation.path.as_slice() {
            [PathPart::Name(name)] => name.as_str(),
            _ => {
                return Hook::Broken(Error::type_error(
                    "a WritableStream only has the methods write, close and abort",
                ));
            }
        };
        let Action::Call(arguments) = operation.action else {
            return Hook::Broken(Error::type_error("a WritableStream has no properties"));
        };
        let argument = arguments.into_iter().next().unwrap_or_default();
        match method {
            "write" => self.write(argument, &operation.account),
            "close" => {
                self.pipe.end(Ok(()));
                undefined()
            }
            "abort" => {
                let reason = match argument {
                    Value::Error(error) => error,
                    Value::Undefined => Error::new("the stream was aborted"),
                    reason => Error::new("the stream was aborted").with_cause(reason),
                };
                self.pipe.end(Err(reason));
                undefined()
            }
            _ => Hook::Broken(Error::type_error(format!(
                "'{method}' is not a method of a WritableStream."
            ))),
        }
    }

    fn write(&self, chunk: Value, account: &Account) -> Hook {
        let Some(unread) = account.keep_unread(chunk.weight()) else {
            let error = too_much_unread();
            account.exceed(&error);
            return Hook::Broken(error);
        };
        let (promise, taken) = deferred();
        let (content, waiting) = if settle::holds_promise(&chunk) {
            (None, Some(chunk))
        } else {
            (Some(Ok(chunk)), None)
        };
        let place = {
            let mut state = self.pipe.lock();
            if let Some(refusal) = state.refusal() {
                drop(state);
                return Hook::Broken(refusal);
            }
            let place = state.taken + state.chunks.len() as u64;
            state.chunks.push_back(Chunk {
                content,
                taken,
                _unread: unread,
            });
            state.wake_reader();
            place
        };
        if let Some(chunk) = waiting {
            let pipe = self.pipe.clone();
            let charged_account = account.clone();
            let fill = move |content: Result<Value>| {
                // It has grown by what its promises became.
                let charged =
                    content.and_then(|value| match charged_account.keep_unread(value.weight()) {
                        Some(unread) => Ok((value, unread)),
                        None => {
                            let error = too_much_unread();
                            charged_account.exceed(&error);
                            Err(error)
                        }
                    });
                pipe.fill(place, charged);
            };
            settle::value(chunk, account, Box::new(fill));
        }
        Hook::Promise(promise)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.pipe.end(Err(Error::new(
            "the stream was dropped before it was closed",
        )));
    }
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn fill(&self, place: u64, content: Result<(Value, Unread)>) {
        let mut state = self.lock();
        let Some(index) = place.checked_sub(state.taken) else {
            return;
        };
        if let Some(chunk) = state.chunks.get_mut(index as usize) {
            chunk.content = Some(content.map(|(value, unread)| {
                chunk._unread = unread;
                value
            }));
            state.wake_reader();
        }
    }

    /// Ends the stream, unless it has ended. A failure overtakes the chunks that wait.
    fn end(&self, end: Result<()>) {
        let mut state = self.lock();
        if state.end.is_some() {
            return;
        }
        let dropped = if end.is_err() {
            std::mem::take(&mut state.chunks)
        } else {
            VecDeque::new()
        };
        let refusal = end.clone().err();
        state.end = Some(end);
        state.wake_reader();
        drop(state);
        if let Some(error) = refusal {
            fail(dropped, &error);
        }
    }
}

impl State {
    /// Why a write cannot be taken.
    fn refusal(&self) -> Option<Error> {
        if self.reader_gone {
            return Some(cancelled());
        }
        match &self.end {
            None => None,
            Some(Ok(())) => Some(Error::type_error("the stream is closed")),
            Some(Err(error)) => Some(error.clone()),
        }
    }

    fn wake_reader(&mut self) {
        if let Some(waker) = self.reader.take() {
            waker.wake();
        }
    }
}

impl Stream for Reader {
    type Item = Result<Value>;

    fn poll_next(self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.pipe.lock();
        if state
            .chunks
            .front()
            .is_some_and(|chunk| chunk.content.is_some())
        {
            let Some(chunk) = state.chunks.pop_front() else {
                return Poll::Pending;
            };
            state.taken += 1;
            drop(state);
            chunk.taken.resolve(undefined());
            return Poll::Ready(chunk.content);
        }
        if state.chunks.is_empty() {
            match &mut state.end {
                Some(Ok(())) => return Poll::Ready(None),
                Some(end) => {
                    let error = std::mem::replace(end, Ok(())).err();
                    return Poll::Ready(error.map(Err));
                }
                None => {}
            }
        }
        state.reader = Some(polling.waker().clone());
        Poll::Pending
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.pipe.lock();
        state.reader_gone = true;
        let dropped = std::mem::take(&mut state.chunks);
        drop(state);
        fail(dropped, &cancelled());
    }
}

fn fail(chunks: VecDeque<Chunk>, error: &Error) {
    for chunk in chunks {
        chunk.taken.resolve(Hook::Broken(error.clone()));
        // A chunk can hold the ends of another pipe, and so on to any depth: put off, never recurse.
        if let Some(Ok(content)) = chunk.content {
            trampoline::run(Job::DropValue(content));
        }
    }
}

fn too_much_unread() -> Error {
    Error::range_error("the session's streams hold too many unread bytes")
}

fn cancelled() -> Error {
    Error::new("the stream was cancelled by its reader")
}

fn undefined() -> Hook {
    Hook::Value(Arc::new(Settled::new(Value::Undefined)))
}
