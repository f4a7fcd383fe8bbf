//! The one who writes: takes what waits, decides, commits it in one batch, and only then shows it.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{SystemTime, UNIX_EPOCH};

use rustc_hash::FxHashMap;
use store::{Batch, NewEvent, Store, StreamId};
use tokio::sync::{mpsc, oneshot};

use crate::afterwards::News;
use crate::decide::{self, Keep, Outcome};
use crate::error::Error;
use crate::limits::{GROUP, USES};
use crate::record::{Content, Record, RecordId, Standing};
use crate::rules::{Laws, Rules};
use crate::space::{Change, Derived, Space};
use crate::tables;
use crate::text::date::Millis;

/// A space that readers and the keeper share.
pub(crate) type Shared = Arc<RwLock<Space>>;

/// All spaces that were asked for.
pub(crate) type Spaces = Arc<RwLock<FxHashMap<String, Shared>>>;

/// Something to be done in a space.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) space: String,
    pub(crate) write: Write,
    pub(crate) reply: oneshot::Sender<Result<Reply, Error>>,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Write {
    /// To have the space at hand.
    Load,
    Observe(Vec<Content>),
    Keep(Box<Keep>),
    Import(Vec<Record>),
    Forget {
        id: RecordId,
        why: String,
    },
    /// Nobody waits for this.
    Use {
        ids: Vec<RecordId>,
        question: String,
    },
    Tend,
    /// What was made of records.
    Derive(Vec<(RecordId, Derived)>),
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Reply {
    Done,
    Observed(Vec<RecordId>),
    Kept(Outcome),
    Imported(usize),
    Forgotten(usize),
    Tended(usize),
}

/// The task that writes. It ends when nobody can ask it any more.
pub(crate) struct Keeper {
    pub(crate) store: Store,
    pub(crate) rules: Arc<RwLock<Laws>>,
    pub(crate) spaces: Spaces,
    /// The embedder whose vectors are read.
    pub(crate) embedder: Option<String>,
    pub(crate) mailbox: mpsc::Receiver<Request>,
    /// Told of every change.
    pub(crate) news: News,
    /// How far the history of each space goes.
    pub(crate) histories: FxHashMap<String, u64>,
    /// Uses that are not written down yet.
    pub(crate) uses: FxHashMap<(String, RecordId), (u32, String)>,
}

/// What is decided and not yet committed.
#[derive(Default)]
struct Pending {
    changes: Vec<(String, Shared, Vec<Change>)>,
    replies: Vec<(oneshot::Sender<Result<Reply, Error>>, Reply)>,
}

impl Keeper {
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
            // What looks at records has to see those that were written before it.
            let looks = match &write {
                Write::Load | Write::Use { .. } | Write::Derive(_) => false,
                Write::Observe(contents) => contents.iter().any(decide::is_own),
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
        name: &str,
        shared: &Shared,
        write: Write,
    ) -> Result<(Vec<Change>, Reply), Error> {
        let now = now();
        let rules = self.rules(name);
        let space = shared.read().unwrap_or_else(PoisonError::into_inner);
        Ok(match write {
            Write::Load => (Vec::new(), Reply::Done),
            Write::Observe(contents) => {
                let records: Vec<Record> = contents
                    .into_iter()
                    .map(|it| decide::observe(&space, it, &rules, now, RecordId::fresh()))
                    .collect::<Result<_, _>>()?;
                let ids = records.iter().map(|record| record.id.clone()).collect();
                let changes = records.into_iter().map(Change::Insert).collect();
                (changes, Reply::Observed(ids))
            }
            Write::Keep(keep) => {
                let (changes, outcome) =
                    decide::keep(&space, *keep, &rules, now, RecordId::fresh())?;
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
            Write::Use { ids, question } => {
                for id in ids {
                    let (times, last) = self.uses.entry((name.to_owned(), id)).or_default();
                    *times += 1;
                    last.clone_from(&question);
                }
                (Vec::new(), Reply::Done)
            }
            Write::Derive(all) => {
                // Who made it may not have seen that a record was forgotten.
                let known = all.into_iter().filter(|(id, _)| space.get(id).is_some());
                let changes = known.map(|(id, derived)| Change::Derive(id, derived));
                (changes.collect(), Reply::Done)
            }
            Write::Tend => {
                let changes = decide::tend(&space, &rules, now);
                let count = changes.len();
                (changes, Reply::Tended(count))
            }
        })
    }

    fn rules(&self, space: &str) -> Rules {
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        rules.of(space).clone()
    }

    /// Writes down what was used, in one space or in all, and moves what the rules move.
    async fn write_uses(&mut self, space: Option<&str>) {
        let due: Vec<_> = self
            .uses
            .extract_if(|(name, _), _| space.is_none_or(|space| space == name))
            .collect();
        let mut pending = Pending::default();
        for ((name, id), (times, question)) in due {
            let rules = self.rules(&name);
            let Ok(shared) = self.space(&name).await else {
                continue;
            };
            let changes = {
                let space = shared.read().unwrap_or_else(PoisonError::into_inner);
                decide::used(
                    &space,
                    &id,
                    times,
                    &question,
                    &rules,
                    now(),
                    RecordId::fresh,
                )
            };
            // A promotion makes a belief, which the next one has to see.
            let promotes = changes.len() > 1;
            pending.changes.push((name, shared, changes));
            if promotes {
                self.commit(&mut pending).await;
            }
        }
        self.commit(&mut pending).await;
    }

    /// Commits what is pending, shows it, and answers.
    async fn commit(&mut self, pending: &mut Pending) {
        let Pending { changes, replies } = std::mem::take(pending);
        let committed = self.write(&changes).await;
        if committed.is_ok() {
            for (_, shared, changes) in changes {
                if changes.is_empty() {
                    continue;
                }
                let mut space = shared.write().unwrap_or_else(PoisonError::into_inner);
                changes.into_iter().for_each(|change| space.apply(change));
                drop(space);
                self.news.send_modify(|count| *count += 1);
            }
        }
        for (reply, done) in replies {
            // Whoever asked may have gone.
            drop(reply.send(committed.clone().map(|()| done)));
        }
    }

    async fn write(&mut self, changes: &[(String, Shared, Vec<Change>)]) -> Result<(), Error> {
        let mut batch = Batch::new();
        let mut events: FxHashMap<&str, Vec<NewEvent>> = FxHashMap::default();
        for (name, shared, changes) in changes {
            let space = shared.read().unwrap_or_else(PoisonError::into_inner);
            for change in changes {
                batch = tables::write(batch, name, change)?;
                if let Some(event) = event(&space, change) {
                    events.entry(name).or_default().push(NewEvent::new(event));
                }
            }
        }
        let mut reached = Vec::new();
        for (name, events) in events {
            let after = self.histories.get(name).copied().unwrap_or_default();
            reached.push((name.to_owned(), after + events.len() as u64));
            batch = batch.append(&history(name), after, events);
        }
        if !batch.is_empty() {
            self.store.commit(batch).await?;
        }
        self.histories.extend(reached);
        Ok(())
    }

    /// The space of this name, read from the store if it is not at hand.
    async fn space(&mut self, name: &str) -> Result<Shared, Error> {
        if let Some(space) = find(&self.spaces, name) {
            return Ok(space);
        }
        let (wanted, embedder) = (name.to_owned(), self.embedder.clone());
        let (loaded, last) = self
            .store
            .read(move |view| {
                let loaded = tables::read(view, &wanted, embedder.as_deref())?;
                let history = view.stream(&history(&wanted))?;
                Ok((loaded, history.map_or(0, |state| state.last)))
            })
            .await?;
        let mut space = Space::default();
        loaded.into_iter().for_each(|change| space.apply(change));
        self.histories.insert(name.to_owned(), last);
        let shared = Arc::new(RwLock::new(space));
        let mut spaces = self.spaces.write().unwrap_or_else(PoisonError::into_inner);
        spaces.insert(name.to_owned(), Arc::clone(&shared));
        drop(spaces);
        self.news.send_modify(|count| *count += 1);
        Ok(shared)
    }
}

/// The space of this name, if it is at hand.
pub(crate) fn find(spaces: &Spaces, name: &str) -> Option<Shared> {
    let spaces = spaces.read().unwrap_or_else(PoisonError::into_inner);
    spaces.get(name).cloned()
}

/// The stream of a space's moves.
pub(crate) fn history(space: &str) -> StreamId {
    StreamId::new(format!("memory/{space}"))
}

/// What the history says of a change: that something moved. Observations are their own log, and uses are counted.
fn event(space: &Space, change: &Change) -> Option<Vec<u8>> {
    let said = match change {
        Change::Derive(..) => return None,
        Change::Remove(tombstone) => serde_json::json!({
            "event": "forgotten", "id": tombstone.id, "at": tombstone.at, "why": tombstone.why,
        }),
        Change::Insert(record) | Change::Replace(record) => {
            let before = space.get(&record.id).map(|record| &record.standing);
            let same = before.unwrap_or(&Standing::Observed) == &record.standing;
            let standing = (!same).then_some(&record.standing)?;
            serde_json::json!({
                "event": "stands", "id": record.id, "at": now(), "standing": standing,
            })
        }
    };
    serde_json::to_vec(&said).ok()
}

/// The time.
pub(crate) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as Millis)
}
