//! Repeated sends: the same message sent again gets the answer of the first time, if its caller asked for that.

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
use crate::service::{Call, REPEATABLE};
use crate::types::wire::{WireMessage as _, messages};
use crate::types::{Message, SendMessageRequest, TaskId};

/// What names a send among those of its caller and tenant, where the caller asked that repetitions be recognised.
#[derive(Clone, Copy, Debug)]
pub(super) enum SendName<'a> {
    /// The id of its message, for callers that know [`REPEATABLE`].
    Message(&'a str),
    /// The idempotency key of the call. It wins: the caller chose it for this purpose alone.
    Key(&'a str),
}

impl<'a> SendName<'a> {
    /// The name, or nothing: then every send is a new one.
    pub(super) fn asked(call: &'a Call, request: &'a SendMessageRequest) -> Option<Self> {
        if let Some(key) = &call.idempotency_key {
            return Some(Self::Key(key));
        }
        let message = request.message.as_ref()?;
        call.knows(REPEATABLE)
            .then_some(Self::Message(&message.message_id))
    }

    fn key(&self, scope: &Scope) -> Key {
        let scope = scope.as_str().as_bytes();
        match self {
            Self::Message(id) => hash(&[scope, id.as_bytes()]),
            Self::Key(key) => hash(&[scope, b"key", key.as_bytes()]),
        }
    }

    /// The refusal of another request under the same name.
    fn reused(&self) -> Error {
        let field = match self {
            Self::Message(_) => "message.messageId",
            Self::Key(_) => "Idempotency-Key",
        };
        Error::invalid_field(field, "was used before for another request")
    }
}

/// A hash of scope (caller and tenant) and name: names a send.
type Key = [u8; 16];

/// A hash of the whole request, to tell a repetition from another message under the same name. Eight bytes are enough: a
/// caller that constructs a collision harms only itself.
type Fingerprint = [u8; 8];

messages! { "monas.journal";
    /// The stored record of a send that led to a task.
    Sent {
        fingerprint: Bytes = 1,
        task: String = 2,
        /// The generation that the task was at; 0 if the send opened it.
        after: i64 = 3,
    }
}

/// The result of a send.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Message(Arc<Message>),
    /// A task, which was at this generation when it took the message; 0 if it was opened by it.
    Task(TaskId, i64),
}

/// The decision about a send.
pub(super) enum Admission {
    /// It is new, and is to be answered with this ticket.
    First(Ticket),
    /// It is a repetition, with the outcome of the first time.
    Again(Outcome),
}

/// The memory of sends: makes `SendMessage` safe to repeat after a lost reply or a crash of either side.
///
/// A send is named by its caller, its tenant and a [`SendName`]. Three places remember it:
/// - a send that led to a task has a row in the journal, written in the transaction that records its message. Task and
///   row exist together or not at all, so a repetition after a crash finds the task or is the first send;
/// - a send that is being answered is in memory; a repetition waits for the same outcome instead of starting a second
///   task. If the first attempt is refused its [`Ticket`] is dropped, and a waiting repetition becomes the first;
/// - a send that was answered with a message alone has no transaction. It is kept in memory only, the oldest forgotten
///   when the limit on bytes is reached: losing it means that an agent answers once more, not that a task is doubled.
///
/// Most sends are new, and a look-up in the journal for each would cost a read per message. So all stored keys are in
/// memory by 64 of their bits; only a hit there is looked up. The upkeep deletes rows after the replay time of the limits
/// and removes their marks ([`forget`](Self::forget)); a row is deleted before its mark, never the other way round, since
/// a mark without a row costs one read and a row without a mark would be a doubled task.
///
/// The same name with another content is refused, not answered: it is a fault of the client that it must learn of.
#[derive(Clone)]
pub(super) struct Replay {
    store: Store,
    known: Arc<Mutex<Known>>,
    /// The limit on the bytes of messages in memory.
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
    /// The marks of all sends in the journal: a send without one need not be looked up.
    stored: HashSet<u64>,
}

struct Send {
    fingerprint: Fingerprint,
    state: State,
}

enum State {
    /// It is being answered; these repetitions wait for the outcome.
    UnderWay(Vec<oneshot::Sender<Outcome>>),
    /// It was answered by a message.
    Answered(Outcome),
}

/// The right to answer a send for the first time. If it is dropped unused, the next send of the same message is the
/// first.
pub(super) struct Ticket {
    replay: Replay,
    key: Key,
    fingerprint: Fingerprint,
    used: bool,
}

impl Replay {
    /// Loads the marks of all stored sends.
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

    /// Decides whether a send is new or a repetition; waits while the same send is being answered.
    pub(super) async fn admit(
        &self,
        scope: &Scope,
        name: &SendName<'_>,
        wants: Wants,
        request: &SendMessageRequest,
        now: i64,
    ) -> Result<Admission, Error> {
        let key = name.key(scope);
        // A repetition asks for a stream if the first send did, and only then.
        let streamed = [u8::from(wants == Wants::Stream)];
        let fingerprint = hash(&[&streamed, &request.to_protobuf()]);
        loop {
            let (ticket, stored) = match self.enter(key, fingerprint) {
                Entered::Other => return Err(name.reused()),
                Entered::First(ticket, stored) => (ticket, stored),
                Entered::Answered(outcome) => return Ok(Admission::Again(outcome)),
                Entered::UnderWay(outcome) => match outcome.await {
                    Ok(outcome) => return Ok(Admission::Again(outcome)),
                    // The first attempt was refused: this one becomes the first.
                    Err(_) => continue,
                },
            };
            let found = match stored {
                true => self.look_up(key, now).await?,
                false => None,
            };
            let Some((first, task)) = found else {
                return Ok(Admission::First(ticket));
            };
            if first != fingerprint[..] {
                return Err(name.reused());
            }
            ticket.done(&task);
            return Ok(Admission::Again(task));
        }
    }

    fn enter(&self, key: Key, fingerprint: Fingerprint) -> Entered {
        let mut known = self.lock();
        if let Some(send) = known.sends.get_mut(&key) {
            if send.fingerprint != fingerprint {
                return Entered::Other;
            }
            return match &mut send.state {
                State::Answered(outcome) => Entered::Answered(outcome.clone()),
                State::UnderWay(waiting) => {
                    let (sender, outcome) = oneshot::channel();
                    waiting.push(sender);
                    Entered::UnderWay(outcome)
                }
            };
        }
        let state = State::UnderWay(Vec::new());
        known.sends.insert(key, Send { fingerprint, state });
        let ticket = Ticket {
            replay: self.clone(),
            key,
            fingerprint,
            used: false,
        };
        Entered::First(ticket, known.stored.contains(&mark(key)))
    }

    /// The fingerprint and the outcome of a send in the journal, unless it is too old to be repeated.
    async fn look_up(&self, key: Key, now: i64) -> Result<Option<(Bytes, Outcome)>, Error> {
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
        let outcome = Outcome::Task(sent.task.into(), sent.after);
        Ok(Some((sent.fingerprint, outcome)))
    }

    /// Removes the marks of sends that were deleted from the journal.
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
    /// It is not being answered; the flag says whether the journal may have it.
    First(Ticket, bool),
    UnderWay(oneshot::Receiver<Outcome>),
    Answered(Outcome),
    /// Another request has the name.
    Other,
}

impl Ticket {
    /// The row of the send, to be put in the transaction that records its message.
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

    /// Settles the send with its outcome; for a task only after that row is committed.
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
                // A waiting caller may have disconnected.
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
