//! An agent that is made of skills: a manifest, what it can do, and the answerer behind what names no skill.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use a2a::server::{AfterRestart, Failure, Turn};
use a2a::types::{AgentCapabilities, AgentCard, Message, Role, Task, TaskId};
use access::Principal;
use futures_core::future::BoxFuture;

use crate::manifest::Manifest;
use skill::{Context, DefinitionError, Entry, Grants, Outcome, Registry, SkillError, extension};

use crate::answer;
use crate::call::{self, CallState, Fence, Hook, Parked, Running};
use crate::handle::AgentHandle;
use crate::mode::{self, ChosenMode};
use crate::population::{Parts, Population};
use crate::turn;
use crate::waiting;

/// What an agent is given when it is made, besides what its manifest says.
#[derive(Clone)]
#[non_exhaustive]
pub struct Options {
    /// The skills there are. The manifest may narrow them.
    pub skills: Registry,
    /// Tools of others that callers are offered beside skills. The manifest does not narrow them: it says
    /// already which servers they are of.
    pub tools: Registry,
    /// Tools of others that only the agent's own skills can call.
    pub hidden_tools: Registry,
    /// Called when the agent is closed: ends what was started for it, such as servers of tools.
    pub on_close: Vec<OnClose>,
    /// What sees every call pass.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// Who answers messages that name no skill. Without one a single skill takes them, or they are told what
    /// there is.
    pub answerer: Option<Arc<dyn a2a::server::Agent>>,
    /// The agent whose law governs every call, and which thinks about messages that name no skill, instead of an
    /// answerer.
    pub handle: Option<AgentHandle>,
    /// The language model that skills may use, unless the manifest grants it to some only.
    pub model: Option<Arc<dyn model::Model>>,
    /// How long a skill may take that does not say so itself.
    pub time: Duration,
    /// How many skills may wait for answers at a time.
    pub max_waiting: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            skills: Registry::new(),
            tools: Registry::new(),
            hidden_tools: Registry::new(),
            on_close: Vec::new(),
            hooks: Vec::new(),
            answerer: None,
            handle: None,
            model: None,
            time: Duration::from_secs(600),
            max_waiting: 10_000,
        }
    }
}

/// Ends something that was started for an agent, in good order and in little time.
pub type OnClose = Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

/// Why there is no agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// Something about its skills.
    #[error(transparent)]
    Skill(#[from] DefinitionError),
    /// It has neither a skill nor an answerer.
    #[error("agent {0:?} has neither a skill nor an answerer")]
    Empty(String),
    /// Its manifest has a skill twice.
    #[error("the manifest names skill {0:?} twice")]
    Twice(String),
    /// Its name says nothing.
    #[error("an agent needs a name")]
    Nameless,
}

/// An agent that was started cannot be started again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("agent {0:?} is started already")]
pub struct AlreadyStarted(pub String);

/// An agent as a task server calls it: its manifest, its skills, and how calls of them are run. Clones are the same agent.
///
/// A message that names a skill is a call of it. Any other message is thought about if the agent thinks, is a call of the
/// only skill if there is one skill and no answerer, and else goes to the answerer. A call passes the fence
/// (`call/fence.rs`), and one that asks is kept (`call/running.rs`) until its answer comes. The state of the agent (journal, law,
/// approvals) is not here but behind the [`AgentHandle`]; a plain agent gets one when it joins a population, or when it is
/// first called.
///
/// Everything is decided in [`create`](Self::create): which skills it has, what each was granted, which hooks see calls. A server
/// first claims the agent, so that it is not served twice with two journals of one name, and closes it last, after the task
/// server has ended its tasks, because a skill that is being dropped may still use what `on_close` ends.
#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    manifest: Manifest,
    grants: Arc<Grants>,
    fence: Arc<Fence>,
    parked: Parked,
    on_close: Vec<OnClose>,
    answerer: Option<Arc<dyn a2a::server::Agent>>,
    /// The agent that has the journal. A plain one gets it from [`Agent::join`], else when it is first called.
    handle: OnceLock<AgentHandle>,
    thinks: bool,
    started: AtomicBool,
}

impl Agent {
    /// Makes an agent in one step. Every fault of its definition is found here, before anything is served.
    pub fn create(manifest: Manifest, options: Options) -> Result<Self, CreateError> {
        if manifest.name.trim().is_empty() {
            return Err(CreateError::Nameless);
        }
        if let Some(id) = twice(manifest.skills.as_deref().unwrap_or_default()) {
            return Err(CreateError::Twice(id.to_owned()));
        }
        let skills = match &manifest.skills {
            Some(ids) => options.skills.narrow(ids.iter().map(String::as_str))?,
            None => options.skills,
        };
        let skills = skills.merge(&options.tools)?;
        if skills.is_empty() && options.answerer.is_none() && options.handle.is_none() {
            return Err(CreateError::Empty(manifest.name));
        }
        let grants = Grants::new(skills, &options.hidden_tools, &manifest.grants)?
            .with_model(options.model, manifest.model_for.as_deref())?;
        let thinks = options.handle.as_ref().is_some_and(AgentHandle::thinks);
        let fence = Fence {
            hooks: options.hooks,
            governed: thinks,
            unasked: manifest.unasked.iter().cloned().collect(),
            needs: manifest.permissions.clone(),
            time: options.time,
        };
        Ok(Self {
            inner: Arc::new(Inner {
                manifest,
                grants: Arc::new(grants),
                fence: Arc::new(fence),
                parked: Parked::new(options.max_waiting),
                on_close: options.on_close,
                answerer: options.answerer,
                handle: options.handle.map(OnceLock::from).unwrap_or_default(),
                thinks,
                started: AtomicBool::new(false),
            }),
        })
    }

    /// What it says of itself in its manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.inner.manifest
    }

    /// What it can do.
    pub fn skills(&self) -> &Registry {
        self.inner.grants.offered()
    }

    /// The language model it was given, whichever of its skills may use it.
    pub fn model(&self) -> Option<&Arc<dyn model::Model>> {
        self.inner.grants.any_model()
    }

    /// What it says of itself to other agents; where it is reached is for the server to add.
    pub fn card(&self) -> AgentCard {
        let Manifest {
            name,
            description,
            version,
            ..
        } = &self.inner.manifest;
        let skills: Vec<_> = self.skills().iter().map(|it| it.card()).collect();
        let description = match description.trim() {
            "" => described(name, skills.iter().map(|skill| &*skill.name)),
            given => given.to_owned(),
        };
        let mut input_modes = vec!["text/plain".to_owned(), "application/json".to_owned()];
        let mut output_modes = input_modes.clone();
        for skill in &skills {
            for (modes, known) in [
                (&skill.input_modes, &mut input_modes),
                (&skill.output_modes, &mut output_modes),
            ] {
                let new = modes.iter().filter(|mode| !known.contains(mode));
                let new: Vec<_> = new.cloned().collect();
                known.extend(new);
            }
        }
        AgentCard {
            name: name.clone(),
            description,
            version: version.clone(),
            capabilities: Some(AgentCapabilities {
                streaming: Some(true),
                push_notifications: Some(true),
                extensions: std::iter::once(extension::declared())
                    .chain(mode::declared(&self.inner.manifest))
                    .collect(),
                ..AgentCapabilities::default()
            }),
            default_input_modes: input_modes,
            default_output_modes: output_modes,
            skills,
            ..AgentCard::default()
        }
    }

    /// Makes a plain agent one of a population, so that its questions and approvals are in the same place as those of the
    /// other agents of a server, and lapse by the same clock. Its journal is `id`, by default its name as a label. An
    /// agent that has a handle already stays where it is.
    pub fn join(&self, population: &Population, id: Option<&str>) {
        self.inner.handle.get_or_init(|| {
            let name = &self.inner.manifest.name;
            let id = id.map_or_else(|| id_of(name), str::to_owned);
            population.plain(&id, name)
        });
    }

    /// The agent that has the journal. A plain one that has not joined a population has none before its first call.
    pub fn handle(&self) -> Option<&AgentHandle> {
        self.inner.handle.get()
    }

    /// Marks the agent as served. A server calls this first; a second call fails.
    pub fn claim(&self) -> Result<(), AlreadyStarted> {
        match self.inner.started.swap(true, Ordering::AcqRel) {
            true => Err(AlreadyStarted(self.inner.manifest.name.clone())),
            false => Ok(()),
        }
    }

    /// Ends what was started for it. The server that served it calls this last.
    pub async fn close(&self) {
        // The population of a thinking agent is closed by its owner; an agent that sleeps must not be woken by this.
        let plain = self.inner.handle.get().filter(|_| !self.inner.thinks);
        if let Some(agent) = plain.filter(|it| it.population.0.is_awake(&it.id)) {
            drop(agent.sleep().await);
        }
        let closing = self.inner.on_close.iter().map(|close| close());
        futures_util::future::join_all(closing).await;
    }
}

impl a2a::server::Agent for Agent {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        let inner = self.inner.clone();
        Box::pin(async move { inner.answer(turn).await })
    }

    fn continues(
        &self,
        caller: &Principal,
        message: &Message,
    ) -> BoxFuture<'static, Option<TaskId>> {
        let answers = extension::skill(message).is_none() && answer::is_answer(&message.text());
        let agent = self.inner.handle.get().filter(|_| answers).cloned();
        let (caller, conversation) = (caller.to_string(), message.context_id.clone());
        Box::pin(async move {
            let waiting = agent?.waiting_in(caller, conversation).await;
            let asked = waiting::answered_by_next(&waiting);
            asked.map(|it| TaskId::from(it.task.as_str()))
        })
    }

    fn after_restart(&self, task: &Task) -> AfterRestart {
        let first = first_of(task);
        match (
            first.map(|message| self.inner.choose(message)),
            &self.inner.answerer,
        ) {
            (Some(Choice::Skill(entry)), _) if entry.definition().traits.replayable => {
                AfterRestart::Resume
            }
            (Some(Choice::Think(_)), _) => AfterRestart::Resume,
            (Some(Choice::Nobody), Some(answerer)) => answerer.after_restart(task),
            _ => AfterRestart::Fail,
        }
    }

    fn label(&self, message: &Message) -> Option<String> {
        match self.inner.choose(message) {
            Choice::Skill(entry) => Some(entry.definition().id.clone()),
            _ => None,
        }
    }

    fn ended(&self, task: &TaskId) {
        if let Some(running) = self.inner.parked.take(task) {
            running.state.end();
        }
        if let Some(answerer) = &self.inner.answerer {
            answerer.ended(task);
        }
        if let Some(agent) = self.inner.handle.get() {
            agent.task_ended(task);
        }
    }
}

/// The part of an agent that answers a message.
enum Choice<'a> {
    Skill(&'a Arc<Entry>),
    Think(&'a AgentHandle),
    /// It names a skill that is not there.
    Unknown(&'a str),
    Nobody,
}

/// How long the agent may think about a message. What it calls has limits of its own; it may be paused, and other
/// requests may come first.
const THINKING_TIME: Duration = Duration::from_secs(30 * 24 * 3600);

/// The name of the artifact that holds the agent's own answer.
pub(crate) const ANSWER: &str = "answer";

/// What does the work of a task.
enum Work {
    Skill(Arc<Entry>),
    Think(AgentHandle, Option<ChosenMode>),
}

impl Inner {
    fn choose<'a>(&'a self, message: &'a Message) -> Choice<'a> {
        if let Some(id) = extension::skill(message) {
            return match self.grants.offered().entry(id) {
                Some(entry) => Choice::Skill(entry),
                None => Choice::Unknown(id),
            };
        }
        if let Some(agent) = self.handle.get().filter(|_| self.thinks) {
            return Choice::Think(agent);
        }
        let mut skills = self.grants.offered().iter();
        match (&self.answerer, skills.next(), skills.next()) {
            (None, Some(only), None) => self
                .grants
                .offered()
                .entry(&only.id)
                .map_or(Choice::Nobody, Choice::Skill),
            _ => Choice::Nobody,
        }
    }

    async fn answer(&self, turn: Turn) -> Result<(), Failure> {
        // The message that opened a task decides which part answers all of its messages.
        let opened = turn.task().and_then(first_of).cloned();
        let first = opened.as_ref().unwrap_or_else(|| turn.message());
        let mode = mode::chosen(&self.manifest, first).map_err(Failure::refusal)?;
        if let Some(told) = self.unclear_answer(&turn).await {
            return Ok(turn.reject(told).await?);
        }
        match (self.choose(first), &self.answerer) {
            (Choice::Skill(entry), _) => {
                let id = &entry.definition().id;
                if let Some(mode) = mode.filter(|it| !it.uses(id)) {
                    let why = format!("the mode {:?} does not use the skill {id:?}", mode.name);
                    let error = a2a::Error::invalid_field(mode::MODE, why);
                    return Err(Failure::refusal(error));
                }
                let work = Work::Skill(entry.clone());
                self.work(turn.clone(), work, first).await
            }
            (Choice::Think(agent), _) => {
                self.work(turn.clone(), Work::Think(agent.clone(), mode), first)
                    .await
            }
            (Choice::Unknown(id), _) => {
                let unknown = SkillError::Unknown(id.to_owned()).to_string();
                let field = format!("message.metadata.{}", extension::SKILL);
                Err(Failure::refusal(a2a::Error::invalid_field(&field, unknown)))
            }
            (Choice::Nobody, Some(answerer)) => answerer.answer(turn.clone()).await,
            (Choice::Nobody, None) => Ok(turn.reply(turn.say(self.help())).await?),
        }
    }

    /// The reply to a message that could answer each of several questions, if it names no task.
    async fn unclear_answer(&self, turn: &Turn) -> Option<String> {
        let message = turn.message();
        let is_free = turn.task().is_none() && extension::skill(message).is_none();
        let agent = self.handle.get().filter(|_| is_free)?;
        let caller = turn.caller().to_string();
        let conversation = turn.context_id().to_string();
        let text = message.text();
        agent.unclear_answer(&caller, &conversation, &text).await
    }

    async fn work(&self, turn: Turn, work: Work, first: &Message) -> Result<(), Failure> {
        let Some(task) = turn.task() else {
            let agent = self.agent(&turn).clone();
            let state = CallState::new(turn.clone(), self.fence.clone(), agent);
            let running = self.begin(&turn, work, first, state)?;
            return running.drive(turn, None, &self.parked).await;
        };
        let message = turn.message().clone();
        if let Some(running) = self.parked.take(&task.id) {
            running.state.continue_in(turn.clone());
            if turn.is_resumed() {
                running.state.withdraw();
                return running.drive(turn, None, &self.parked).await;
            }
            return running.drive(turn, Some(message), &self.parked).await;
        }
        // The process that worked on it has ended. What had not begun can be begun.
        let mut asked = task.history.iter().rev().filter_map(extension::asked_in);
        let early = asked.next().is_some_and(|it| it.early);
        if let Work::Skill(entry) = &work
            && !entry.definition().traits.replayable
            && !early
        {
            let error = SkillError::NotReplayable(entry.definition().id.clone());
            return call::fail(&turn, &error).await;
        }
        let kept = turn.notes().await;
        let kept = kept.map_err(|error| Failure::new(error.to_string()))?;
        let agent = self.agent(&turn).clone();
        let recorded = agent.questions(&task.id).await;
        let recorded = recorded.map_err(|error| Failure::new(error.to_string()))?;
        let state = CallState::again(turn.clone(), kept, recorded, self.fence.clone(), agent);
        // A message that was taken as an answer before is not one to the next question, and neither is the one that opened
        // the task. Clients may use an id twice, so messages that bear it are counted.
        let bears = |it: &&Message| it.role == Role::User && it.message_id == message.message_id;
        let used = usize::from(first.message_id == message.message_id)
            + state.times_taken(&message.message_id);
        let answer = (task.history.iter().filter(bears).count() > used).then_some(message);
        let running = self.begin(&turn, work, first, state)?;
        running.drive(turn, answer, &self.parked).await
    }

    /// The skill or the agent itself, called with what the first message of its task says.
    fn begin(
        &self,
        turn: &Turn,
        work: Work,
        first: &Message,
        state: CallState,
    ) -> Result<Running, Failure> {
        let (id, limit) = match &work {
            Work::Skill(entry) => {
                let id = entry.definition().id.clone();
                (id, self.fence.limit(entry))
            }
            Work::Think(..) => (ANSWER.to_owned(), THINKING_TIME),
        };
        let skill = match &work {
            Work::Skill(_) => id.as_str(),
            // The agent itself was granted every skill.
            Work::Think(..) => "",
        };
        tracing::debug!(skill = id, task = %turn.task_id(), caller = %turn.caller(), "call of a skill started");
        let (task, conversation) = (turn.task_id(), turn.context_id());
        let call = Arc::new(state.clone());
        let ctx = Context::new(call, self.grants.clone(), task, conversation, skill);
        let work: BoxFuture<'static, Outcome> = match work {
            Work::Skill(entry) => {
                let input = entry.definition().input_of(&first.parts);
                let input = input.map_err(|fault| Failure::refusal(call::invalid(&[fault])))?;
                Box::pin(self.fence.clone().call(entry, input, ctx, state.clone()))
            }
            Work::Think(agent, mode) => {
                // A message that opens a task bears no ids yet; its turn has them.
                let mut message = first.clone();
                task.as_str().clone_into(&mut message.task_id);
                conversation.as_str().clone_into(&mut message.context_id);
                let state = state.clone();
                Box::pin(async move { turn::run(&agent, &message, mode, &ctx, &state).await })
            }
        };
        Ok(Running {
            work,
            id,
            state,
            left: limit,
            limit,
            parked: None,
        })
    }

    /// The agent that has the journal. A plain one keeps it in the store of the server that calls it.
    fn agent(&self, turn: &Turn) -> &AgentHandle {
        self.handle.get_or_init(|| {
            let name = &self.manifest.name;
            let population = Population::new(Parts::new(turn.store().clone()));
            population.plain(&id_of(name), name)
        })
    }

    /// The list of skills, as the answer to a message that names none.
    fn help(&self) -> String {
        let mut help = String::from("Name one of my skills:");
        for skill in self.grants.offered().iter() {
            help.push_str("\n- ");
            help.push_str(&skill.id);
            help.push_str(": ");
            help.push_str(&skill.description);
        }
        help
    }
}

/// The id of an agent that was given none: its name as a label.
fn id_of(name: &str) -> String {
    let mut label = skill::to_label(name);
    label.truncate(skill::MAX_LABEL);
    match label.trim_matches('-') {
        "" => "agent".to_owned(),
        label => label.to_owned(),
    }
}

/// The first id that is there a second time.
fn twice(ids: &[String]) -> Option<&str> {
    let mut seen = HashSet::new();
    ids.iter().map(String::as_str).find(|id| !seen.insert(*id))
}

/// The description of an agent whose manifest has none: many clients refuse a card without a description.
fn described<'a>(name: &str, skills: impl Iterator<Item = &'a str>) -> String {
    let skills: Vec<&str> = skills.collect();
    match &skills[..] {
        [] => format!("{name} answers messages."),
        skills => format!("{name} can do this: {}.", skills.join(", ")),
    }
}

/// The message that opened a task.
fn first_of(task: &Task) -> Option<&Message> {
    task.history
        .iter()
        .find(|message| message.role == Role::User)
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("name", &self.inner.manifest.name)
            .field("skills", &self.skills().len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("skills", &self.skills)
            .finish_non_exhaustive()
    }
}
