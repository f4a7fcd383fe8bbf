//! A send that is repeated gets the answer of the first time.
//!
//! A send is known by its caller, tenant and message id. One that led to a task is remembered in the
//! task's own transaction, so a repetition finds the task even after a crash. One that is under way, or
//! led to a message alone, is remembered in memory, and messages only as long as there is room.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as URL_SAFE_NO_PAD;
use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use store::{Query, Row, Store};
use tokio::sync::oneshot;

use super::journal::{SENDS, Scope};
use super::run::Wants;
use crate::error::Error;
use crate::limits::Limits;
use crate::types::wire::{WireMessage as _, messages};
use crate::types::{Message, SendMessageRequest, TaskId};

/// Who sent which message. Only a hash is kept.
type Key = [u8; 16];

/// What the message asked for. Only a hash is kept, and a short one: whoever finds two requests with the
/// same one fools nobody but himself.
type Fingerprint = [u8; 8];

messages! { "monas.journal";
    /// What is remembered of a send that led to a task.
    Sent {
        /// What it asked for.
        fingerprint: Bytes = 1,
        /// The task.
        task: String = 2,
        /// The generation that the task was at; 0 if the send opened it.
        after: i64 = 3,
    }
}

/// What a send led to.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Message(Arc<Message>),
    /// A task, which was at this generation when it took the message; 0 if it was opened by it.
    Task(TaskId, i64),
}

/// What to do with a send.
pub(super) enum Admission {
    /// It is the first of its kind.
    First(Ticket),
    /// It has been answered before.
    Again(Outcome),
}

#[derive(Clone)]
pub(super) struct Replay {
    store: Store,
    known: Arc<Mutex<Known>>,
    /// How many bytes of messages may be kept.
    room: usize,
    time: i64,
}

#[derive(Default)]
struct Known {
    /// Sends under way, and sends that led to a message.
    sends: HashMap<Key, Send>,
    /// The messages, oldest first, with their sizes.
    messages: VecDeque<(Key, usize)>,
    bytes: usize,
    /// All sends in the journal, each by a part of its key: one that is not here need not be looked up
    /// there.
    stored: HashSet<u64>,
}

struct Send {
    fingerprint: Fingerprint,
    state: State,
}

enum State {
    /// Somebody answers it; these wait for the same.
    UnderWay(Vec<oneshot::Sender<Outcome>>),
    /// It was answered by a message.
    Answered(Outcome),
}

/// The right to answer a send for the first time. When it is dropped unused, the next one of the
/// same message is the first.
pub(super) struct Ticket {
    replay: Replay,
    key: Key,
    fingerprint: Fingerprint,
    used: bool,
}

impl Replay {
    /// Knows what the store knows.
    pub(super) async fn open(store: &Store, limits: &Limits) -> Result<Self, store::Error> {
        let stored = store
            .read(|view| {
                let rows = view.rows(&Query::of(&SENDS))?;
                let keys = rows.iter().filter_map(|row| key_of(&row.key));
                Ok(keys.map(mark).collect())
            })
            .await?;
        Ok(Self {
            store: store.clone(),
            known: Arc::new(Mutex::new(Known {
                stored,
                ..Known::default()
            })),
            room: limits.replay_bytes,
            time: i64::try_from(limits.replay_time.as_millis()).unwrap_or(i64::MAX),
        })
    }

    /// Waits for the outcome of the same send under way, if there is one.
    pub(super) async fn admit(
        &self,
        scope: &Scope,
        wants: Wants,
        request: &SendMessageRequest,
        now: i64,
    ) -> Result<Admission, Error> {
        let message = request
            .message
            .as_ref()
            .map_or("", |message| &message.message_id);
        let key = hash(&[scope.as_str().as_bytes(), message.as_bytes()]);
        // A repetition must want a stream, too, or not want one, either.
        let streamed = [u8::from(wants == Wants::Stream)];
        let fingerprint = hash(&[&streamed, &request.to_protobuf()]);
        loop {
            let (ticket, stored) = match self.enter(key, fingerprint)? {
                Entered::First(ticket, stored) => (ticket, stored),
                Entered::Answered(outcome) => return Ok(Admission::Again(outcome)),
                Entered::UnderWay(outcome) => match outcome.await {
                    Ok(outcome) => return Ok(Admission::Again(outcome)),
                    // It came to nothing: this one is the first, then.
                    Err(_) => continue,
                },
            };
            if stored && let Some(task) = self.look_up(key, fingerprint, now).await? {
                ticket.done(&task);
                return Ok(Admission::Again(task));
            }
            return Ok(Admission::First(ticket));
        }
    }

    fn enter(&self, key: Key, fingerprint: Fingerprint) -> Result<Entered, Error> {
        let mut known = self.lock();
        if let Some(send) = known.sends.get_mut(&key) {
            if send.fingerprint != fingerprint {
                return Err(reused());
            }
            return Ok(match &mut send.state {
                State::Answered(outcome) => Entered::Answered(outcome.clone()),
                State::UnderWay(waiting) => {
                    let (sender, outcome) = oneshot::channel();
                    waiting.push(sender);
                    Entered::UnderWay(outcome)
                }
            });
        }
        let state = State::UnderWay(Vec::new());
        known.sends.insert(key, Send { fingerprint, state });
        let ticket = Ticket {
            replay: self.clone(),
            key,
            fingerprint,
            used: false,
        };
        Ok(Entered::First(ticket, known.stored.contains(&mark(key))))
    }

    async fn look_up(
        &self,
        key: Key,
        fingerprint: Fingerprint,
        now: i64,
    ) -> Result<Option<Outcome>, Error> {
        let row = self
            .store
            .read(move |view| view.row(&SENDS, &text(key)))
            .await?;
        let Some(row) = row else { return Ok(None) };
        let at = match row.columns.first() {
            Some(store::Value::Integer(at)) => *at,
            _ => 0,
        };
        if now.saturating_sub(at) > self.time {
            return Ok(None);
        }
        let Ok(sent) = Sent::from_protobuf(row.body) else {
            return Ok(None);
        };
        if sent.fingerprint != fingerprint[..] {
            return Err(reused());
        }
        Ok(Some(Outcome::Task(sent.task.into(), sent.after)))
    }

    /// Forgets the sends of which the journal has no trace any more.
    pub(super) fn forget(&self, keys: impl Iterator<Item = String>) {
        let mut known = self.lock();
        for key in keys.filter_map(|key| key_of(&key)) {
            known.stored.remove(&mark(key));
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Entered {
    /// Nobody is answering it; the journal may know it.
    First(Ticket, bool),
    UnderWay(oneshot::Receiver<Outcome>),
    Answered(Outcome),
}

impl Ticket {
    /// The row that remembers, in the transaction that opens the task, what the send led to.
    pub(super) fn row(&self, task: &TaskId, after: i64, now: i64) -> Row {
        let sent = Sent {
            fingerprint: Bytes::copy_from_slice(&self.fingerprint),
            task: task.to_string(),
            after,
        };
        Row {
            key: text(self.key),
            columns: vec![now.into()],
            body: sent.to_protobuf(),
        }
    }

    /// What the send led to; for a task, after that row was committed.
    pub(super) fn done(mut self, outcome: &Outcome) {
        self.used = true;
        let mut known = self.replay.lock();
        let send = known.sends.remove(&self.key);
        match outcome {
            Outcome::Task(..) => drop(known.stored.insert(mark(self.key))),
            Outcome::Message(message) => {
                known.keep(self.key, self.fingerprint, message);
                known.make_room(self.replay.room);
            }
        }
        drop(known);
        if let Some(Send {
            state: State::UnderWay(waiting),
            ..
        }) = send
        {
            for waiting in waiting {
                // Who waited may have gone.
                let _ = waiting.send(outcome.clone());
            }
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.used {
            self.replay.lock().sends.remove(&self.key);
        }
    }
}

impl Known {
    fn keep(&mut self, key: Key, fingerprint: Fingerprint, message: &Arc<Message>) {
        let size = message.to_protobuf().len() + 256;
        let state = State::Answered(Outcome::Message(message.clone()));
        self.sends.insert(key, Send { fingerprint, state });
        self.messages.push_back((key, size));
        self.bytes += size;
    }

    /// Forgets the oldest messages until the others fit.
    fn make_room(&mut self, room: usize) {
        while self.bytes > room
            && let Some((key, size)) = self.messages.pop_front()
        {
            self.sends.remove(&key);
            self.bytes -= size;
        }
    }
}

fn reused() -> Error {
    Error::invalid_field("message.messageId", "was used before for another request")
}

fn hash<const N: usize>(parts: &[&[u8]]) -> [u8; N] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut short = [0; N];
    short.copy_from_slice(&hasher.finalize()[..N]);
    short
}

/// A key as the journal has it.
fn text(key: Key) -> String {
    URL_SAFE_NO_PAD.encode(key)
}

fn key_of(text: &str) -> Option<Key> {
    URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()
}

/// The part of a key that is kept for all of them.
fn mark(key: Key) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = key;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}
