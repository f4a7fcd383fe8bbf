//! One session between two peers, without any I/O: a message goes in, effects come out.
//!
//! Layout:
//! - `evaluate`, `tables`: expressions of the peer become values, through the session's tables
//! - `serialize`: values become messages
//! - `outbox`: messages that wait to be sent
//! - `answer`, `ending`: answering exports, and ending the session

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::account::Account;
use crate::connection::Link;
use crate::error::{Error, ErrorKind, Result};
use crate::hook::deferred::Resolver;
use crate::hook::import::{Import, ImportId, ImportKind};
use crate::hook::{Hook, Operation, Waiter};
use crate::limits::Bucket;
use crate::message::Message;
use crate::permit::Held;
use crate::stream::pipe::pipe;
use crate::stream::{ReadableStream, WritableStream};
#[cfg(any(feature = "client", feature = "server"))]
use crate::transport::websocket::gather::Progress;
use crate::value::Value;

mod answer;
mod ending;
pub(crate) mod evaluate;
mod outbox;
mod serialize;
mod tables;

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;

use evaluate::evaluate;
use outbox::Outbox;
use serialize::Serializer;
use tables::SessionTables;

/// An id in our export table: positive for results of the peer's pushes, negative for capabilities we sent, 0
/// for our main object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExportId(pub(crate) i64);

/// The sizes of a session's tables. With nothing in use both hold one entry, the main objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries of the import table: the peer's objects and promises that we hold.
    pub imports: usize,
    /// Entries of the export table: our objects and results that the peer holds.
    pub exports: usize,
    /// Answers we owe: pulled and not settled yet.
    pub pending: usize,
}

/// Work that the session asks its [`Connection`](crate::connection::Connection) to do after unlocking.
pub(crate) enum Effect {
    /// Start an operation; its answer resolves the promise.
    Apply {
        hook: Hook,
        operation: Operation,
        resolver: Resolver,
    },
    /// Wait for the hook's value and give it to [`Session::answer`].
    Answer { export: ExportId, hook: Hook },
    /// Call the waiters of an import with its resolution.
    Tell { waiters: Vec<Waiter>, hook: Hook },
    /// Stop waiting for an export: the session has ended, so the peer cannot ask for it again.
    GiveUp { hook: Hook },
    /// Move a stream into the pipe that was made for it.
    Pump {
        from: ReadableStream,
        to: WritableStream,
    },
    /// Read a Blob to its end; it resolves the promise.
    Collect {
        mime: String,
        content: ReadableStream,
        resolver: Resolver,
    },
}

/// The effects of one message or one call: rarely more than one.
pub(crate) type Effects = SmallVec<[Effect; 1]>;

/// A message of the peer, charged and parsed.
pub(crate) struct Received {
    message: Message,
    /// Set for a large message. The calls in it share it.
    charge: Option<Arc<Held>>,
}

impl Received {
    /// Charges a frame to its sender, then parses it. This needs no session, and so no lock.
    pub(crate) fn read(text: &str, account: &Account) -> Result<Self> {
        let charge = account.charge(text.len())?;
        let message = Message::parse(text, account.limits())
            .map_err(|error| Error::of(ErrorKind::from_name(error.name()), error.to_string()))?;
        Ok(Self {
            message,
            charge: charge.map(Arc::new),
        })
    }
}

/// Whether we may call the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    Possible,
    /// The peer of an HTTP batch has stopped listening when our answer reaches it.
    Impossible,
}

/// Replaces an error before it is sent; `None` sends it as it is.
pub(crate) type Redact = Arc<dyn Fn(&Error) -> Option<Error> + Send + Sync>;

/// The state of one session and the rules of the protocol, as a pure state machine.
///
/// It owns two tables. *Exports* are what the peer may use: our main object (0), the results of its pushes
/// (1, 2, ... in order of arrival) and capabilities we sent (-1, -2, ...). *Imports* are what we may use of
/// the peer: the same ids seen from the other side. Neither side sends an id for a push; both count, so both
/// must process messages strictly in order and number every push, also one that fails.
///
/// One call goes like this. `push` on our side prints a message, counts up `last_asked` and makes an import.
/// The peer evaluates it, stores the result's hook as an export, and sends nothing. `pull` asks for the value;
/// the peer answers with `resolve` or `reject` once, and the import then becomes that value. `release` with a
/// count removes the entry at the peer. Counts are needed because a capability may be sent again while a
/// release of it is on its way: the entry goes when the peer has released as often as it was told.
///
/// The rules of its environment:
///
/// - It reads no clock (time is an argument), spawns nothing, and runs no code of the application. Work that
///   must happen outside is returned as an [`Effect`] and done by [`Shared`](crate::connection::Shared) after
///   the lock is released; a handler called under the lock could call a stub of this session and deadlock.
/// - Effects are performed in order, and messages leave in the order in which the tables changed ([`Outbox`]).
///   Calls of one peer therefore start in the order it made them.
/// - Hooks removed from the tables are dropped through the trampoline, for the same reason.
/// - A message that is malformed, names an unknown id or exceeds a limit aborts the session: after it, the two
///   sides would count differently. An error of a handler is an ordinary answer and aborts nothing.
///
/// It ends once, by [`abort`](Session::abort) or [`end`](Session::end): every import becomes broken with the
/// reason, exports are dropped, and later calls do nothing. Being free of I/O makes it testable by exchanging
/// strings, and the model checker and the fuzzer drive it without a runtime.
pub(crate) struct Session {
    account: Account,
    redact: Option<Redact>,
    calls: Calls,
    exports: FxHashMap<ExportId, Export>,
    /// The id of the last capability we sent.
    last_sent: i64,
    /// The id of the peer's last push.
    last_pushed: i64,
    imports: FxHashMap<ImportId, ImportEntry>,
    /// The id of our last push.
    last_asked: i64,
    /// Numbers each [`Import`] ever made, see [`ImportEntry::generation`].
    generations: u64,
    /// Exports that were pulled and not answered yet.
    unanswered: usize,
    /// The number of answers ever given.
    answered: u64,
    /// Exports that were answered and not released yet.
    unreleased: usize,
    outbox: Outbox,
    bucket: Option<Bucket>,
    /// The reason of the end, once the session has ended.
    ended: Option<Error>,
}

/// An entry of the export table: something of ours that the peer may use.
///
/// It lives from the message that introduces it (a push of the peer, or a capability that we send) until the
/// peer has released every reference, or until the session ends. It owns the hook, so the object lives at
/// least as long. The answer is sent at most once, after a `pull`; releasing the entry earlier withdraws the
/// question.
///
/// A capability gets a new entry each time it is sent, also for the same object: a JavaScript importer does
/// not count repeats of an id and would release too few.
struct Export {
    hook: Hook,
    /// The references that the peer was given and has not released.
    count: u64,
    answer: AnswerState,
    /// Whether the entry is removed when it is answered, as for a `stream` message.
    releases_itself: bool,
    /// The readable end of a pipe that the peer made, until an expression takes it.
    readable: Option<ReadableStream>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerState {
    NotAsked,
    Owed,
    Given,
}

/// An entry of the import table: something of the peer's that we may use.
///
/// The application holds it through an [`Import`], which the table refers to weakly: the last clone dropped
/// is the release. The entry itself ends when the release is performed, when a promise is resolved, or with
/// the session.
///
/// Dropping an `Import` only queues its release, because the session may be locked. In between, the peer may
/// send the same id again, which makes a new `Import` on the same entry. `generation` tells the two apart, so
/// that the late release of the old one does not remove the entry under the new one.
struct ImportEntry {
    /// The application's hold; dead once the last clone is dropped and the release is queued.
    hold: Weak<Import>,
    generation: u64,
    kind: ImportKind,
    /// How often the peer has sent it; a release must give this number.
    count: u64,
    waiters: Vec<Waiter>,
    /// Whether an answer is coming: we pulled it, or the peer resolves it unasked.
    pulled: bool,
}

impl Session {
    pub(crate) fn new(main: Hook, account: Account, redact: Option<Redact>, calls: Calls) -> Self {
        let bucket = account.limits().call_rate.map(Bucket::new);
        let mut session = Self {
            account,
            redact,
            calls,
            exports: FxHashMap::default(),
            last_sent: 0,
            last_pushed: 0,
            imports: FxHashMap::default(),
            last_asked: 0,
            generations: 0,
            unanswered: 0,
            answered: 0,
            unreleased: 0,
            outbox: Outbox::default(),
            bucket,
            ended: None,
        };
        session.exports.insert(ExportId(0), Export::new(main));
        session.imports.insert(
            ImportId(0),
            ImportEntry {
                hold: Weak::new(),
                generation: 0,
                kind: ImportKind::Stub,
                count: 1,
                waiters: Vec::new(),
                pulled: false,
            },
        );
        session
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats {
            imports: self.imports.len(),
            exports: self.exports.len(),
            pending: self.unanswered,
        }
    }

    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn progress(&self) -> Progress {
        Progress {
            answered: self.answered,
            unreleased: self.unreleased,
        }
    }

    pub(crate) fn ended(&self) -> Option<&Error> {
        self.ended.as_ref()
    }

    /// The reason of the end as the peer may see it, redacted.
    pub(crate) fn shown_end(&self) -> Option<Error> {
        let error = self.ended.as_ref()?;
        Some(self.redacted(error).unwrap_or_else(|| error.clone()))
    }

    fn redacted(&self, error: &Error) -> Option<Error> {
        self.redact.as_ref().and_then(|redact| redact(error))
    }

    /// The next messages to send, in order.
    pub(crate) fn take_outbox(&mut self) -> VecDeque<String> {
        self.outbox.take()
    }

    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn is_urgent(&self) -> bool {
        self.outbox.is_urgent()
    }

    pub(crate) fn outbox_bytes(&self) -> usize {
        self.outbox.bytes()
    }

    /// Our hold on the peer's main object.
    pub(crate) fn main_import(&mut self, link: &Arc<Link>) -> Hook {
        match &self.ended {
            Some(error) => Hook::Broken(error.clone()),
            None => self.hold(link, ImportId(0)),
        }
    }

    // Messages from the peer.

    /// Processes one message. Any fault in it aborts the session.
    pub(crate) fn receive(
        &mut self,
        link: &Arc<Link>,
        received: Result<Received>,
        now: Duration,
    ) -> Effects {
        let mut effects = Effects::new();
        if self.ended.is_some() {
            return effects;
        }
        let result = received.and_then(|it| self.take(it, link, now, &mut effects));
        if let Err(error) = result {
            effects.extend(self.abort(error));
        }
        effects
    }

    fn take(
        &mut self,
        received: Received,
        link: &Arc<Link>,
        now: Duration,
        effects: &mut Effects,
    ) -> Result<()> {
        let Received { message, charge } = received;
        let mut tables = SessionTables {
            session: self,
            link,
            effects,
            now,
            message: charge.as_ref(),
        };
        match message {
            Message::Push(expression) => {
                let id = tables.session.next_pushed()?;
                let hook = tables.evaluate_hook(expression)?;
                self.exports.insert(id, Export::new(hook));
            }
            Message::Stream(expression) => {
                let id = tables.session.next_pushed()?;
                let hook = tables.evaluate_hook(expression)?;
                self.unanswered += 1;
                effects.push(Effect::Answer {
                    export: id,
                    hook: hook.clone(),
                });
                let export = Export {
                    answer: AnswerState::Owed,
                    releases_itself: true,
                    ..Export::new(hook)
                };
                self.exports.insert(id, export);
            }
            Message::Pipe => {
                let id = self.next_pushed()?;
                self.count_call(now)?;
                let (writer, reader) = pipe();
                let readable = Some(ReadableStream::of(Box::pin(reader)));
                self.exports.insert(
                    id,
                    Export {
                        readable,
                        ..Export::new(Hook::Writer(writer))
                    },
                );
            }
            Message::Pull(id) => {
                let id = ExportId(id);
                let export = self
                    .exports
                    .get_mut(&id)
                    .ok_or_else(|| no_such_export(id))?;
                if export.answer == AnswerState::NotAsked {
                    export.answer = AnswerState::Owed;
                    self.unanswered += 1;
                    let hook = export.hook.shortened();
                    self.answer_or_wait(link, id, hook, effects);
                }
            }
            Message::Resolve(id, expression) => {
                let value = evaluate(expression, &mut tables)?;
                let hook = Hook::from_value(value, &self.account);
                self.resolved(ImportId(id), hook, effects);
            }
            Message::Reject(id, expression) => {
                let error = match evaluate(expression, &mut tables)? {
                    Value::Error(error) => error,
                    thrown => Error::thrown(thrown),
                };
                self.resolved(ImportId(id), Hook::Broken(error), effects);
            }
            Message::Release(id, count) => self.released(ExportId(id), count)?,
            Message::Abort(expression) => {
                let error = match evaluate(expression, &mut tables) {
                    Ok(Value::Error(error)) => error,
                    Ok(thrown) => Error::thrown(thrown),
                    Err(error) => error,
                };
                effects.extend(self.end(error));
            }
        }
        Ok(())
    }

    /// The id of the peer's present push. It is counted on arrival, also when the push then fails.
    fn next_pushed(&mut self) -> Result<ExportId> {
        self.last_pushed += 1;
        let most = self.account.bound(self.account.limits().max_exports);
        if self.exports.len() >= most {
            return Err(Error::range_error(
                "the session holds too many unreleased results",
            ));
        }
        Ok(ExportId(self.last_pushed))
    }

    /// The most entries of the import table.
    fn max_imports(&self) -> usize {
        self.account.bound(self.account.limits().max_imports)
    }

    /// One message may hold many calls; each counts towards the rate.
    fn count_call(&mut self, now: Duration) -> Result<()> {
        if self.bucket.as_mut().is_some_and(|bucket| !bucket.take(now)) {
            return Err(Error::range_error(
                "calls arrive faster than this session may",
            ));
        }
        Ok(())
    }

    /// Resolves a promise of the peer. When the application has dropped the promise, dropping `hook` releases
    /// the capabilities in the answer.
    fn resolved(&mut self, id: ImportId, hook: Hook, effects: &mut Effects) {
        if self
            .imports
            .get(&id)
            .is_none_or(|entry| entry.kind == ImportKind::Stub)
        {
            return;
        }
        let Some(entry) = self.imports.remove(&id) else {
            return;
        };
        if entry.count > 0 {
            self.send_later(format!("[\"release\",{},{}]", id.0, entry.count));
        }
        let hook = match entry.hold.upgrade() {
            Some(hold) => hold.resolve(hook),
            None => hook,
        };
        if !entry.waiters.is_empty() {
            effects.push(Effect::Tell {
                waiters: entry.waiters,
                hook,
            });
        }
    }

    fn released(&mut self, id: ExportId, count: u64) -> Result<()> {
        let export = self
            .exports
            .get_mut(&id)
            .ok_or_else(|| no_such_export(id))?;
        export.count = export.count.checked_sub(count).ok_or_else(|| {
            Error::new(format!(
                "refcount would go negative: {} < {count}",
                export.count
            ))
        })?;
        if export.count == 0 {
            self.forget(id);
        }
        Ok(())
    }

    fn forget(&mut self, id: ExportId) {
        let Some(export) = self.exports.remove(&id) else {
            return;
        };
        match export.answer {
            AnswerState::NotAsked => {}
            AnswerState::Owed => self.unanswered -= 1,
            AnswerState::Given => self.unreleased -= 1,
        }
    }

    // Operations of the application.

    /// Sends an operation on an import, and returns the hook of its answer.
    pub(crate) fn push(
        &mut self,
        link: &Arc<Link>,
        import: ImportId,
        operation: Operation,
        effects: &mut Effects,
    ) -> Hook {
        match self.send_operation(link, "push", import, operation, effects) {
            Ok(_bytes) => {
                let id = self.next_asked(1, ImportKind::Promise);
                self.hold(link, id)
            }
            Err(error) => Hook::Broken(error),
        }
    }

    /// Sends a write to a stream, which is answered unasked and releases itself. Returns its size in bytes.
    pub(crate) fn stream(
        &mut self,
        link: &Arc<Link>,
        import: ImportId,
        operation: Operation,
        waiter: Waiter,
        effects: &mut Effects,
    ) -> usize {
        match self.send_operation(link, "stream", import, operation, effects) {
            Ok(bytes) => {
                let id = self.next_asked(0, ImportKind::Promise);
                if let Some(entry) = self.imports.get_mut(&id) {
                    entry.pulled = true;
                    entry.waiters.push(waiter);
                }
                bytes
            }
            Err(error) => {
                effects.push(Effect::Tell {
                    waiters: vec![waiter],
                    hook: Hook::Broken(error),
                });
                0
            }
        }
    }

    fn send_operation(
        &mut self,
        link: &Arc<Link>,
        verb: &str,
        import: ImportId,
        operation: Operation,
        effects: &mut Effects,
    ) -> Result<usize> {
        if let Some(error) = &self.ended {
            return Err(error.clone());
        }
        if self.calls == Calls::Impossible {
            return Err(Error::new(
                "the peer of an HTTP batch cannot be called back",
            ));
        }
        if self.imports.len() >= self.max_imports() {
            return Err(Error::range_error(
                "the session holds too many unanswered calls and capabilities",
            ));
        }
        let mut message = Serializer::new(self, link);
        message.open(verb);
        message.operation(import, operation)?;
        let text = message.finish(effects);
        let bytes = text.len();
        self.send(text);
        self.check_outbox(effects);
        match &self.ended {
            Some(error) => Err(error.clone()),
            None => Ok(bytes),
        }
    }

    /// Pulls an import's value, once; `waiter` is called with it.
    pub(crate) fn pull(&mut self, id: ImportId, waiter: Waiter, effects: &mut Effects) {
        let Some(entry) = self.imports.get_mut(&id) else {
            let error = self
                .ended
                .clone()
                .unwrap_or_else(|| Error::internal("an import was lost"));
            effects.push(Effect::Tell {
                waiters: vec![waiter],
                hook: Hook::Broken(error),
            });
            return;
        };
        entry.waiters.push(waiter);
        if !entry.pulled {
            entry.pulled = true;
            self.send(format!("[\"pull\",{}]", id.0));
        }
    }

    /// Pulls every promise that the application still holds and has not pulled.
    #[cfg(feature = "client")]
    pub(crate) fn pull_all(&mut self) {
        let mut ids: Vec<ImportId> = self
            .imports
            .iter()
            .filter(|(_, entry)| {
                entry.kind == ImportKind::Promise && !entry.pulled && entry.hold.strong_count() > 0
            })
            .map(|(id, _)| *id)
            .collect();
        ids.sort_unstable();
        for id in ids {
            if let Some(entry) = self.imports.get_mut(&id) {
                entry.pulled = true;
                self.send(format!("[\"pull\",{}]", id.0));
            }
        }
    }

    /// Releases an import that the application has dropped.
    pub(crate) fn release(&mut self, id: ImportId, generation: u64, effects: &mut Effects) {
        // The main object is never released: it could not be imported again.
        let current = self
            .imports
            .get(&id)
            .is_some_and(|entry| entry.generation == generation);
        if !current || id == ImportId(0) {
            return;
        }
        let Some(entry) = self.imports.remove(&id) else {
            return;
        };
        if entry.count > 0 {
            self.send(format!("[\"release\",{},{}]", id.0, entry.count));
        }
        if !entry.waiters.is_empty() {
            let hook = Hook::Broken(Error::new(
                "the call was cancelled because its promise was dropped",
            ));
            effects.push(Effect::Tell {
                waiters: entry.waiters,
                hook,
            });
        }
    }

    // Helpers.

    fn send(&mut self, text: String) {
        if self.ended.is_none() {
            self.outbox.push_urgent(text);
        }
    }

    /// Sends a message that no one waits for, so that the transport may hold it for a moment.
    fn send_later(&mut self, text: String) {
        if self.ended.is_none() {
            self.outbox.push(text);
        }
    }

    /// Makes the import entry for the push just sent.
    fn next_asked(&mut self, count: u64, kind: ImportKind) -> ImportId {
        self.last_asked += 1;
        let id = ImportId(self.last_asked);
        self.insert_import(id, count, kind);
        id
    }

    fn insert_import(&mut self, id: ImportId, count: u64, kind: ImportKind) {
        self.generations += 1;
        let entry = ImportEntry {
            hold: Weak::new(),
            generation: self.generations,
            kind,
            count,
            waiters: Vec::new(),
            pulled: false,
        };
        self.imports.insert(id, entry);
    }

    /// The application's hold on an entry: the existing one, or a new one.
    fn hold(&mut self, link: &Arc<Link>, id: ImportId) -> Hook {
        let Some(entry) = self.imports.get_mut(&id) else {
            return Hook::Broken(Error::internal("an import was lost"));
        };
        let hold = entry.hold.upgrade().unwrap_or_else(|| {
            self.generations += 1;
            entry.generation = self.generations;
            let hold = Import::new(link.clone(), id, entry.generation, entry.kind);
            entry.hold = Arc::downgrade(&hold);
            hold
        });
        Hook::Import(hold)
    }

    /// Makes the entry of a capability that is about to be sent, with a new id each time; see [`Export`].
    fn export(&mut self, hook: Hook) -> ExportId {
        self.last_sent -= 1;
        let id = ExportId(self.last_sent);
        self.exports.insert(id, Export::new(hook));
        id
    }
}

impl Export {
    fn new(hook: Hook) -> Self {
        Self {
            hook,
            count: 1,
            answer: AnswerState::NotAsked,
            releases_itself: false,
            readable: None,
        }
    }
}

fn no_such_export(id: ExportId) -> Error {
    Error::new(format!("no such export ID: {}", id.0))
}
