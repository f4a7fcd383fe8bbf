//! The debugging protocol of Chromium (CDP) over its pipe: commands with answers, and events.
//!
//! A message is JSON and ends with a zero byte. One task reads and one writes. Events are handed to listeners in the order in
//! which they come, on the reading task: a listener changes its own state and returns; what it wants done it
//! [posts](Connection::post), and never waits.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::error::Error;

/// Largest message that is read: a picture or a document, in base64, with room.
const MAX_MESSAGE: u64 = 96 << 20;

/// How many commands may wait to be written.
const QUEUE: usize = 4096;

/// Hears the events of one target, or of the browser.
pub(crate) trait Listener: Send + Sync {
    fn hear(&self, method: &str, params: &mut Value, session: &str);
}

/// The connection to one running browser. Clones share it; it ends with the browser.
#[derive(Clone)]
pub(crate) struct Connection(Arc<Inner>);

struct Inner {
    out: mpsc::Sender<Vec<u8>>,
    next: AtomicU64,
    waiting: Mutex<HashMap<u64, oneshot::Sender<Result<Value, String>>>>,
    listeners: Mutex<HashMap<String, Arc<dyn Listener>>>,
    ended: CancellationToken,
    deadline: Duration,
}

impl Connection {
    /// A connection over these two ends, and the tasks that serve it.
    pub(crate) fn open(
        answers: impl AsyncRead + Send + Unpin + 'static,
        commands: impl AsyncWrite + Send + Unpin + 'static,
        deadline: Duration,
    ) -> (Self, JoinSet<()>) {
        let (out, queue) = mpsc::channel(QUEUE);
        let connection = Self(Arc::new(Inner {
            out,
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
            listeners: Mutex::default(),
            ended: CancellationToken::new(),
            deadline,
        }));
        let mut tasks = JoinSet::new();
        let ended = connection.0.ended.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = write(commands, queue) => {}
                () = ended.cancelled() => {}
            }
            ended.cancel();
        });
        let reader = connection.clone();
        tasks.spawn(async move {
            reader.read(answers).await;
            reader.shut();
        });
        (connection, tasks)
    }

    /// Hands the events of a session to a listener. The empty session is the browser itself.
    pub(crate) fn listen(&self, session: &str, listener: Arc<dyn Listener>) {
        lock(&self.0.listeners).insert(session.to_owned(), listener);
    }

    pub(crate) fn forget(&self, session: &str) {
        lock(&self.0.listeners).remove(session);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.0.ended.is_cancelled()
    }

    /// Fires when the browser has ended or its pipe is broken.
    pub(crate) fn ended(&self) -> CancellationToken {
        self.0.ended.clone()
    }

    /// Ends the connection for all who use it.
    pub(crate) fn shut(&self) {
        self.0.ended.cancel();
        lock(&self.0.waiting).clear();
        lock(&self.0.listeners).clear();
    }

    /// Sends a command to a session and waits for its answer.
    pub(crate) async fn call(
        &self,
        session: &str,
        method: &str,
        params: Value,
    ) -> Result<Value, Error> {
        self.call_within(session, method, params, self.0.deadline)
            .await
    }

    pub(crate) async fn call_within(
        &self,
        session: &str,
        method: &str,
        params: Value,
        deadline: Duration,
    ) -> Result<Value, Error> {
        let ended = || Error::Ended {
            doing: method.to_owned(),
        };
        let (id, answer) = self.expect();
        let message = encode(id, session, method, params);
        let waited = async {
            self.0.out.send(message).await.map_err(|_| ended())?;
            // The other end is dropped when the browser ends.
            answer.await.map_err(|_| ended())
        };
        let answered = tokio::select! {
            answered = tokio::time::timeout(deadline, waited) => answered,
            () = self.0.ended.cancelled() => return Err(ended()),
        };
        lock(&self.0.waiting).remove(&id);
        match answered {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(message))) => Err(Error::Protocol {
                doing: method.to_owned(),
                message,
            }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(Error::TimedOut {
                doing: method.to_owned(),
                after: deadline,
            }),
        }
    }

    /// Sends a command without waiting for its answer.
    pub(crate) fn post(&self, session: &str, method: &str, params: Value) {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let queued = self.0.out.try_send(encode(id, session, method, params));
        if queued.is_err() && !self.has_ended() {
            tracing::warn!(
                method,
                "browser: a command was dropped: too many wait to be written"
            );
        }
    }

    fn expect(&self) -> (u64, oneshot::Receiver<Result<Value, String>>) {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        lock(&self.0.waiting).insert(id, sender);
        (id, receiver)
    }

    async fn read(&self, answers: impl AsyncRead + Unpin) {
        let mut answers = BufReader::with_capacity(1 << 16, answers);
        let mut message = Vec::new();
        loop {
            message.clear();
            let mut limited = (&mut answers).take(MAX_MESSAGE);
            match limited.read_until(0, &mut message).await {
                Ok(count) if count > 0 && message.last() == Some(&0) => {
                    message.pop();
                    self.dispatch(&message);
                    message.shrink_to(1 << 20);
                }
                _ => return,
            }
        }
    }

    fn dispatch(&self, message: &[u8]) {
        let Ok(mut message) = serde_json::from_slice::<Value>(message) else {
            tracing::warn!("browser: a message of Chromium is not JSON");
            return;
        };
        if let Some(id) = message["id"].as_u64() {
            let Some(waiting) = lock(&self.0.waiting).remove(&id) else {
                return;
            };
            let answer = match message.get_mut("error") {
                Some(error) => {
                    let text = error["message"].as_str().unwrap_or("unknown error");
                    let data = error["data"].as_str();
                    Err(data.map_or_else(|| text.to_owned(), |data| format!("{text} ({data})")))
                }
                None => Ok(message["result"].take()),
            };
            let _ = waiting.send(answer);
            return;
        }
        let mut params = message["params"].take();
        let session = message["sessionId"].as_str().unwrap_or_default();
        let listener = lock(&self.0.listeners).get(session).cloned();
        if let (Some(listener), Some(method)) = (listener, message["method"].as_str()) {
            listener.hear(method, &mut params, session);
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("ended", &self.has_ended())
            .finish_non_exhaustive()
    }
}

fn encode(id: u64, session: &str, method: &str, params: Value) -> Vec<u8> {
    let mut message = json!({ "id": id, "method": method });
    message["params"] = params;
    if !session.is_empty() {
        message["sessionId"] = json!(session);
    }
    let mut bytes = serde_json::to_vec(&message).unwrap_or_default();
    bytes.push(0);
    bytes
}

async fn write(mut commands: impl AsyncWrite + Unpin, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(message) = queue.recv().await {
        let written = commands.write_all(&message).await;
        if written.is_err() || commands.flush().await.is_err() {
            return;
        }
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
