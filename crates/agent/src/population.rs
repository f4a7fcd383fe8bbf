//! All agents of a server: starts and stops their actors, and refuses an agent that equals another.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use memory::{Memory, Millis};
use model::Model;
use sha2::{Digest, Sha256};
use skill::Registry;
use store::Store;
use tokio_util::task::TaskTracker;

use crate::actor::{self, Due, Mail};
use crate::context::{Goal, Identity};
use crate::delegate::Tasks;
use crate::error::Error;
use crate::event::{Event, EventKind};
use crate::handle::AgentHandle;
use crate::journal::{self, Journal};
use crate::law::Law;
use crate::offer::{Offer, keep_axioms};
use crate::step::{AgentState, Step};
use crate::twin::{Print, Traits};

mod views;
mod waking;

use waking::Awake;

/// The parts that all agents of a population use.
#[derive(Clone)]
#[non_exhaustive]
pub struct Parts {
    /// The store of their journals. It has [`TABLES`](crate::TABLES).
    pub store: Store,
    /// Where they remember; without it they remember nothing but their conversations.
    pub memory: Option<Memory>,
    /// The model of agents that have none of their own. By default it is rules.
    pub model: Arc<dyn Model>,
    /// Whether callers are known, so that each sees its own records of memory and public ones.
    pub walls: bool,
    /// How long one that has nothing to do stays awake.
    pub sleep_after: Duration,
    /// The clock, in milliseconds since 1970.
    pub clock: Arc<dyn Fn() -> Millis + Send + Sync>,
    /// A language model that was found and is not used: how to use it, in a sentence.
    pub offered_model: Arc<OnceLock<String>>,
}

impl Parts {
    /// Agents that live in this store, think by rules and remember nothing.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            memory: None,
            walls: false,
            model: Arc::new(model::rules::Rules::default()),
            sleep_after: actor::SLEEP_AFTER,
            clock: Arc::new(actor::now),
            offered_model: Arc::default(),
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

/// An agent, besides its skills.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name in addresses: a lower-case DNS label.
    pub id: String,
    pub name: String,
    pub description: String,
    /// Its purposes.
    pub objectives: Vec<String>,
    /// The law that the agent is created with. Later the law in its journal counts.
    pub law: Law,
    /// Skills that it will have besides those that it comes with, by their ids.
    pub gets: Vec<String>,
    /// The shared spaces of memory that it looks into, besides its own.
    pub views: Vec<String>,
    /// The callers that see all that it remembers, where callers are kept apart ([`Parts::walls`]).
    pub readers: Vec<String>,
    /// The callers that may call it. None: all. Others see nothing of its memory through another agent's views.
    pub callers: Option<Vec<String>>,
    /// The model of this agent; None: the model of the server.
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
            callers: None,
            model: None,
        }
    }
}

/// All agents of a server, asleep and awake. Clones are the same agents.
///
/// An agent that sleeps costs a map entry: its id, a hash of what tells it from others, and its settings. The rest of it
/// is in the store. Mail wakes it: an actor is spawned, which reads the snapshot and the events after it, and runs until
/// it had nothing to do for a while. While one actor of an agent lies down another may be wanted already; the new one
/// waits until the old one has written its snapshot, so that there is never more than one actor of a state.
///
/// No two agents are the same: one that has the rules, skills, objectives and views of another is refused, unless it
/// remembers something of its own. An agent is told that time has passed when something is due for it (a timer, a question that
/// was not answered in time); it sleeps through the rest.
///
/// Closing puts all agents to sleep and waits until everything is committed. The task server must have ended its work
/// before, and the store must be open until after.
#[derive(Clone)]
pub struct Population(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) parts: Arc<Parts>,
    agents: Mutex<HashMap<String, Slot>>,
    /// A model that was chosen while the agents live, in place of that of the parts.
    chosen: Mutex<Option<Arc<dyn Model>>>,
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
    /// It has records of its own, so that it is not compared with agents of the same law and skills.
    pub(crate) distinct: bool,
    /// The part of its manifest that its law does not have.
    pub(crate) offer: Option<Offer>,
    model: Option<Arc<dyn Model>>,
    /// The views that it reads besides its own memory.
    views: Vec<String>,
    /// The callers that see all of its memory.
    readers: Vec<String>,
    /// The callers that may call it. None: all.
    callers: Option<Vec<String>>,
    awake: Option<Awake>,
    /// The identity of a plain agent of skills, which is born with its first question and has no law.
    plain: Option<Identity>,
    /// Time matters to it: something is not finished, or it does something by the clock.
    timed: bool,
    due: Arc<Due>,
}

impl Slot {
    /// An agent that is asleep and not compared with others.
    fn incomparable(print: Print) -> Self {
        Self {
            print,
            traits: None,
            distinct: false,
            offer: None,
            model: None,
            views: Vec::new(),
            readers: Vec::new(),
            callers: None,
            awake: None,
            plain: None,
            timed: false,
            due: Due::new(None),
        }
    }
}

impl Population {
    pub fn new(parts: Parts) -> Self {
        let parts = Arc::new(parts);
        Self(Arc::new(Inner {
            parts,
            agents: Mutex::default(),
            chosen: Mutex::default(),
            tasks: Tasks::default(),
            telling: TaskTracker::new(),
        }))
    }

    /// Says which task server the agents are behind. From now on they can begin tasks of their own and ask each other.
    /// `root` is the agent that the server calls without a tenant.
    pub fn serve(&self, server: &a2a::Server, root: &str) {
        self.0.tasks.serve(server, root);
    }

    /// Lets an agent in, with what it can do. One that was here before goes on with its journal, under its own law. One
    /// that is the same as another in everything that counts is refused, whether that one is awake or asleep.
    pub async fn admit(&self, profile: Profile, skills: &Registry) -> Result<AgentHandle, Error> {
        if !skill::is_label(&profile.id) {
            return Err(Error::Id(profile.id));
        }
        crate::law::meta::check(&profile.law)?;
        let store = self.0.parts.store.clone();
        let (mut journal, mut state) = Journal::open(store.clone(), &profile.id).await?;
        let born = journal.last() == 0;
        if !born {
            // Its axioms are shown to the model whole, or it does not start.
            crate::law::meta::check(state.law())?;
            if state.manifest.is_none() {
                state.manifest = journal::replay(&store, &profile.id).await?.0.manifest;
            }
        }
        let law = if born { &profile.law } else { state.law() };
        let offer = if born {
            None
        } else {
            Offer::of(&profile, &state)
        };
        let mut traits = Traits::of(&profile, skills);
        if !born {
            let goals = state.context().goals().iter().map(|it| it.text.clone());
            traits = traits.for_objectives(&goals.collect::<Vec<_>>());
        }
        if let Some(offer) = &offer {
            let places = offer.lines(&state).len();
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
            callers: profile.callers.clone(),
            awake: None,
            plain: None,
            timed: state.minds_time() || law.minds_time(),
            due: Due::new(state.due()),
        };
        let id = profile.id.clone();
        let mut slot = Some(slot);
        while let Some(twin) = self.0.enter(&id, &mut slot) {
            if !self.remembers(&id).await {
                let mode = id.clone();
                return Err(Error::Twin { id, twin, mode });
            }
            if let Some(slot) = &mut slot {
                slot.distinct = true;
            }
        }
        if let Err(error) = self.begin(profile, born, &mut journal, state).await {
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
        mut state: AgentState,
    ) -> Result<(), Error> {
        let id = profile.id.clone();
        let at = (self.0.parts.clock)();
        let identity = Identity {
            id: id.clone(),
            name: profile.name.clone(),
            description: profile.description.clone(),
        };
        let happened = match born {
            true => Some(birth(profile, at, &state)),
            false if *state.context().identity() != identity => {
                let what = EventKind::Described { identity };
                let event = Event { at, what };
                let step = state.step(&event);
                Some((event, step))
            }
            false => None,
        };
        if let Some((event, step)) = happened {
            step.changes.iter().for_each(|change| state.apply(change));
            journal.add(&event, &step.changes)?;
            journal.flush(&state).await?;
        }
        if let Some(slot) = self.0.lock().get(&id) {
            slot.due.set(state.due());
        }
        match &self.0.parts.memory {
            Some(memory) => keep_axioms(memory, &id, &state.law().frozen.axioms).await,
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
        // It is told apart by its skills, which are not compared.
        let print = Sha256::digest(format!("plain {id}")).into();
        let slot = Slot {
            plain: Some(identity),
            ..Slot::incomparable(print)
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

    /// Whether the store has a journal of an agent of this id, with which it goes on.
    pub async fn has_journal(&self, id: &str) -> bool {
        let journal = Journal::open(self.0.parts.store.clone(), id).await;
        journal.is_ok_and(|(journal, _)| journal.last() > 0)
    }

    /// The agent of this id, also one that has a journal here and was not let in again.
    pub async fn find(&self, id: &str) -> Result<AgentHandle, Error> {
        if let Ok(agent) = self.agent(id) {
            return Ok(agent);
        }
        if !skill::is_label(id) {
            return Err(Error::Unknown(id.to_owned()));
        }
        let (journal, state) = Journal::open(self.0.parts.store.clone(), id).await?;
        if journal.last() == 0 {
            return Err(Error::Unknown(id.to_owned()));
        }
        // It cannot be a twin: it is only looked at.
        let print = Sha256::digest(id.as_bytes()).into();
        let slot = Slot {
            timed: state.minds_time() || state.law().minds_time(),
            due: Due::new(state.due()),
            ..Slot::incomparable(print)
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

    /// From now on this model thinks for the agents that have none of their own; without one, that of the parts does again.
    /// What is being thought goes on with the one before.
    pub fn choose_model(&self, model: Option<Arc<dyn Model>>) {
        let mut chosen = self.0.chosen.lock().unwrap_or_else(PoisonError::into_inner);
        *chosen = model;
    }

    /// The name of the model that thinks for an agent; `rules` where none does.
    pub fn model_name(&self, id: &str) -> String {
        self.0.model(id).name().to_owned()
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
            self.reflect(&id).await;
        }
    }

    /// Has an agent reflect if that is due.
    async fn reflect(&self, id: &str) {
        let reflected = match self.agent(id) {
            Ok(agent) => agent.reflect_if_due().await,
            Err(error) => Err(error),
        };
        if let Err(error) = reflected {
            tracing::warn!(agent = id, %error, "reflecting on the journal failed");
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
            // A panic was reported by the runtime.
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
        let twin =
            twins.find(|(other, slot)| slot.print == new.print && *other != id && !new.distinct);
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

    /// The model of an agent.
    pub(crate) fn model(&self, id: &str) -> Arc<dyn Model> {
        let own = self.lock().get(id).and_then(|slot| slot.model.clone());
        let chosen = || {
            let chosen = self.chosen.lock().unwrap_or_else(PoisonError::into_inner);
            chosen.clone()
        };
        own.or_else(chosen)
            .unwrap_or_else(|| self.parts.model.clone())
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, HashMap<String, Slot>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The first event of a journal.
fn birth(profile: Profile, at: Millis, state: &AgentState) -> (Event, Step) {
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
    let step = state.step(&event);
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
