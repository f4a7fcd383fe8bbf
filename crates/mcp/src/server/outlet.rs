//! Where the messages of a request go: a list that one HTTP reply is read from, or the one stream of a connection.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc, oneshot};

use super::rpc::{self, Id, RpcError};
use crate::limits::{MAX_REPLAY_BYTES, MAX_REPLAY_EVENTS};

/// The connection from a request back to its client: progress, log messages and questions go through it.
///
/// There are two kinds. Over streamable HTTP each reply has a [`Log`]: writers append and never wait, readers follow
/// from their own position, and a client that lost its connection reads on. Over standard input and output, and over
/// the older SSE transport, there is one pipe for all requests, and a writer waits while the client does not read;
/// only a future that is being dropped sends without waiting.
///
/// The response of a request is the last message of its log, and is written after everything else; a reader that saw
/// it knows that nothing follows. Progress that is dropped from a full log is lost, a response never is.
///
/// A question ([`ask`](Self::ask)) is registered before it is sent, since an answer may arrive at once. When the
/// future that asks is dropped, the registration goes and the client is told that the request is cancelled: a client
/// would otherwise show a form that nothing reads. Revision 2026-07-28 has no requests of the server: there `asked` is
/// `None`, and a call that needs input ends with a result that says so.
#[derive(Clone, Debug)]
pub(crate) struct Outlet {
    pub(crate) kind: OutletKind,
    /// Where the client's responses arrive. `None` where the server cannot ask: revision 2026-07-28 has no such requests.
    pub(crate) asked: Option<Arc<PendingRequests>>,
}

#[derive(Clone, Debug)]
pub(crate) enum OutletKind {
    Log(Arc<Log>),
    Pipe(mpsc::Sender<Bytes>),
}

impl Outlet {
    /// Sends a message. One that cannot be delivered is dropped: the client is gone, which its request learns elsewhere.
    pub(crate) async fn send(&self, message: Bytes) {
        match &self.kind {
            OutletKind::Log(log) => log.push(message),
            OutletKind::Pipe(pipe) => {
                let _ = pipe.send(message).await;
            }
        }
    }

    /// Sends without waiting, where a future is being dropped.
    fn send_now(&self, message: Bytes) {
        match &self.kind {
            OutletKind::Log(log) => log.push(message),
            OutletKind::Pipe(pipe) => {
                let _ = pipe.try_send(message);
            }
        }
    }

    pub(crate) async fn ask(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<Value, RpcError> {
        let Some(asked) = &self.asked else {
            return Err(RpcError::internal(
                "this client takes no requests: it speaks a revision without sessions",
            ));
        };
        let (id, response) = asked.begin();
        let mut question = Question {
            outlet: self,
            asked,
            id,
            open: true,
        };
        let id = Id::from(id);
        self.send(rpc::outgoing(Some(&id), method, params)).await;
        let response = response.await;
        question.open = false;
        response.unwrap_or_else(|_| Err(RpcError::internal("the session ended")))
    }
}

/// A request of ours that waits for its response. Dropping it withdraws the request.
struct Question<'a> {
    outlet: &'a Outlet,
    asked: &'a PendingRequests,
    id: i64,
    open: bool,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.asked.lock().remove(&self.id);
        if self.open {
            let why = "the question was answered or withdrawn";
            let params = json!({ "requestId": self.id, "reason": why });
            let cancelled = rpc::outgoing(None, "notifications/cancelled", &params);
            self.outlet.send_now(cancelled);
        }
    }
}

/// The requests of ours that one client has not answered yet.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    last: AtomicI64,
    open: Mutex<HashMap<i64, oneshot::Sender<Result<Value, RpcError>>>>,
}

impl PendingRequests {
    fn begin(&self) -> (i64, oneshot::Receiver<Result<Value, RpcError>>) {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let (answer, answered) = oneshot::channel();
        self.lock().insert(id, answer);
        (id, answered)
    }

    /// Hands a response to the request it answers. One that answers nothing is dropped.
    pub(crate) fn answer(&self, id: &Id, result: Result<Value, RpcError>) {
        let Id::Number(number) = id else {
            return;
        };
        let open = number.as_i64().and_then(|id| self.lock().remove(&id));
        if let Some(open) = open {
            // Fails when the question was withdrawn meanwhile.
            let _ = open.send(result);
        }
    }

    /// Ends all of them: after the end of the session no response can arrive.
    pub(crate) fn end(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<i64, oneshot::Sender<Result<Value, RpcError>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The messages of one HTTP reply, in order. Readers follow it from a position of their own, so a reply can be read again
/// after a lost connection.
///
/// Writers never wait: when the list is full, the oldest messages are dropped, and a reader that is so far behind goes on
/// after them. These can only be progress and questions; the response is the last message, so it is always there.
#[derive(Debug, Default)]
pub(crate) struct Log {
    state: Mutex<Events>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Events {
    kept: VecDeque<Bytes>,
    /// How many were dropped before those that are kept.
    dropped: u64,
    bytes: usize,
    closed: bool,
}

impl Log {
    pub(crate) fn push(&self, message: Bytes) {
        let mut events = self.lock();
        if events.closed {
            return;
        }
        events.bytes += message.len();
        events.kept.push_back(message);
        while events.kept.len() > 1
            && (events.kept.len() > MAX_REPLAY_EVENTS || events.bytes > MAX_REPLAY_BYTES)
        {
            let oldest = events.kept.pop_front();
            events.bytes -= oldest.map_or(0, |it| it.len());
            events.dropped += 1;
        }
        drop(events);
        self.changed.notify_waiters();
    }

    /// Ends it: readers get what is there and then the end.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_waiters();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().kept.is_empty()
    }

    pub(crate) fn size(&self) -> usize {
        self.lock().bytes
    }

    /// Waits for the first message.
    pub(crate) async fn begun(&self) {
        let mut position = 0;
        if self.next(&mut position).await.is_none() {
            // Closed without a message: the caller learns of the end elsewhere.
            std::future::pending::<()>().await;
        }
    }

    /// The message after `position`, which is moved on. `None` at the end.
    pub(crate) async fn next(&self, position: &mut u64) -> Option<Bytes> {
        loop {
            let changed = self.changed.notified();
            {
                let events = self.lock();
                let at = position.saturating_sub(events.dropped);
                let next = usize::try_from(at).ok().and_then(|at| events.kept.get(at));
                if let Some(next) = next {
                    *position = events.dropped.max(*position) + 1;
                    return Some(next.clone());
                }
                if events.closed {
                    return None;
                }
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Events> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
