//! The writer: the one task that changes spaces. It decides, commits in batches, and then makes changes visible.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::RwLock;
use rustc_hash::{FxHashMap, FxHashSet};
use store::{Batch, NewEvent, Store, StreamId};
use tokio::sync::{mpsc, oneshot};

use crate::background::Changes;
use crate::code::CodeChange;
use crate::decide::{self, Keep, Outcome};
use crate::error::Error;
use crate::limits::{GROUP, USES};
use crate::memory::SpaceName;
use crate::record::{Content, Record, RecordId, Standing};
use crate::rules::{Rules, SpaceRules};
use crate::space::{Change, Derived, Space};
use crate::tables;
use crate::text::date::Millis;
use crate::viewer::Viewer;

/// How many events of a history are read at once.
const HISTORY_PAGE: usize = 1024;

/// A space, shared by the writer and its readers. Only the writer takes the write lock, and background work and the mirror
/// for their marks.
pub(crate) type Shared = Arc<RwLock<Space>>;

/// The spaces that were loaded, by name. They stay loaded.
pub(crate) type Spaces = Arc<RwLock<FxHashMap<SpaceName, Shared>>>;

/// A write to a space, with the channel for its outcome.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) space: SpaceName,
    pub(crate) write: Write,
    pub(crate) reply: oneshot::Sender<Result<Reply, Error>>,
}

#[derive(Debug)]
pub(crate) enum Write {
    /// Reads the space from the store; changes nothing.
    Load,
    Observe(Vec<Content>, Viewer),
    Keep(Box<Keep>, Viewer),
    Import(Vec<Record>),
    Forget {
        id: RecordId,
        why: String,
    },
    /// Records were recalled. The caller does not wait for this.
    Use {
        ids: Vec<RecordId>,
        question: String,
        /// The caller they were recalled for.
        viewer: Viewer,
    },
    Expire,
    /// Files of the project that were read, written or are gone.
    Code(Vec<CodeChange>),
    /// Vectors or entities from background work.
    Derive(Vec<(RecordId, Derived)>),
}

#[derive(Debug)]
pub(crate) enum Reply {
    Done,
    Observed(Vec<RecordId>),
    Kept(Outcome),
    Imported(usize),
    Forgotten(usize),
    Expired(usize),
}

/// The task that writes to all spaces.
///
/// It owns the order of writes: requests arrive in one mailbox and are processed one after the other, so that a decision
/// (is this known already? does it contradict something?) sees every write before it and cannot be overtaken by another.
/// Readers do not pass through it; they take the read lock of a space.
///
/// For a group of requests that wait, in this order:
///
/// 1. `decide` computes the changes of a request from the space as it is. It is pure, so it can be tested without a store.
/// 2. The changes of the group are committed to the store in one transaction. Requests that only add (observations,
///    uses, vectors) share it; a request that looks at records is committed apart, after everything before it, because
///    its decision must see those records.
/// 3. Only then are the changes applied to the space in memory, and the replies are sent.
///
/// If 3 came before 2, a reader could recall a record that a failed commit never stored. If a reply were sent before the
/// commit, an acknowledged record could be lost in a crash. If decisions were made concurrently, two callers could each
/// keep the same belief as new.
///
/// Uses of records (from recall) are counted in memory and written in bulk, since each recall makes three of them; up to
/// `USES` of them are lost in a crash, which only delays a promotion.
///
/// One task for all spaces, and not one for each, because a commit costs a sync of the disk: a group from many agents
/// shares it. The decisions are microseconds of CPU. The task ends when the last sender of the mailbox is dropped
/// ([`Memory::close`](crate::Memory::close)), after the waiting requests and the counted uses are written.
pub(crate) struct Writer {
    pub(crate) store: Store,
    pub(crate) rules: Arc<RwLock<SpaceRules>>,
    pub(crate) spaces: Spaces,
    /// Whether another database gets the graph.
    pub(crate) mirrored: bool,
    /// The name of the embedder; vectors of other embedders are not loaded.
    pub(crate) embedder: Option<String>,
    pub(crate) mailbox: mpsc::Receiver<Request>,
    /// Wakes the background tasks.
    pub(crate) changes: Changes,
    /// The last event of each space's history stream.
    pub(crate) histories: FxHashMap<SpaceName, u64>,
    /// Uses that are not written yet.
    pub(crate) uses: FxHashMap<(SpaceName, RecordId), Uses>,
}

/// How often a record was recalled since this was last written, and for which question and caller last.
#[derive(Debug, Default)]
pub(crate) struct Uses {
    times: u32,
    question: String,
    viewer: Viewer,
}

/// Decided changes that are not committed yet, and the replies that wait for the commit.
#[derive(Default)]
struct Pending {
    changes: Vec<(SpaceName, Shared, Vec<Change>)>,
    replies: Vec<(oneshot::Sender<Result<Reply, Error>>, Reply)>,
}

impl Writer {
    pub(crate) async fn run(mut self) {
        let mut group = Vec::with_capacity(GROUP);
        while self.mailbox.recv_many(&mut group, GROUP).await > 0 {
            self.process(&mut group).await;
        }
        self.write_uses(None).await;
    }

    async fn process(&mut self, group: &mut Vec<Request>) {
        let mut pending = Pending::default();
        for request in group.drain(..) {
            let Request {
                space,
                write,
                reply,
            } = request;
            let shared = match self.space(&space).await {
                Ok(shared) => shared,
                Err(error) => {
                    drop(reply.send(Err(error)));
                    continue;
                }
            };
            // A decision that looks at records must see the ones before it.
            let looks = match &write {
                Write::Load | Write::Use { .. } | Write::Derive(_) => false,
                Write::Observe(contents, _) => contents.iter().any(|content| {
                    let source = content.source.as_deref().unwrap_or_default();
                    decide::is_own(source, space.as_str())
                }),
                _ => true,
            };
            if looks {
                self.commit(&mut pending).await;
                self.write_uses(Some(&space)).await;
            }
            let decided = self.decide(&space, &shared, write);
            match decided {
                Ok((changes, done)) => {
                    pending.changes.push((space, shared, changes));
                    pending.replies.push((reply, done));
                }
                Err(error) => drop(reply.send(Err(error))),
            }
            if looks {
                self.commit(&mut pending).await;
            }
        }
        self.commit(&mut pending).await;
        if self.uses.len() >= USES {
            self.write_uses(None).await;
        }
    }

    fn decide(
        &mut self,
        name: &SpaceName,
        shared: &Shared,
        write: Write,
    ) -> Result<(Vec<Change>, Reply), Error> {
        let now = now();
        let rules = self.rules(name);
        let space = shared.read();
        Ok(match write {
            Write::Load => (Vec::new(), Reply::Done),
            Write::Observe(contents, viewer) => {
                let records: Vec<Record> = contents
                    .into_iter()
                    .map(|it| decide::observe(&space, it, &viewer, &rules, now, RecordId::fresh()))
                    .collect::<Result<_, _>>()?;
                let ids = records.iter().map(|record| record.id.clone()).collect();
                let changes = records.into_iter().map(Change::Insert).collect();
                (changes, Reply::Observed(ids))
            }
            Write::Keep(keep, viewer) => {
                let (changes, outcome) =
                    decide::keep(&space, *keep, &viewer, &rules, now, RecordId::fresh())?;
                (changes, Reply::Kept(outcome))
            }
            Write::Import(records) => {
                let changes = decide::import(&space, records, now)?;
                let count = changes.len();
                (changes, Reply::Imported(count))
            }
            Write::Forget { id, why } => {
                let record = space.get(&id).cloned().ok_or(Error::Unknown(id))?;
                let changes = decide::forget(&space, &record, &why, now);
                let gone = changes.iter().filter(|it| matches!(it, Change::Remove(_)));
                let count = gone.count();
                (changes, Reply::Forgotten(count))
            }
            Write::Use {
                ids,
                question,
                viewer,
            } => {
                for id in ids {
                    let uses = self.uses.entry((name.clone(), id)).or_default();
                    uses.times += 1;
                    uses.question.clone_from(&question);
                    uses.viewer.clone_from(&viewer);
                }
                (Vec::new(), Reply::Done)
            }
            Write::Derive(all) => {
                // A record may have been forgotten while background work was under way.
                let known = all.into_iter().filter(|(id, _)| space.get(id).is_some());
                let changes = known.map(|(id, derived)| Change::Derive(id, derived));
                (changes.collect(), Reply::Done)
            }
            Write::Code(changes) => {
                let changes = space.code().decide(changes).into_iter();
                (changes.map(Change::Code).collect(), Reply::Done)
            }
            Write::Expire => {
                let changes = decide::expire(&space, &rules, now);
                let count = changes.len();
                (changes, Reply::Expired(count))
            }
        })
    }

    fn rules(&self, space: &SpaceName) -> Rules {
        self.rules.read().of(space).clone()
    }

    /// Writes the counted uses of one space or of all, with the promotions that follow from them.
    async fn write_uses(&mut self, space: Option<&SpaceName>) {
        let due: Vec<_> = self
            .uses
            .extract_if(|(name, _), _| space.is_none_or(|space| space == name))
            .collect();
        let mut pending = Pending::default();
        for ((name, id), uses) in due {
            let rules = self.rules(&name);
            let Ok(shared) = self.space(&name).await else {
                continue;
            };
            let changes = {
                let space = shared.read();
                decide::used(
                    &space,
                    &id,
                    uses.times,
                    (&uses.question, &uses.viewer),
                    &rules,
                    now(),
                    RecordId::fresh,
                )
            };
            // A promotion adds a belief, which the next decision must see.
            let promotes = changes.len() > 1;
            pending.changes.push((name, shared, changes));
            if promotes {
                self.commit(&mut pending).await;
            }
        }
        self.commit(&mut pending).await;
    }

    /// Commits the pending changes, applies them to the spaces, and sends the replies.
    async fn commit(&mut self, pending: &mut Pending) {
        let Pending { changes, replies } = std::mem::take(pending);
        let committed = self.write(&changes).await;
        if committed.is_ok() {
            for (_, shared, changes) in changes {
                if changes.is_empty() {
                    continue;
                }
                let mut space = shared.write();
                changes.into_iter().for_each(|change| space.apply(change));
                drop(space);
                self.changes.send_modify(|count| *count += 1);
            }
        }
        for (reply, done) in replies {
            // The caller may have stopped waiting.
            drop(reply.send(committed.clone().map(|()| done)));
        }
    }

    async fn write(&mut self, changes: &[(SpaceName, Shared, Vec<Change>)]) -> Result<(), Error> {
        let mut batch = Batch::new();
        let mut events: FxHashMap<&SpaceName, Vec<NewEvent>> = FxHashMap::default();
        for (name, shared, changes) in changes {
            let gone = changes.iter().filter_map(|change| match change {
                Change::Remove(tombstone) => Some(tombstone.id.as_str()),
                _ => None,
            });
            let gone: FxHashSet<&str> = gone.collect();
            if !gone.is_empty() {
                batch = self.without_reasons(name, &gone, batch).await?;
            }
            let space = shared.read();
            for change in changes {
                batch = tables::write(batch, name.as_str(), change)?;
                if let Some(event) = event(&space, change) {
                    events.entry(name).or_default().push(NewEvent::new(event));
                }
            }
        }
        let mut reached = Vec::new();
        for (name, events) in events {
            let after = self.histories.get(name).copied().unwrap_or_default();
            reached.push((name.clone(), after + events.len() as u64));
            batch = batch.append(&history(name), after, events);
        }
        if !batch.is_empty() {
            self.store.commit(batch).await?;
        }
        self.histories.extend(reached);
        Ok(())
    }

    /// Takes the reasons of forgotten records out of the history: the words of a record are often in its reason.
    async fn without_reasons(
        &self,
        name: &SpaceName,
        gone: &FxHashSet<&str>,
        mut batch: Batch,
    ) -> Result<Batch, Error> {
        let (stream, mut after) = (history(name), 0);
        loop {
            let wanted = stream.clone();
            let read = self
                .store
                .read(move |view| view.events(&wanted, after, HISTORY_PAGE));
            let page = read.await?;
            let Some(last) = page.last() else {
                return Ok(batch);
            };
            after = last.sequence();
            for entry in &page {
                let event = serde_json::from_slice::<serde_json::Value>(entry.payload());
                let Ok(mut event) = event else { continue };
                if event["id"].as_str().is_some_and(|id| gone.contains(id))
                    && without_texts(&mut event["standing"])
                    && let Ok(bytes) = serde_json::to_vec(&event)
                {
                    batch = batch.replace(&stream, entry.sequence(), bytes);
                }
            }
        }
    }

    /// The space of this name, read from the store if it is not loaded.
    async fn space(&mut self, name: &SpaceName) -> Result<Shared, Error> {
        if let Some(space) = find(&self.spaces, name) {
            return Ok(space);
        }
        let (wanted, embedder) = (name.clone(), self.embedder.clone());
        let (loaded, last) = self
            .store
            .read(move |view| {
                let loaded = tables::read(view, wanted.as_str(), embedder.as_deref())?;
                let history = view.stream(&history(&wanted))?;
                Ok((loaded, history.map_or(0, |state| state.last)))
            })
            .await?;
        let mut space = Space::named(name.as_str());
        if self.mirrored {
            space = space.mirrored();
        }
        loaded.into_iter().for_each(|change| space.apply(change));
        self.histories.insert(name.clone(), last);
        let shared = Arc::new(RwLock::new(space));
        let mut spaces = self.spaces.write();
        spaces.insert(name.clone(), Arc::clone(&shared));
        drop(spaces);
        self.changes.send_modify(|count| *count += 1);
        Ok(shared)
    }
}

pub(crate) fn find(spaces: &Spaces, name: &SpaceName) -> Option<Shared> {
    spaces.read().get(name).cloned()
}

/// The stream with the history of a space: how records moved between layers.
pub(crate) fn history(space: &SpaceName) -> StreamId {
    StreamId::new(format!("memory/{space}"))
}

/// The history event of a change, if the change moves a record. New observations and uses are not in the history.
fn event(space: &Space, change: &Change) -> Option<Vec<u8>> {
    let said = match change {
        Change::Derive(..) | Change::Code(_) => return None,
        Change::Remove(tombstone) => serde_json::json!({
            "event": "forgotten", "id": tombstone.id, "at": tombstone.at, "why": tombstone.why,
        }),
        Change::Insert(record) | Change::Replace(record) => {
            let before = space.get(&record.id).map(|record| &record.standing);
            let same = before.unwrap_or(&Standing::Observed) == &record.standing;
            let standing = (!same).then_some(&record.standing)?;
            let mut standing = serde_json::to_value(standing).ok()?;
            without_texts(&mut standing);
            serde_json::json!({
                "event": "stands", "id": record.id, "at": now(), "standing": standing,
            })
        }
    };
    serde_json::to_vec(&said).ok()
}

/// Takes the texts of a reason out of a standing: they are in the row of the record, and go with it. Whether there were any.
fn without_texts(standing: &mut serde_json::Value) -> bool {
    let reason = standing.pointer_mut("/kept/reason");
    let Some(reason) = reason.and_then(serde_json::Value::as_object_mut) else {
        return false;
    };
    let texts = ["context", "why"].map(|part| reason.remove(part));
    texts.iter().any(Option::is_some)
}

pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as Millis)
}
