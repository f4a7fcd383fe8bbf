//! One session between two peers, without any I/O: a message goes in, effects come out.
//!
//! The session owns two tables. *Exports* are what the peer may use: our main object (0), the results
//! of what it pushed (1, 2, ... as they arrived) and capabilities we sent (-1, -2, ...). *Imports* are
//! what we may use of the peer's, numbered the same way from the other side.
//!
//! It reads no clock (time is an argument), spawns nothing, and runs nothing of the application's:
//! what must happen outside is an [`Effect`]. Messages to the peer collect in the outbox, in the order
//! in which the tables changed.
//!
//! Layout:
//! - `evaluate`, `tables`: what the peer writes, and what it sees of the tables
//! - `serialize`: what we write
//! - `answer`, `ending`: what becomes of what was asked for, and of the whole

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::connection::Link;
use crate::context::Context;
use crate::error::{Error, ErrorKind, Result};
use crate::hook::deferred::Resolver;
use crate::hook::import::{Import, ImportId, ImportKind};
use crate::hook::{Hook, Operation, Waiter};
use crate::limits::Bucket;
use crate::message::Message;
use crate::stream::pipe::pipe;
use crate::stream::{ReadableStream, WritableStream};
use crate::value::Value;

mod answer;
mod ending;
pub(crate) mod evaluate;
mod serialize;
mod tables;

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;

use evaluate::evaluate;
use serialize::Serializer;
use tables::SessionTables;

/// An id in our export table: positive for what the peer pushed, negative for what we sent, 0 our
/// main object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ExportId(pub(crate) i64);

/// How large the tables are. With nothing in use both hold one entry, the main objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries of the import table: what we hold of the peer's.
    pub imports: usize,
    /// Entries of the export table: what the peer holds of ours.
    pub exports: usize,
    /// Answers we owe: pulled and not settled yet.
    pub pending: usize,
}

/// Something to do outside the session.
pub(crate) enum Effect {
    /// Start an operation; its answer resolves the promise.
    Apply {
        hook: Hook,
        operation: Operation,
        resolver: Resolver,
    },
    /// Wait for the hook's value and give it to [`Session::answer`].
    Answer { export: ExportId, hook: Hook },
    /// Tell those who wait what became of an import.
    Tell { waiters: Vec<Waiter>, hook: Hook },
    /// Give up waiting for an export that nobody can ask for any more.
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

/// What one message or one call causes: rarely more than one thing.
pub(crate) type Effects = SmallVec<[Effect; 1]>;

/// Whether we may call the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    Possible,
    /// The peer of an HTTP batch has stopped listening when our answer reaches it.
    Impossible,
}

/// How many releases may wait for something to leave with.
#[cfg(any(feature = "client", feature = "server"))]
const MOST_RELEASES: usize = 64;

/// Replaces an error before it is sent; `None` sends it as it is.
pub(crate) type Redact = Arc<dyn Fn(&Error) -> Option<Error> + Send + Sync>;

/// The state of one session.
pub(crate) struct Session {
    context: Context,
    redact: Option<Redact>,
    calls: Calls,
    exports: FxHashMap<ExportId, Export>,
    /// The id of the last capability we sent.
    last_sent: i64,
    /// The id of the last thing the peer pushed.
    last_pushed: i64,
    imports: FxHashMap<ImportId, ImportEntry>,
    /// The id of the last thing we pushed.
    last_asked: i64,
    generations: u64,
    /// Exports that were pulled and not answered yet.
    unanswered: usize,
    outbox: VecDeque<String>,
    outbox_bytes: usize,
    /// In the outbox is more than releases of what was answered, for which nobody waits.
    urgent: bool,
    bucket: Option<Bucket>,
    /// Why the session is over.
    ended: Option<Error>,
}

struct Export {
    hook: Hook,
    /// How often the peer was told of it, less what it released.
    count: u64,
    answer: Answer,
    /// A `stream` call: gone once answered.
    releases_itself: bool,
    /// The other end of a pipe, until it is taken.
    readable: Option<ReadableStream>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    NotAsked,
    Owed,
    Given,
}

struct ImportEntry {
    /// Our hold on it; dead once the application let go and the release is on its way.
    hold: Weak<Import>,
    generation: u64,
    kind: ImportKind,
    /// How often the peer told us of it; what a release must say.
    count: u64,
    waiters: Vec<Waiter>,
    /// Whether an answer is coming, asked for or not.
    pulled: bool,
}

impl Session {
    pub(crate) fn new(main: Hook, context: Context, redact: Option<Redact>, calls: Calls) -> Self {
        let bucket = context.limits().call_rate.map(Bucket::new);
        let mut session = Self {
            context,
            redact,
            calls,
            exports: FxHashMap::default(),
            last_sent: 0,
            last_pushed: 0,
            imports: FxHashMap::default(),
            last_asked: 0,
            generations: 0,
            unanswered: 0,
            outbox: VecDeque::new(),
            outbox_bytes: 0,
            urgent: false,
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

    pub(crate) fn ended(&self) -> Option<&Error> {
        self.ended.as_ref()
    }

    /// Why it has ended, as the peer may know it.
    pub(crate) fn shown_end(&self) -> Option<Error> {
        let error = self.ended.as_ref()?;
        Some(self.redacted(error).unwrap_or_else(|| error.clone()))
    }

    fn redacted(&self, error: &Error) -> Option<Error> {
        self.redact.as_ref().and_then(|redact| redact(error))
    }

    /// The next messages to send, in order.
    pub(crate) fn take_outbox(&mut self) -> VecDeque<String> {
        self.outbox_bytes = 0;
        self.urgent = false;
        std::mem::take(&mut self.outbox)
    }

    /// Whether what is in the outbox should not wait for more.
    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn is_urgent(&self) -> bool {
        self.urgent || self.outbox.len() > MOST_RELEASES
    }

    pub(crate) fn outbox_bytes(&self) -> usize {
        self.outbox_bytes
    }

    /// Our hold on the peer's main object.
    pub(crate) fn main_import(&mut self, link: &Arc<Link>) -> Hook {
        match &self.ended {
            Some(error) => Hook::Broken(error.clone()),
            None => self.hold(link, ImportId(0)),
        }
    }

    // What the peer says.

    /// Takes one message. Whatever is wrong with it ends the session.
    pub(crate) fn receive(&mut self, link: &Arc<Link>, text: &str, now: Duration) -> Effects {
        let mut effects = Effects::new();
        if self.ended.is_some() {
            return effects;
        }
        let message = Message::parse(text, self.context.limits())
            .map_err(|error| Error::of(ErrorKind::from_name(error.name()), error.to_string()));
        let result = message.and_then(|message| self.take(message, link, now, &mut effects));
        if let Err(error) = result {
            effects.extend(self.abort(error));
        }
        effects
    }

    fn take(
        &mut self,
        message: Message,
        link: &Arc<Link>,
        now: Duration,
        effects: &mut Effects,
    ) -> Result<()> {
        let mut tables = SessionTables {
            session: self,
            link,
            effects,
            now,
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
                    answer: Answer::Owed,
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
                if export.answer == Answer::NotAsked {
                    export.answer = Answer::Owed;
                    self.unanswered += 1;
                    let hook = export.hook.shortened();
                    self.answer_or_wait(link, id, hook, effects);
                }
            }
            Message::Resolve(id, expression) => {
                let value = evaluate(expression, &mut tables)?;
                let hook = Hook::from_value(value, &self.context);
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

    /// The id of what the peer pushes now. Taken on arrival, whatever becomes of the push.
    fn next_pushed(&mut self) -> Result<ExportId> {
        self.last_pushed += 1;
        if self.exports.len() >= self.context.limits().max_exports {
            return Err(Error::range_error(
                "the session holds too many unreleased results",
            ));
        }
        Ok(ExportId(self.last_pushed))
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

    /// An answer to something we asked for, or were promised. When nobody holds it any more, dropping
    /// `hook` releases what came with it.
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
            self.put(format!("[\"release\",{},{}]", id.0, entry.count));
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
        if let Some(export) = self.exports.remove(&id)
            && export.answer == Answer::Owed
        {
            self.unanswered -= 1;
        }
    }

    // What the application says.

    /// Sends an operation on an import; gives the hook of its answer.
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

    /// Sends a stream's write, which is answered unasked and releases itself. Gives its size.
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
        if self.imports.len() >= self.context.limits().max_imports {
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

    /// Asks for an import's value, once; `waiter` is told when it comes.
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

    /// Asks for every answer that someone still holds a promise of and that nothing was pipelined on.
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

    /// The application let go of an import.
    pub(crate) fn release(&mut self, id: ImportId, generation: u64, effects: &mut Effects) {
        // The main object is not released: that would end its use for good.
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
        self.urgent = true;
        self.put(text);
    }

    /// Sends what may wait for a moment.
    fn put(&mut self, text: String) {
        if self.ended.is_none() {
            self.outbox_bytes += text.len();
            self.outbox.push_back(text);
        }
    }

    /// Makes the entry for what was just sent.
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

    /// The application's hold on an entry: the one that exists, or a new one.
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

    /// Enters a capability we are about to send. Its id is new each time, even for the same object:
    /// a JavaScript importer does not count repeats and would release too few.
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
            answer: Answer::NotAsked,
            releases_itself: false,
            readable: None,
        }
    }
}

fn no_such_export(id: ExportId) -> Error {
    Error::new(format!("no such export ID: {}", id.0))
}
