//! Memory as its users hold it: opening and closing, and handles on spaces with the rights that they give.
//!
//! Answering questions is in `recall`, writing in `writer`.

use std::fmt;
use std::sync::Arc;

use model::{Embed, Model};
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;
use store::Store;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::audit::{Audit, audit};
use crate::background::{Changes, Worker};
use crate::cache::{Cache, CacheCounts};
use crate::code::{CodeChange, CodeFile};
use crate::decide::{Keep, Outcome};
use crate::embedding::Embedding;
use crate::error::Error;
use crate::layer::{Lasting, Layer};
use crate::limits::{CACHE, CACHE_BYTES, MAILBOX, MAX_NAME};
use crate::mirror::MirrorBatch;
use crate::reading::Reading;
use crate::recall::{Recaller, Weights};
use crate::record::{Content, Record, RecordId};
use crate::rules::{Rules, SpaceRules};
use crate::tables;
use crate::view::Context;
use crate::viewer::Viewer;
use crate::writer::{self, Reply, Request, Shared, Spaces, Write, Writer};

/// How memory is opened.
#[derive(Debug, Default)]
pub struct Options {
    /// How records move between layers, in spaces that have no rules of their own.
    pub rules: Rules,
    /// How much each sign counts in ranking.
    pub weights: Weights,
    /// Makes the vectors; without it recall goes by words.
    pub embedder: Option<Arc<dyn Embed>>,
    /// The model that extracts entities and relations from records; without it rules alone do.
    pub reader: Option<Arc<dyn Model>>,
    /// Whether changes are gathered for another database ([`Memory::mirror`]).
    pub mirrored: bool,
}

/// The name of a space: not empty, at most [`MAX_NAME`] bytes, without slashes and control characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceName(Arc<str>);

impl SpaceName {
    /// Parses a name, or says why it is not one.
    pub fn parse(name: &str) -> Result<Self, Error> {
        let problem = match name {
            "" => "it is empty",
            _ if name.len() > MAX_NAME => "it is too long",
            // Keys in the store are `space/record`.
            _ if name.contains('/') || name.chars().any(char::is_control) => {
                "it has a slash or a control character in it"
            }
            _ => return Ok(Self(name.into())),
        };
        Err(Error::Input {
            what: format!("the space {name:?}"),
            problem: problem.to_owned(),
        })
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SpaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The memory of all agents of a server. Clones share the same memory.
///
/// It owns the mailbox of the writer, the tasks that work in the background, the spaces that were loaded,
/// and what recall needs (embedder, weights, cache). All writes go through the mailbox; reads look at the loaded spaces.
#[derive(Clone)]
pub struct Memory(Arc<Inner>);

/// The question of a cached context: the space, the caller, whether it is shown files, the task, and how many records.
type ContextKey = (SpaceName, Viewer, bool, String, usize);

struct Inner {
    store: Store,
    spaces: Spaces,
    /// Counts the groups of changes.
    changes: Changes,
    rules: Arc<RwLock<SpaceRules>>,
    recaller: Recaller,
    contexts: Cache<ContextKey, Context>,
    /// None after `close`: the writer ends when the last sender is gone.
    mailbox: Mutex<Option<mpsc::Sender<Request>>>,
    /// None after `close`, which waits for it.
    writer: Mutex<Option<JoinHandle<()>>>,
    workers: Vec<Worker>,
}

impl Memory {
    /// Opens memory on a store that has [`TABLES`](crate::TABLES). Starts the writer and the background tasks on the
    /// current runtime; [`close`](Self::close) ends them.
    pub fn open(store: Store, options: Options) -> Self {
        let Options {
            rules,
            weights,
            embedder,
            reader,
            mirrored,
        } = options;
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        let spaces = Spaces::default();
        let rules = Arc::new(RwLock::new(SpaceRules::new(rules)));
        let changes = Changes::new(0);
        let writer = Writer {
            store: store.clone(),
            rules: Arc::clone(&rules),
            spaces: Arc::clone(&spaces),
            mirrored,
            embedder: embedder.as_ref().map(|it| it.name().to_owned()),
            mailbox,
            changes: changes.clone(),
            histories: FxHashMap::default(),
            uses: FxHashMap::default(),
        };
        let embedding = embedder.clone().map(|embedder| {
            let work = Embedding { embedder };
            Worker::start(
                work,
                Arc::clone(&spaces),
                changes.clone(),
                sender.downgrade(),
            )
        });
        let reading = reader.map(|model| {
            let work = Reading { model };
            Worker::start(
                work,
                Arc::clone(&spaces),
                changes.clone(),
                sender.downgrade(),
            )
        });
        Self(Arc::new(Inner {
            store,
            spaces,
            rules,
            changes,
            recaller: Recaller::new(weights, embedder),
            contexts: Cache::new(CACHE, CACHE_BYTES),
            workers: embedding.into_iter().chain(reading).collect(),
            mailbox: Mutex::new(Some(sender)),
            writer: Mutex::new(Some(tokio::spawn(writer.run()))),
        }))
    }

    /// A handle on an agent's own space: it allows everything except changing axioms.
    pub fn space(&self, name: &str) -> Result<Handle, Error> {
        Ok(Handle {
            memory: self.clone(),
            name: SpaceName::parse(name)?,
            access: Access::Own,
            viewer: Viewer::All,
            files: false,
        })
    }

    /// The names of all spaces that hold a record.
    pub async fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.0.store.read(tables::spaces).await?)
    }

    /// How many spaces are loaded, and how many records they have.
    pub fn loaded(&self) -> (usize, usize) {
        let spaces: Vec<Shared> = self.0.spaces.read().values().cloned().collect();
        let records = spaces.iter().map(|space| space.read().len()).sum();
        (spaces.len(), records)
    }

    /// How questions are answered: `words`, or `words+vectors` with the embedder's name.
    pub fn retriever(&self) -> String {
        self.0.recaller.name()
    }

    /// Statements that bring another database up to date with a space, as far as it has changed; none if it has not. What is
    /// given out is not given out again: statements that fail are [put back](Self::put_back).
    pub async fn mirror(&self, space: &str) -> Result<Option<MirrorBatch>, Error> {
        let space = self.load(&SpaceName::parse(space)?).await?;
        let batch = space.write().mirror();
        Ok(batch)
    }

    /// Gives back statements that were not run, so that their parts are sent later as they are then.
    pub fn put_back(&self, space: &str, batch: MirrorBatch) {
        let space = SpaceName::parse(space).ok();
        let space = space.and_then(|name| writer::find(&self.0.spaces, &name));
        if let Some(space) = space {
            space.write().put_back(batch);
        }
    }

    /// The names of the spaces that another database is to have.
    pub async fn mirrored_spaces(&self) -> Result<Vec<String>, Error> {
        Ok(self.0.store.read(tables::mirrored_spaces).await?)
    }

    /// How many parts of the graph another database has not got yet, of spaces that are loaded.
    pub fn unmirrored(&self) -> usize {
        let spaces = self.0.spaces.read();
        spaces.values().map(|it| it.read().unmirrored()).sum()
    }

    /// Changes when something was written to any space.
    pub fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// The lookups of the cache of answers, and of the cache of contexts.
    pub fn cache_counts(&self) -> (CacheCounts, CacheCounts) {
        (self.0.recaller.cache().counts(), self.0.contexts.counts())
    }

    /// Drops the results that are cached: a forgotten text must not stay in memory, and rules decide how sure a record is.
    fn clear_caches(&self) {
        self.0.recaller.cache().clear();
        self.0.contexts.clear();
    }

    /// Waits until the background tasks have worked on every record that is loaded now, or have failed.
    pub async fn settled(&self) {
        for worker in &self.0.workers {
            worker.idle().await;
        }
    }

    /// Commits the writes that were handed in and ends all tasks. Later operations fail with [`Error::Closed`].
    pub async fn close(&self) {
        self.0.workers.iter().for_each(Worker::stop);
        drop(self.0.mailbox.lock().take());
        let writer = self.0.writer.lock().take();
        if let Some(writer) = writer {
            // A panic in the writer was reported by the runtime; there is nothing to add.
            drop(writer.await);
        }
    }

    pub(crate) fn recaller(&self) -> &Recaller {
        &self.0.recaller
    }

    /// Hands a write to the writer and waits for its outcome.
    async fn ask(&self, space: &SpaceName, write: Write) -> Result<Reply, Error> {
        let mailbox = self.mailbox().ok_or(Error::Closed)?;
        let (reply, answer) = oneshot::channel();
        let request = Request {
            space: space.clone(),
            write,
            reply,
        };
        mailbox.send(request).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Hands a write to the writer if there is room, and does not wait for it.
    pub(crate) fn offer(&self, space: &SpaceName, write: Write) {
        let request = Request {
            space: space.clone(),
            write,
            reply: oneshot::channel().0,
        };
        if let Some(mailbox) = self.mailbox() {
            drop(mailbox.try_send(request));
        }
    }

    fn mailbox(&self) -> Option<mpsc::Sender<Request>> {
        self.0.mailbox.lock().clone()
    }

    async fn load(&self, name: &SpaceName) -> Result<Shared, Error> {
        if let Some(space) = writer::find(&self.0.spaces, name) {
            return Ok(space);
        }
        self.ask(name, Write::Load).await?;
        writer::find(&self.0.spaces, name).ok_or(Error::Closed)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("retriever", &self.retriever())
            .finish_non_exhaustive()
    }
}

/// The rights of a handle; each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Recall, in a space that is shared for reading.
    Read,
    /// Add records, in a space that is shared for contributing.
    Append,
    /// Move and forget records: an agent in its own space.
    Own,
    /// Write axioms: the operator of the agent.
    Govern,
}

impl Access {
    /// Why a handle without this right is refused, and the way out.
    const fn needed(self) -> &'static str {
        match self {
            Self::Read => "it may not be read here",
            Self::Append => "it is shared for reading only",
            Self::Own => "only the agent that it belongs to moves and forgets records",
            Self::Govern => {
                "axioms come from the law of the agent: change frozen.axioms there, or axioms in its manifest"
            }
        }
    }
}

/// A handle on a space. [`shared`](Self::shared) makes one with fewer rights; none can be made with more, except by
/// the holder of the [`Memory`] itself.
#[derive(Clone, Debug)]
pub struct Handle {
    memory: Memory,
    name: SpaceName,
    access: Access,
    viewer: Viewer,
    /// Whether it shows the files of the project.
    files: bool,
}

impl Handle {
    /// The name of the space.
    pub fn name(&self) -> &SpaceName {
        &self.name
    }

    /// A handle on the same space with at most these rights.
    #[must_use]
    pub fn shared(&self, access: Access) -> Self {
        Self {
            access: access.min(self.access),
            ..self.clone()
        }
    }

    /// A handle for this caller, with the same rights: it reads the records that the caller sees, forgets those that
    /// it owns, and what it writes belongs to the caller.
    #[must_use]
    pub fn seen_by(&self, viewer: Viewer) -> Self {
        Self {
            viewer,
            ..self.clone()
        }
    }

    /// A handle that also shows the files of the project, for a caller that may read them.
    #[must_use]
    pub fn with_files(&self) -> Self {
        Self {
            files: true,
            ..self.clone()
        }
    }

    pub(crate) fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    /// Whether recall counts as use: a handle for reading alone leaves no trace.
    pub(crate) fn leaves_traces(&self) -> bool {
        self.access > Access::Read
    }

    /// A handle that may also write axioms. `memory` proves the right: it must be the memory of this handle.
    #[must_use]
    pub fn governed(self, memory: &Memory) -> Self {
        let governs = Arc::ptr_eq(&memory.0, &self.memory.0);
        Self {
            access: if governs { Access::Govern } else { self.access },
            ..self
        }
    }

    fn allow(&self, what: &'static str, least: Access) -> Result<(), Error> {
        if self.access >= least {
            return Ok(());
        }
        Err(Error::Denied {
            what,
            space: self.name.to_string(),
            needed: least.needed(),
        })
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The space, read from the store if it is not loaded.
    pub(crate) async fn load(&self) -> Result<Shared, Error> {
        self.memory.load(&self.name).await
    }

    async fn ask(&self, write: Write) -> Result<Reply, Error> {
        self.memory.ask(&self.name, write).await
    }

    /// Sets the rules by which records of this space move. They are not stored: the owner sets them again after
    /// each start.
    pub fn follow(&self, rules: Rules) -> Result<(), Error> {
        self.allow("set rules", Access::Own)?;
        let mut all = self.memory.0.rules.write();
        all.set(self.name.clone(), rules);
        drop(all);
        self.memory.clear_caches();
        Ok(())
    }

    /// The rules by which records of this space move.
    pub fn rules(&self) -> Rules {
        self.memory.0.rules.read().of(&self.name).clone()
    }

    pub async fn observe(&self, content: Content) -> Result<RecordId, Error> {
        let ids = self.observe_all(vec![content]).await?;
        ids.into_iter().next().ok_or(Error::Closed)
    }

    /// Logs observations in this order, all or none.
    pub async fn observe_all(&self, contents: Vec<Content>) -> Result<Vec<RecordId>, Error> {
        self.allow("observe", Access::Append)?;
        let contents = contents.into_iter().map(|it| self.owned(it)).collect();
        let viewer = self.viewer.clone();
        match self.ask(Write::Observe(contents, viewer)).await? {
            Reply::Observed(ids) => Ok(ids),
            _ => Err(Error::Closed),
        }
    }

    /// What a caller writes belongs to it, unless it says otherwise.
    fn owned(&self, mut content: Content) -> Content {
        if content.owner.is_none() {
            content.owner = self.viewer.name().map(str::to_owned);
        }
        content
    }

    /// Keeps something in the long term if it is new. [`Outcome`] says what became of it.
    pub async fn keep(&self, keep: Keep) -> Result<Outcome, Error> {
        let least = match keep.layer {
            Lasting::Axiom => Access::Govern,
            Lasting::Belief | Lasting::Procedure => Access::Append,
        };
        self.allow("keep", least)?;
        let keep = Keep {
            content: self.owned(keep.content),
            ..keep
        };
        let viewer = self.viewer.clone();
        match self.ask(Write::Keep(Box::new(keep), viewer)).await? {
            Reply::Kept(outcome) => Ok(outcome),
            _ => Err(Error::Closed),
        }
    }

    /// Forgets a record and the records that were concluded from it alone. Returns how many are gone.
    pub async fn forget(&self, id: &RecordId, why: &str) -> Result<usize, Error> {
        self.allow("forget", Access::Own)?;
        if why.trim().is_empty() {
            return Err(Error::Content {
                what: "the reason for forgetting",
                problem: "is missing",
            });
        }
        let space = self.load().await?;
        let record = space.read().get(id).cloned();
        let Some(record) = record.filter(|it| self.viewer.sees(it)) else {
            return Err(Error::Unknown(id.clone()));
        };
        if record.layer() == Layer::Axiom {
            self.allow("forget an axiom", Access::Govern)?;
        }
        if !self.viewer.owns(&record) {
            return Err(Error::NotOwner(id.clone()));
        }
        let (id, why) = (id.clone(), why.to_owned());
        let forgotten = self.ask(Write::Forget { id, why }).await?;
        self.memory.clear_caches();
        match forgotten {
            Reply::Forgotten(count) => Ok(count),
            _ => Err(Error::Closed),
        }
    }

    /// Applies the rules that depend on time: records leave working memory, and beliefs that lost their confidence are
    /// forgotten. Returns how many records changed.
    pub async fn expire(&self) -> Result<usize, Error> {
        self.allow("expire", Access::Own)?;
        match self.ask(Write::Expire).await? {
            Reply::Expired(count) => Ok(count),
            _ => Err(Error::Closed),
        }
    }

    /// Takes in records of an export. Returns how many were new.
    pub async fn import(&self, records: Vec<Record>) -> Result<usize, Error> {
        self.allow("import", Access::Own)?;
        if self.viewer != Viewer::All {
            return Err(Error::Input {
                what: "the import".to_owned(),
                problem: "its records may belong to others, and only operators write those"
                    .to_owned(),
            });
        }
        let axioms = records.iter().any(|it| it.layer() == Layer::Axiom);
        if axioms {
            self.allow("import axioms", Access::Govern)?;
        }
        match self.ask(Write::Import(records)).await? {
            Reply::Imported(count) => Ok(count),
            _ => Err(Error::Closed),
        }
    }

    /// The record of this id.
    pub async fn get(&self, id: &RecordId) -> Result<Option<Arc<Record>>, Error> {
        let space = self.load().await?;
        let found = space.read().get(id).cloned();
        Ok(found.filter(|record| self.viewer.sees(record)))
    }

    /// The records that fulfil a condition, in the order in which they were added.
    pub async fn records(
        &self,
        wanted: impl Fn(&Record) -> bool,
    ) -> Result<Vec<Arc<Record>>, Error> {
        let space = self.load().await?;
        let space = space.read();
        let seen = space.records().filter(|record| self.viewer.sees(record));
        let found = seen.filter(|record| wanted(record));
        Ok(found.cloned().collect())
    }

    /// Counts duplicates, loops, contradictions and other faults of the space.
    pub async fn audit(&self) -> Result<Audit, Error> {
        let space = self.load().await?;
        let rules = self.rules();
        Ok(audit(&space.read(), &self.viewer, &rules))
    }

    /// Entities and relations around a topic; without one, those with most mentions.
    pub async fn graph(
        &self,
        topic: Option<&str>,
        limit: usize,
    ) -> Result<crate::view::Picture, Error> {
        let space = self.load().await?;
        let space = space.read();
        let mut picture = crate::view::picture(&space, &self.viewer, topic, limit);
        if self.files {
            crate::view::with_files(&mut picture, &space, topic, limit);
        }
        Ok(picture)
    }

    /// The files and symbols that a question names, and their relations; nothing for a handle that shows no files.
    pub async fn code_named(
        &self,
        question: &str,
        limit: usize,
    ) -> Result<crate::view::Picture, Error> {
        let mut picture = crate::view::Picture::default();
        if self.files {
            let space = self.load().await?;
            crate::view::with_files(&mut picture, &space.read(), Some(question), limit);
        }
        Ok(picture)
    }

    /// Takes in files of the project, or takes out those that are gone.
    pub async fn put_code(&self, changes: Vec<CodeChange>) -> Result<(), Error> {
        self.allow("take in files", Access::Own)?;
        self.ask(Write::Code(changes)).await?;
        Ok(())
    }

    /// The files that are known, in the order of their paths; none for a handle that shows no files.
    pub async fn code_files(&self) -> Result<Vec<Arc<CodeFile>>, Error> {
        if !self.files {
            return Ok(Vec::new());
        }
        let space = self.load().await?;
        let space = space.read();
        Ok(space.code().files().cloned().collect())
    }

    /// Forgets a file, if the id is that of one, until a tool reads or writes it again. It belongs to the project, so that
    /// only handles which own all records forget it.
    pub async fn forget_code(&self, id: &RecordId) -> Result<bool, Error> {
        let Some(path) = crate::code::path_of(id) else {
            return Ok(false);
        };
        self.allow("forget", Access::Own)?;
        let space = self.load().await?;
        let known = self.files && space.read().code().get(path).is_some();
        if !known {
            return Err(Error::Unknown(id.clone()));
        }
        if self.viewer != Viewer::All {
            return Err(Error::NotOwner(id.clone()));
        }
        self.put_code(vec![CodeChange::Remove(path.to_owned())])
            .await?;
        Ok(true)
    }

    /// The records of a task, and the entities they are about.
    pub async fn context(&self, task: &str, limit: usize) -> Result<Arc<Context>, Error> {
        let space = self.load().await?;
        let (name, viewer) = (self.name.clone(), self.viewer.clone());
        let key = (name, viewer, self.files, task.to_owned(), limit);
        let contexts = &self.memory.0.contexts;
        let space = space.read();
        let version = space.versions();
        if let Some(context) = contexts.get(&key, version) {
            return Ok(context);
        }
        let mut context = crate::view::context(&space, &self.viewer, task, limit);
        if self.files {
            context.files = space.code().of_task(&self.viewer, task, limit);
        }
        let context = Arc::new(context);
        contexts.put(key, version, context.weight(), Arc::clone(&context));
        Ok(context)
    }

    /// Cypher statements that build the graph in another database.
    pub async fn cypher(&self) -> Result<String, Error> {
        let space = self.load().await?;
        let space = space.read();
        let mut text = crate::export::cypher(&space, &self.viewer);
        if self.files {
            crate::export::code_cypher(&space, &mut text);
        }
        Ok(text)
    }
}
