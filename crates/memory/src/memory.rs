//! Memory as its users hold it: spaces, and handles on them that allow this or that.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use model::{Embed, Model};
use rustc_hash::FxHashMap;
use store::Store;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::afterwards::{News, Worker};
use crate::audit::{Audit, audit};
use crate::decide::{Keep, Outcome};
use crate::embedding::Embedding;
use crate::error::Error;
use crate::keeper::{self, Keeper, Reply, Request, Shared, Spaces, Write};
use crate::layer::Lasting;
use crate::limits::{CACHE, MAILBOX, MAX_NAME};
use crate::reading::Reading;
use crate::recall::question::Question;
use crate::recall::rank::rank;
use crate::recall::{Answer, Hit, Link, Mode, Noted, Recall, Relation, Weights, tokens};
use crate::record::{Content, Record, RecordId};
use crate::rules::{self, Laws, Rules};
use crate::space::Space;
use crate::tables;

/// How memory is opened.
#[derive(Debug, Default)]
pub struct Options {
    /// How records move between layers, in spaces that have no rules of their own.
    pub rules: Rules,
    /// How much signs count for in recall.
    pub weights: Weights,
    /// What makes vectors; without it recall goes by words.
    pub embedder: Option<Arc<dyn Embed>>,
    /// What reads records to find entities and relations in them; without it that is done by rules alone.
    pub reader: Option<Arc<dyn Model>>,
}

/// The memory of all agents of a server. Clones are the same memory.
#[derive(Clone)]
pub struct Memory(Arc<Inner>);

struct Inner {
    store: Store,
    spaces: Spaces,
    rules: Arc<RwLock<Laws>>,
    weights: Weights,
    embedder: Option<Arc<dyn Embed>>,
    /// Gone when memory is closed.
    mailbox: Mutex<Option<mpsc::Sender<Request>>>,
    /// Gone when memory is closed.
    keeper: Mutex<Option<JoinHandle<()>>>,
    /// Who makes something of records in the background.
    workers: Vec<Worker>,
    cache: Mutex<Cache>,
}

/// Answers, each with the version of its space that it was made of.
type Cache = FxHashMap<(String, Recall), (u64, Arc<Answer>)>;

impl Memory {
    /// Opens memory on a store that has [`TABLES`](crate::TABLES). This starts tasks on the current runtime.
    pub fn open(store: Store, options: Options) -> Self {
        let Options {
            rules,
            weights,
            embedder,
            reader,
        } = options;
        let (sender, mailbox) = mpsc::channel(MAILBOX);
        let spaces = Spaces::default();
        let rules = Arc::new(RwLock::new(Laws {
            usual: rules,
            own: FxHashMap::default(),
        }));
        let news = News::new(0);
        let keeper = Keeper {
            store: store.clone(),
            rules: Arc::clone(&rules),
            spaces: Arc::clone(&spaces),
            embedder: embedder.as_ref().map(|it| it.name().to_owned()),
            mailbox,
            news: news.clone(),
            histories: FxHashMap::default(),
            uses: FxHashMap::default(),
        };
        let embedding = embedder.clone().map(|embedder| {
            let work = Embedding { embedder };
            Worker::start(work, Arc::clone(&spaces), news.clone(), sender.downgrade())
        });
        let reading = reader.map(|model| {
            let work = Reading { model };
            Worker::start(work, Arc::clone(&spaces), news.clone(), sender.downgrade())
        });
        Self(Arc::new(Inner {
            store,
            spaces,
            rules,
            weights,
            embedder,
            workers: embedding.into_iter().chain(reading).collect(),
            mailbox: Mutex::new(Some(sender)),
            keeper: Mutex::new(Some(tokio::spawn(keeper.run()))),
            cache: Mutex::default(),
        }))
    }

    /// An agent's own space: everything is allowed there but to change its axioms.
    pub fn space(&self, name: &str) -> Result<Handle, Error> {
        let problem = match name {
            "" => "it is empty",
            _ if name.len() > MAX_NAME => "it is too long",
            _ if name.contains('/') || name.chars().any(char::is_control) => {
                "it has a slash or something invisible in it"
            }
            _ => {
                return Ok(Handle {
                    memory: self.clone(),
                    name: name.to_owned(),
                    access: Access::Own,
                });
            }
        };
        Err(Error::Input {
            what: format!("the space {name:?}"),
            problem: problem.to_owned(),
        })
    }

    /// The names of all spaces that hold something.
    pub async fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.0.store.read(tables::spaces).await?)
    }

    /// What serves questions: `words`, or `words+vectors` with the embedder's name.
    pub fn retriever(&self) -> String {
        match &self.0.embedder {
            Some(embedder) => format!("words+vectors ({})", embedder.name()),
            None => "words".to_owned(),
        }
    }

    /// Waits until every record that is at hand has its vector and was read, or that has failed.
    pub async fn settled(&self) {
        for worker in &self.0.workers {
            worker.idle().await;
        }
    }

    /// Commits what was handed in and ends its tasks. Everything after it fails with [`Error::Closed`].
    pub async fn close(&self) {
        self.0.workers.iter().for_each(Worker::stop);
        drop(lock(&self.0.mailbox).take());
        let keeper = lock(&self.0.keeper).take();
        if let Some(keeper) = keeper {
            // A task that panicked has said so.
            drop(keeper.await);
        }
    }

    async fn ask(&self, space: &str, write: Write) -> Result<Reply, Error> {
        let mailbox = self.mailbox().ok_or(Error::Closed)?;
        let (reply, answer) = oneshot::channel();
        let request = Request {
            space: space.to_owned(),
            write,
            reply,
        };
        mailbox.send(request).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }

    fn mailbox(&self) -> Option<mpsc::Sender<Request>> {
        lock(&self.0.mailbox).clone()
    }

    async fn load(&self, name: &str) -> Result<Shared, Error> {
        if let Some(space) = keeper::find(&self.0.spaces, name) {
            return Ok(space);
        }
        self.ask(name, Write::Load).await?;
        keeper::find(&self.0.spaces, name).ok_or(Error::Closed)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("retriever", &self.retriever())
            .finish_non_exhaustive()
    }
}

/// What a handle on a space allows; each allows what those before it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// To recall: a space that others share for reading.
    Read,
    /// To add: a space that others share for contributing.
    Append,
    /// To move and forget: an agent in its own space.
    Own,
    /// To write axioms: those who govern the agent.
    Govern,
}

impl Access {
    const fn name(self) -> &'static str {
        match self {
            Self::Read => "reading",
            Self::Append => "adding",
            Self::Own => "owning",
            Self::Govern => "governing",
        }
    }
}

/// A handle on a space. It can be made to allow less, never more.
#[derive(Clone, Debug)]
pub struct Handle {
    memory: Memory,
    name: String,
    access: Access,
}

impl Handle {
    /// The name of its space.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A handle for somebody else that allows no more than this.
    #[must_use]
    pub fn shared(&self, access: Access) -> Self {
        Self {
            access: access.min(self.access),
            ..self.clone()
        }
    }

    /// A handle for those who govern the agent. Only whoever holds the memory as a whole can make one.
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
            space: self.name.clone(),
            access: self.access.name(),
        })
    }

    /// From now on records of this space move by these rules. Whoever owns the space hands them in each time it is
    /// opened: they are not held here.
    pub fn follow(&self, rules: Rules) -> Result<(), Error> {
        self.allow("set rules", Access::Own)?;
        let laws = self.memory.0.rules.write();
        let mut laws = laws.unwrap_or_else(PoisonError::into_inner);
        laws.own.insert(self.name.clone(), rules);
        Ok(())
    }

    /// The rules by which records of this space move.
    pub fn rules(&self) -> Rules {
        let laws = &self.memory.0.rules;
        let laws = laws.read().unwrap_or_else(PoisonError::into_inner);
        laws.of(&self.name).clone()
    }

    /// Logs something that was seen.
    pub async fn observe(&self, content: Content) -> Result<RecordId, Error> {
        let ids = self.observe_all(vec![content]).await?;
        ids.into_iter().next().ok_or(Error::Closed)
    }

    /// Logs things that were seen, all or none, in this order.
    pub async fn observe_all(&self, contents: Vec<Content>) -> Result<Vec<RecordId>, Error> {
        self.allow("observe", Access::Append)?;
        match self
            .memory
            .ask(&self.name, Write::Observe(contents))
            .await?
        {
            Reply::Observed(ids) => Ok(ids),
            _ => Err(Error::Closed),
        }
    }

    /// Keeps something in the long term, if it is new; says what became of it.
    pub async fn keep(&self, keep: Keep) -> Result<Outcome, Error> {
        let axiom = keep.layer == Lasting::Axiom;
        self.allow(
            "keep",
            if axiom {
                Access::Govern
            } else {
                Access::Append
            },
        )?;
        match self
            .memory
            .ask(&self.name, Write::Keep(Box::new(keep)))
            .await?
        {
            Reply::Kept(outcome) => Ok(outcome),
            _ => Err(Error::Closed),
        }
    }

    /// Forgets a record, and what was concluded from it alone: says how many are gone.
    pub async fn forget(&self, id: &RecordId, why: &str) -> Result<usize, Error> {
        self.allow("forget", Access::Own)?;
        if why.trim().is_empty() {
            return Err(Error::Content {
                what: "why it is forgotten",
                problem: "is missing",
            });
        }
        let space = self.memory.load(&self.name).await?;
        let layer = look(&space, |space| space.get(id).map(|record| record.layer()));
        if layer == Some(crate::Layer::Axiom) {
            self.allow("forget an axiom", Access::Govern)?;
        }
        let (id, why) = (id.clone(), why.to_owned());
        match self
            .memory
            .ask(&self.name, Write::Forget { id, why })
            .await?
        {
            Reply::Forgotten(count) => Ok(count),
            _ => Err(Error::Closed),
        }
    }

    /// Moves what time moves: what was in working memory for too long, what nobody uses. Says how many moved.
    pub async fn tend(&self) -> Result<usize, Error> {
        self.allow("tend", Access::Own)?;
        match self.memory.ask(&self.name, Write::Tend).await? {
            Reply::Tended(count) => Ok(count),
            _ => Err(Error::Closed),
        }
    }

    /// Takes in records of an export; says how many were new.
    pub async fn import(&self, records: Vec<Record>) -> Result<usize, Error> {
        self.allow("import", Access::Own)?;
        let axioms = records.iter().any(|it| it.layer() == crate::Layer::Axiom);
        if axioms {
            self.allow("import axioms", Access::Govern)?;
        }
        match self.memory.ask(&self.name, Write::Import(records)).await? {
            Reply::Imported(count) => Ok(count),
            _ => Err(Error::Closed),
        }
    }

    /// Answers a question.
    pub async fn recall(&self, recall: Recall) -> Result<Arc<Answer>, Error> {
        recall.check()?;
        let space = self.memory.load(&self.name).await?;
        let inner = &self.memory.0;
        let key = (self.name.clone(), recall);
        let version = look(&space, Space::version);
        let cached = lock(&inner.cache).get(&key).cloned();
        let answer = match cached {
            Some((made, answer)) if made == version => answer,
            _ => {
                let (vector, retriever) = self.vector(&space, &key.1.question).await;
                let weights = key.1.mode.adjust(&inner.weights);
                let rules = self.rules();
                let answer = look(&space, |space| {
                    answer(
                        space,
                        &key.1,
                        vector.as_deref(),
                        &weights,
                        &rules,
                        retriever,
                    )
                });
                let answer = Arc::new(answer);
                let mut cache = lock(&inner.cache);
                if cache.len() >= CACHE {
                    cache.clear();
                }
                cache.insert(key.clone(), (version, Arc::clone(&answer)));
                answer
            }
        };
        if key.1.noted == Noted::Use && !answer.hits.is_empty() {
            self.note(&answer, key.1.question);
        }
        Ok(answer)
    }

    /// The best hits were of use. Nobody waits for it to be written down.
    fn note(&self, answer: &Answer, question: String) {
        /// How many hits count as used.
        const USED: usize = 3;
        let ids = answer.hits.iter().take(USED);
        let ids = ids.map(|hit| hit.record.id.clone()).collect();
        let request = Request {
            space: self.name.clone(),
            write: Write::Use { ids, question },
            reply: oneshot::channel().0,
        };
        if let Some(mailbox) = self.memory.mailbox() {
            // Where many writes wait, a use more or less does not matter.
            drop(mailbox.try_send(request));
        }
    }

    /// The question's vector, if there is something to compare it with, and what serves the answer.
    async fn vector(&self, space: &Shared, question: &str) -> (Option<Vec<f32>>, String) {
        let known = look(space, |space| space.vectors().count());
        let words = || (None, "words".to_owned());
        let Some(embedder) = self.memory.0.embedder.as_ref().filter(|_| known > 0) else {
            return words();
        };
        match embedder.embed(vec![question.to_owned()]).await {
            Ok(mut vectors) if vectors.len() == 1 => (vectors.pop(), self.memory.retriever()),
            Ok(_) => words(),
            Err(problem) => {
                tracing::warn!(%problem, "the question could not be embedded; words will do");
                words()
            }
        }
    }

    /// The record of this id.
    pub async fn get(&self, id: &RecordId) -> Result<Option<Arc<Record>>, Error> {
        let space = self.memory.load(&self.name).await?;
        Ok(look(&space, |space| space.get(id).cloned()))
    }

    /// All records, in the order they came in, that fulfil a condition.
    pub async fn records(
        &self,
        wanted: impl Fn(&Record) -> bool,
    ) -> Result<Vec<Arc<Record>>, Error> {
        let space = self.memory.load(&self.name).await?;
        Ok(look(&space, |space| {
            space
                .records()
                .filter(|record| wanted(record))
                .cloned()
                .collect()
        }))
    }

    /// What is wrong with what is held.
    pub async fn audit(&self) -> Result<Audit, Error> {
        let space = self.memory.load(&self.name).await?;
        let rules = self.rules();
        Ok(look(&space, |space| audit(space, &rules)))
    }

    /// Entities and relations around a topic; the strongest of all, if there is none.
    pub async fn graph(
        &self,
        topic: Option<&str>,
        limit: usize,
    ) -> Result<crate::view::Picture, Error> {
        let space = self.memory.load(&self.name).await?;
        Ok(look(&space, |space| {
            crate::view::picture(space, topic, limit)
        }))
    }

    /// What is known that has to do with a task.
    pub async fn context(&self, task: &str, limit: usize) -> Result<crate::view::Context, Error> {
        let space = self.memory.load(&self.name).await?;
        Ok(look(&space, |space| {
            crate::view::context(space, task, limit)
        }))
    }

    /// Statements of Cypher that build the graph elsewhere.
    pub async fn cypher(&self) -> Result<String, Error> {
        let space = self.memory.load(&self.name).await?;
        Ok(look(&space, crate::export::cypher))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn look<R>(space: &Shared, look: impl FnOnce(&Space) -> R) -> R {
    look(&space.read().unwrap_or_else(PoisonError::into_inner))
}

/// What a space has to say to a question.
fn answer(
    space: &Space,
    recall: &Recall,
    vector: Option<&[f32]>,
    weights: &Weights,
    rules: &Rules,
    retriever: String,
) -> Answer {
    let question = Question::of(&recall.question, space.graph());
    let allowed = |slot| space.at(slot).is_some_and(|record| recall.admits(record));
    let ranked = rank(
        space.corpus(),
        &question,
        vector,
        weights,
        recall.limit,
        &allowed,
    );
    let best = ranked.first().map_or(1.0, |it| it.score);
    let now = keeper::now();
    let mut left = recall.tokens.unwrap_or(usize::MAX);
    let mut hits = Vec::with_capacity(ranked.len());
    let mut slots = Vec::with_capacity(ranked.len());
    for ranked in ranked {
        let Some(record) = space.at(ranked.slot) else {
            continue;
        };
        let size = tokens(&record.content.text);
        if size > left {
            continue;
        }
        left -= size;
        slots.push(ranked.slot);
        hits.push(Hit {
            record: Arc::clone(record),
            score: ranked.score,
            relevance: ranked.score / best,
            similarity: vector.and_then(|vector| space.vectors().near(ranked.slot, vector)),
            signs: ranked.signs(),
            confidence: record
                .kept()
                .map(|kept| rules::confidence(record, kept, rules, now)),
            provenance: provenance(space, record),
        });
    }
    let graph = space.graph();
    let mut names = question.entities.clone();
    for name in slots.iter().flat_map(|&slot| graph.of(slot)) {
        if !names.iter().any(|it| it == name) && names.len() < 32 {
            names.push(name.to_owned());
        }
    }
    let mut relations: Vec<Relation> = Vec::new();
    let local = recall.mode != Mode::Global;
    let around = question.entities.iter().filter(|_| local);
    let edges = around.flat_map(|name| graph.edges(name, 8));
    for edge in slots
        .iter()
        .flat_map(|&slot| graph.relations_of(slot))
        .chain(edges)
    {
        let relation = crate::view::relation(space, edge);
        if !relations.contains(&relation) && relations.len() < 64 {
            relations.push(relation);
        }
    }
    Answer {
        hits,
        entities: names.iter().filter_map(|name| graph.node(name)).collect(),
        relations,
        retriever,
    }
}

/// What a record was concluded from, and what that was concluded from, each once.
fn provenance(space: &Space, record: &Record) -> Vec<Link> {
    let mut chain: Vec<Link> = Vec::new();
    let mut next: Vec<RecordId> = record
        .kept()
        .map_or_else(Vec::new, |kept| kept.from.clone());
    while let Some(id) = next.pop() {
        if chain.len() >= 16 || chain.iter().any(|link| link.id == id) {
            continue;
        }
        let known = space.get(&id);
        chain.push(Link {
            source: known.and_then(|record| record.source().map(str::to_owned)),
            occurred: known.map(|record| record.occurred()),
            id,
        });
        next.extend(
            known
                .and_then(|record| record.kept())
                .map_or_else(Vec::new, |kept| kept.from.clone()),
        );
    }
    chain
}
