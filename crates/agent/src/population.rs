//! Many agents: who there is, who is awake, and that no two are the same.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use access::Principal;
use memory::{Access, Handle, Memory, Millis, Viewer};
use model::Model;
use sha2::{Digest, Sha256};
use skill::Registry;
use store::Store;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::actor::{self, Due, Mail};
use crate::context::{Goal, Identity};
use crate::delegate::Tasks;
use crate::error::Error;
use crate::event::{Event, EventKind};
use crate::handle::AgentHandle;
use crate::journal::{self, Journal};
use crate::keeping::OPERATOR;
use crate::law::Law;
use crate::limits::MAILBOX;
use crate::offer::{Offer, keep_axioms};
use crate::step::{AgentState, Step};
use crate::twin::{Print, Traits};

/// What all agents of a population use.
#[derive(Clone)]
#[non_exhaustive]
pub struct Parts {
    /// Where their lives are kept. It has [`TABLES`](crate::TABLES).
    pub store: Store,
    /// Where they remember; without it they remember nothing but their conversations.
    pub memory: Option<Memory>,
    /// What thinks for those that have no model of their own. By default rules do.
    pub model: Arc<dyn Model>,
    /// Whether callers are known, so that each sees its own records of memory and public ones.
    pub walls: bool,
    /// How long one that has nothing to do stays awake.
    pub sleep_after: Duration,
    /// What time it is, in milliseconds since 1970.
    pub clock: Arc<dyn Fn() -> Millis + Send + Sync>,
    /// Whether every caller is an operator: a server without authentication has no scopes. By default a caller needs
    /// the scope `operator`.
    pub open: bool,
}

impl Parts {
    /// Agents that live in this store, think by rules and remember nothing.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            memory: None,
            walls: false,
            model: Arc::new(model::rules::Rules),
            sleep_after: actor::SLEEP_AFTER,
            clock: Arc::new(actor::now),
            open: false,
        }
    }

    /// The same, with memory.
    #[must_use]
    pub fn memory(mut self, memory: Memory) -> Self {
        self.memory = Some(memory);
        self
    }

    /// The same, with a language model.
    #[must_use]
    pub fn model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = model;
        self
    }
}

/// What an agent is, besides its skills.
#[derive(Clone, Debug)]
pub struct Profile {
    /// What it is known by: a lower-case DNS label.
    pub id: String,
    pub name: String,
    pub description: String,
    /// What it is for.
    pub objectives: Vec<String>,
    /// What it goes by when it is born. Afterwards its own law counts.
    pub law: Law,
    /// Skills that it will have besides those that it comes with, by their ids.
    pub gets: Vec<String>,
    /// The shared spaces of memory that it looks into, besides its own.
    pub views: Vec<String>,
    /// The callers that see all that it remembers, where callers are kept apart ([`Parts::walls`]).
    pub readers: Vec<String>,
    /// What thinks for it, if that is not what thinks for all.
    pub model: Option<Arc<dyn Model>>,
}

impl Profile {
    /// An agent without objectives, under the default law.
    pub fn new(id: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            description: String::new(),
            objectives: Vec::new(),
            law: Law::default(),
            gets: Vec::new(),
            views: Vec::new(),
            readers: Vec::new(),
            model: None,
        }
    }
}

/// All agents of a server, asleep and awake. Clones are the same agents.
///
/// An agent that sleeps costs a map entry: its id, a hash of what tells it from others, and its settings. The rest of it
/// is in the store. Mail wakes it: an actor is spawned, which reads the snapshot and the events after it, and lives until
/// it had nothing to do for a while. While one actor of an agent lies down another may be wanted already; the new one
/// waits until the old one has written its snapshot, so that there is never more than one actor of a state.
///
/// No two agents are the same: one that has the rules, skills, objectives and views of another is refused, unless one of
/// them remembers something. An agent is told that time has passed when something is due for it (a timer, a question that
/// was not answered in time); it sleeps through the rest.
///
/// Closing puts all agents to sleep and waits until everything is committed. The task server must have ended its work
/// before, and the store must be open until after.
#[derive(Clone)]
pub struct Population(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) parts: Arc<Parts>,
    agents: Mutex<HashMap<String, Slot>>,
    /// The task server that the agents are behind.
    pub(crate) tasks: Tasks,
    /// Reports to actors that are on their way.
    telling: TaskTracker,
}

/// An agent, asleep or awake. One that is asleep is this and what the store has of it.
pub(crate) struct Slot {
    pub(crate) print: Print,
    /// What the print is made of besides the law. None for agents that are not compared.
    pub(crate) traits: Option<Traits>,
    /// What it remembers makes it another one than its twin.
    pub(crate) distinct: bool,
    /// What its manifest has now and its law has not.
    pub(crate) offer: Option<Offer>,
    model: Option<Arc<dyn Model>>,
    /// What it looks into besides its own memory.
    views: Vec<String>,
    /// The callers that see all of its memory.
    readers: Vec<String>,
    awake: Option<Awake>,
    /// The identity of a plain agent of skills, which is born with its first question and has no law.
    plain: Option<Identity>,
    /// Time matters to it: something is not finished, or it does something by the clock.
    timed: bool,
    due: Arc<Due>,
}

/// When an agent that has stopped is next woken by the clock, in milliseconds after that.
const RETRY: Millis = 5_000;

struct Awake {
    mailbox: mpsc::Sender<Mail>,
    task: JoinHandle<()>,
}

impl Population {
    pub fn new(parts: Parts) -> Self {
        let parts = Arc::new(parts);
        Self(Arc::new(Inner {
            parts,
            agents: Mutex::default(),
            tasks: Tasks::default(),
            telling: TaskTracker::new(),
        }))
    }

    /// Says which task server the agents are behind. From now on they can begin tasks of their own and ask each other.
    /// `root` is the agent that the server calls without a tenant.
    pub fn serve(&self, server: &a2a::Server, root: &str) {
        self.0.tasks.serve(server, root);
    }

    /// Lets an agent in, with what it can do. One that was here before goes on with its life, under its own law. One
    /// that is the same as another in everything that counts is refused, whether that one is awake or asleep.
    pub async fn admit(&self, profile: Profile, skills: &Registry) -> Result<AgentHandle, Error> {
        if !skill::is_label(&profile.id) {
            return Err(Error::Id(profile.id));
        }
        crate::law::meta::check(&profile.law)?;
        let store = self.0.parts.store.clone();
        let (mut journal, mut life) = Journal::open(store.clone(), &profile.id).await?;
        let born = journal.last() == 0;
        if !born {
            // Its axioms are shown to the model whole, or it does not start.
            crate::law::meta::check(life.law())?;
            if life.manifest.is_none() {
                life.manifest = journal::replay(&store, &profile.id).await?.0.manifest;
            }
        }
        let law = if born { &profile.law } else { life.law() };
        let offer = if born {
            None
        } else {
            Offer::of(&profile, &life)
        };
        let mut traits = Traits::of(&profile, skills);
        if !born {
            let goals = life.context().goals().iter().map(|it| it.text.clone());
            traits = traits.for_objectives(&goals.collect::<Vec<_>>());
        }
        if let Some(offer) = &offer {
            let places = offer.lines(&life).len();
            tracing::warn!(
                agent = profile.id,
                places,
                "its manifest or law file was edited, and its law is as before; `monas law diff` shows what would change, \
                 `monas law accept --for {} --why ...` accepts it",
                profile.id
            );
        }
        let slot = Slot {
            print: traits.print(law),
            traits: Some(traits),
            distinct: false,
            offer,
            model: profile.model.clone(),
            views: profile.views.clone(),
            readers: profile.readers.clone(),
            awake: None,
            plain: None,
            timed: life.minds_time() || law.minds_time(),
            due: Due::new(life.due()),
        };
        let id = profile.id.clone();
        let mut slot = Some(slot);
        while let Some(twin) = self.0.enter(&id, &mut slot) {
            if !(self.remembers(&id).await || self.remembers(&twin).await) {
                let mode = id.clone();
                return Err(Error::Twin { id, twin, mode });
            }
            if let Some(slot) = &mut slot {
                slot.distinct = true;
            }
        }
        if let Err(error) = self.begin(profile, born, &mut journal, life).await {
            self.0.lock().remove(&id);
            return Err(error);
        }
        Ok(AgentHandle {
            population: self.clone(),
            id,
        })
    }

    /// Records the birth of an agent, or what its manifest calls it now; and its memory has the axioms of its law.
    async fn begin(
        &self,
        profile: Profile,
        born: bool,
        journal: &mut Journal,
        mut life: AgentState,
    ) -> Result<(), Error> {
        let id = profile.id.clone();
        let at = (self.0.parts.clock)();
        let identity = Identity {
            id: id.clone(),
            name: profile.name.clone(),
            description: profile.description.clone(),
        };
        let happened = match born {
            true => Some(birth(profile, at, &life)),
            false if *life.context().identity() != identity => {
                let what = EventKind::Described { identity };
                let event = Event { at, what };
                let step = life.step(&event);
                Some((event, step))
            }
            false => None,
        };
        if let Some((event, step)) = happened {
            step.changes.iter().for_each(|change| life.apply(change));
            journal.add(&event, &step.changes)?;
            journal.flush(&life).await?;
        }
        if let Some(slot) = self.0.lock().get(&id) {
            slot.due.set(life.due());
        }
        match &self.0.parts.memory {
            Some(memory) => keep_axioms(memory, &id, &life.law().frozen.axioms).await,
            None => Ok(()),
        }
    }

    /// A plain agent of skills: it has an empty law, does not think, and has a journal once a skill asks something.
    pub fn plain(&self, id: &str, name: &str) -> AgentHandle {
        let identity = Identity {
            id: id.to_owned(),
            name: name.to_owned(),
            description: String::new(),
        };
        let slot = Slot {
            // It is told apart by its skills, which are not compared.
            print: Sha256::digest(format!("plain {id}")).into(),
            traits: None,
            distinct: false,
            offer: None,
            model: None,
            views: Vec::new(),
            readers: Vec::new(),
            awake: None,
            plain: Some(identity),
            timed: false,
            due: Due::new(None),
        };
        self.0.enter(id, &mut Some(slot));
        AgentHandle {
            population: self.clone(),
            id: id.to_owned(),
        }
    }

    /// A private memory with something in it is a difference; an empty one is none.
    pub(crate) async fn remembers(&self, id: &str) -> bool {
        let space = self
            .0
            .parts
            .memory
            .as_ref()
            .and_then(|memory| memory.space(id).ok());
        match space {
            Some(space) => space
                .records(|it| it.layer() != memory::Layer::Axiom)
                .await
                .is_ok_and(|it| !it.is_empty()),
            None => false,
        }
    }

    /// The agent of this id, also one that lived here before and was not let in again.
    pub async fn find(&self, id: &str) -> Result<AgentHandle, Error> {
        if let Ok(agent) = self.agent(id) {
            return Ok(agent);
        }
        if !skill::is_label(id) {
            return Err(Error::Unknown(id.to_owned()));
        }
        let (journal, life) = Journal::open(self.0.parts.store.clone(), id).await?;
        if journal.last() == 0 {
            return Err(Error::Unknown(id.to_owned()));
        }
        let slot = Slot {
            // It cannot be a twin: it is only looked at.
            print: Sha256::digest(id.as_bytes()).into(),
            traits: None,
            distinct: false,
            offer: None,
            model: None,
            views: Vec::new(),
            readers: Vec::new(),
            awake: None,
            plain: None,
            timed: life.minds_time() || life.law().minds_time(),
            due: Due::new(life.due()),
        };
        self.0.enter(id, &mut Some(slot));
        self.agent(id)
    }

    /// The agent of this id.
    pub fn agent(&self, id: &str) -> Result<AgentHandle, Error> {
        match self.0.lock().contains_key(id) {
            true => Ok(AgentHandle {
                population: self.clone(),
                id: id.to_owned(),
            }),
            false => Err(Error::Unknown(id.to_owned())),
        }
    }

    /// The ids of all agents, in their order.
    pub fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.0.lock().keys().cloned().collect();
        ids.sort();
        ids
    }

    /// How many are awake.
    pub fn awake(&self) -> usize {
        self.0
            .lock()
            .values()
            .filter(|slot| slot.awake.is_some())
            .count()
    }

    /// Lets time pass for every agent for which something is due by now: a timer, an idle pursuit, or the
    /// expiry of a question.
    pub async fn tick(&self) {
        let now = (self.0.parts.clock)();
        let due: Vec<String> = {
            let agents = self.0.lock();
            let due = agents.iter().filter(|(_, slot)| slot.due.at() <= now);
            due.map(|(id, _)| id.clone()).collect()
        };
        for id in due {
            // An agent that has stopped reports that to the next caller.
            drop(
                self.0
                    .send(&id, Mail::Perceive(EventKind::Ticked, None))
                    .await,
            );
        }
    }

    /// How long until something is due by the clock, for the caller of [`Self::tick`]. None: nothing is due.
    pub fn next_tick(&self) -> Option<Duration> {
        let now = (self.0.parts.clock)();
        let agents = self.0.lock();
        let next = agents.values().map(|slot| slot.due.at()).min();
        let next = next.filter(|at| *at != Millis::MAX)?;
        let left = u64::try_from(next.saturating_sub(now)).unwrap_or_default();
        Some(Duration::from_millis(left))
    }

    /// Puts every agent to sleep, and waits until all is written down.
    pub async fn close(&self) {
        self.0.tasks.close().await;
        self.0.telling.close();
        self.0.telling.wait().await;
        let awake: Vec<Awake> = {
            let mut agents = self.0.lock();
            agents
                .values_mut()
                .filter_map(|slot| slot.awake.take())
                .collect()
        };
        for Awake { mailbox, task } in awake {
            drop(mailbox.send(Mail::Sleep).await);
            drop(mailbox);
            // One that panicked has said so.
            drop(task.await);
        }
        self.0.tasks.leave();
    }
}

impl Inner {
    /// Takes an agent in, unless there is one like it: then says which. One that is here already stays as it is.
    fn enter(&self, id: &str, slot: &mut Option<Slot>) -> Option<String> {
        let mut agents = self.lock();
        let new = slot.as_ref()?;
        let mut twins = agents.iter();
        let twin = twins.find(|(other, slot)| {
            slot.print == new.print && *other != id && !slot.distinct && !new.distinct
        });
        if let Some((twin, _)) = twin {
            return Some(twin.clone());
        }
        if let Some(slot) = slot.take() {
            agents.entry(id.to_owned()).or_insert(slot);
        }
        None
    }

    /// Whether an agent thinks about messages.
    pub(crate) fn thinks(&self, id: &str) -> bool {
        self.lock().get(id).is_some_and(|slot| slot.plain.is_none())
    }

    pub(crate) fn is_awake(&self, id: &str) -> bool {
        self.lock().get(id).is_some_and(|slot| slot.awake.is_some())
    }

    /// What thinks for an agent.
    pub(crate) fn model(&self, id: &str) -> Arc<dyn Model> {
        let own = self.lock().get(id).and_then(|slot| slot.model.clone());
        own.unwrap_or_else(|| self.parts.model.clone())
    }

    /// What a caller of the agent `id` sees of the memory `space`: of its own, or of one that it looks into.
    pub(crate) fn viewer(&self, id: &str, space: &str, caller: &Principal) -> Viewer {
        let agents = self.lock();
        // A space that is no agent's is shared.
        let Some(slot) = agents.get(space).filter(|_| self.parts.walls) else {
            return Viewer::All;
        };
        let own = crate::turn::principal(id);
        let name = match caller.name() == own && id == space || caller.has_scope(OPERATOR) {
            true => return Viewer::All,
            false => caller.name(),
        };
        match slot.readers.iter().any(|it| it == name) {
            true => Viewer::Reader(name.into()),
            false => Viewer::Caller(name.into()),
        }
    }

    /// The spaces of memory that an agent recalls from for a caller: its own, and those that it may look into.
    pub(crate) fn spaces(&self, id: &str, caller: &Principal) -> Vec<Handle> {
        let Some(memory) = &self.parts.memory else {
            return Vec::new();
        };
        let views = self.lock().get(id).map(|slot| slot.views.clone());
        let views = views.into_iter().flatten();
        let views = views.filter_map(|name| Some(memory.space(&name).ok()?.shared(Access::Read)));
        let spaces = memory.space(id).into_iter().chain(views);
        spaces
            .map(|space| {
                let viewer = self.viewer(id, space.name().as_str(), caller);
                space.seen_by(viewer)
            })
            .collect()
    }

    /// Puts something into the mailbox of an agent, and wakes it if it sleeps. Waits while the mailbox is full.
    pub(crate) async fn send(self: &Arc<Self>, id: &str, post: Mail) -> Result<(), Error> {
        let mut post = post;
        // Who just fell asleep is woken again; more than a few times in a row there is something wrong with it.
        for _ in 0..8 {
            let mailbox = self.mailbox(id)?;
            match mailbox.send(post).await {
                Ok(()) => return Ok(()),
                Err(mpsc::error::SendError(back)) => post = back,
            }
        }
        Err(Error::Stopped)
    }

    fn mailbox(self: &Arc<Self>, id: &str) -> Result<mpsc::Sender<Mail>, Error> {
        let mut agents = self.lock();
        let slot = agents
            .get_mut(id)
            .ok_or_else(|| Error::Unknown(id.to_owned()))?;
        if let Some(awake) = &slot.awake
            && !awake.mailbox.is_closed()
        {
            return Ok(awake.mailbox.clone());
        }
        let before = slot.awake.take();
        let plain = slot.plain.clone();
        let due = slot.due.clone();
        let (mailbox, letters) = mpsc::channel(MAILBOX);
        let (inner, name, own) = (Arc::clone(self), id.to_owned(), mailbox.downgrade());
        let task = tokio::spawn(async move {
            if let Some(before) = before {
                // It writes down what it was; one that panicked has said so.
                drop(before.mailbox);
                drop(before.task.await);
            }
            let timed = match actor::live(
                Arc::clone(&inner.parts),
                inner.tasks.clone(),
                name.clone(),
                plain,
                due.clone(),
                letters,
            )
            .await
            {
                Ok(timed) => timed,
                Err(problem) => {
                    tracing::error!(agent = name, %problem, "agent stopped by an error; the next message starts it again");
                    let now = (inner.parts.clock)();
                    due.set(Some(now.saturating_add(RETRY)));
                    true
                }
            };
            let mut agents = inner.lock();
            if let Some(slot) = agents.get_mut(&name) {
                slot.timed = timed;
                // Unless it was woken again meanwhile.
                let closed = slot.awake.as_ref().is_some_and(|it| it.mailbox.is_closed());
                if closed
                    && own.upgrade().is_some_and(|own| {
                        slot.awake
                            .as_ref()
                            .is_some_and(|it| it.mailbox.same_channel(&own))
                    })
                {
                    slot.awake = None;
                }
            }
        });
        slot.awake = Some(Awake {
            mailbox: mailbox.clone(),
            task,
        });
        Ok(mailbox)
    }

    /// A task has ended. An agent that sleeps with nothing open is not woken for it.
    pub(crate) fn gone(self: &Arc<Self>, id: &str, task: &str) {
        let concerns = {
            let agents = self.lock();
            agents
                .get(id)
                .is_some_and(|slot| slot.timed || slot.awake.is_some())
        };
        if concerns {
            let (inner, id, task) = (Arc::clone(self), id.to_owned(), task.to_owned());
            // The task server does not wait for it.
            self.telling
                .spawn(async move { drop(inner.send(&id, Mail::Gone(task)).await) });
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<String, Slot>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first event of a life.
fn birth(profile: Profile, at: Millis, life: &AgentState) -> (Event, Step) {
    let identity = Identity {
        id: profile.id,
        name: profile.name,
        description: profile.description,
    };
    let goals = profile.objectives.into_iter().map(|text| Goal { text });
    let what = EventKind::Born {
        identity,
        goals: goals.collect(),
        law: Box::new(profile.law),
    };
    let event = Event { at, what };
    let step = life.step(&event);
    (event, step)
}

impl fmt::Debug for Population {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Population")
            .field("agents", &self.ids().len())
            .field("awake", &self.awake())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts")
            .field("model", &self.model.name())
            .finish_non_exhaustive()
    }
}
