//! An agent that is made of skills: a manifest, what it can do, and the answerer behind what names no skill.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use a2a::server::{AfterRestart, Failure, Turn};
use a2a::types::{AgentCapabilities, AgentCard, Message, Role, Task};
use futures_core::future::BoxFuture;

use crate::context::Context;
use crate::desk::Desk;
use crate::error::{DefinitionError, SkillError};
use crate::extension;
use crate::fence::{Fence, Hook, Outcome};
use crate::grants::Grants;
use crate::manifest::Manifest;
use crate::registry::{Entry, Registry};
use crate::running::{self, Parked, Running};

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
    /// What is let go of when the agent stops.
    pub outside: Vec<Arc<dyn Outside>>,
    /// What sees every call pass.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// Who answers messages that name no skill. Without one a single skill takes them, or they are told what
    /// there is.
    pub answerer: Option<Arc<dyn a2a::server::Agent>>,
    /// Who answers them with what skills have to work with, instead of an answerer.
    pub mind: Option<Arc<dyn Mind>>,
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
            outside: Vec::new(),
            hooks: Vec::new(),
            answerer: None,
            mind: None,
            model: None,
            time: Duration::from_secs(600),
            max_waiting: 10_000,
        }
    }
}

/// What thinks for an agent: it answers messages that name no skill, and works with what a skill works with. It may
/// speak, ask, call every skill of the agent, and be begun again after a restart, in which case it is called with
/// the message that opened the task once more.
pub trait Mind: Send + Sync + 'static {
    /// Answers the message that opened a task. Dropping the future is cancelling.
    fn answer(&self, message: Message, ctx: Context) -> BoxFuture<'static, Outcome>;

    /// A task of its waits for an answer from now on, or goes on.
    fn waits(&self, task: &str, waits: bool) -> BoxFuture<'static, ()> {
        let _ = (task, waits);
        Box::pin(std::future::ready(()))
    }

    /// A task has ended, in whatever way.
    fn ended(&self, task: &str) {
        let _ = task;
    }
}

/// Something outside of the process that an agent holds on to, such as a program that was started.
pub trait Outside: Send + Sync + 'static {
    /// Lets go of it, in good order and in little time.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Why there is no agent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// Something about its skills.
    #[error(transparent)]
    Skill(#[from] DefinitionError),
    /// It could do nothing and answer nobody.
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

/// An agent. Clones are the same agent.
#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    manifest: Manifest,
    grants: Arc<Grants>,
    fence: Arc<Fence>,
    parked: Parked,
    outside: Vec<Arc<dyn Outside>>,
    answerer: Option<Arc<dyn a2a::server::Agent>>,
    mind: Option<Arc<dyn Mind>>,
    started: AtomicBool,
}

impl Agent {
    /// Makes an agent in one step. Whatever is wrong with it is found here, before anything is served.
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
        if skills.is_empty() && options.answerer.is_none() && options.mind.is_none() {
            return Err(CreateError::Empty(manifest.name));
        }
        let grants = Grants::new(skills, &options.hidden_tools, &manifest.grants)?
            .with_model(options.model, manifest.model_for.as_deref())?;
        let fence = Fence {
            hooks: options.hooks,
            time: options.time,
        };
        Ok(Self {
            inner: Arc::new(Inner {
                manifest,
                grants: Arc::new(grants),
                fence: Arc::new(fence),
                parked: Parked::new(options.max_waiting),
                outside: options.outside,
                answerer: options.answerer,
                mind: options.mind,
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
                extensions: vec![extension::declared()],
                ..AgentCapabilities::default()
            }),
            default_input_modes: input_modes,
            default_output_modes: output_modes,
            skills,
            ..AgentCard::default()
        }
    }

    /// Whoever serves it says so first, and says so once.
    pub fn claim(&self) -> Result<(), AlreadyStarted> {
        match self.inner.started.swap(true, Ordering::AcqRel) {
            true => Err(AlreadyStarted(self.inner.manifest.name.clone())),
            false => Ok(()),
        }
    }

    /// Lets go of what it holds outside of the process. Whoever served it says so last.
    pub async fn close(&self) {
        let closing = self.inner.outside.iter().map(|it| it.close());
        futures_util::future::join_all(closing).await;
    }
}

impl a2a::server::Agent for Agent {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        let inner = self.inner.clone();
        Box::pin(async move { inner.answer(turn).await })
    }

    fn after_restart(&self, task: &Task) -> AfterRestart {
        let first = first_of(task);
        match (
            first.map(|message| self.inner.choose(message)),
            &self.inner.answerer,
        ) {
            (Some(Choice::Skill(entry)), _) if entry.checked.definition.traits.replayable => {
                AfterRestart::Resume
            }
            (Some(Choice::Mind(_)), _) => AfterRestart::Resume,
            (Some(Choice::Nobody), Some(answerer)) => answerer.after_restart(task),
            _ => AfterRestart::Fail,
        }
    }

    fn label(&self, message: &Message) -> Option<String> {
        match self.inner.choose(message) {
            Choice::Skill(entry) => Some(entry.checked.definition.id.clone()),
            _ => None,
        }
    }

    fn ended(&self, task: &str) {
        if let Some(running) = self.inner.parked.take(task) {
            running.desk.end();
        }
        if let Some(answerer) = &self.inner.answerer {
            answerer.ended(task);
        }
        if let Some(mind) = &self.inner.mind {
            mind.ended(task);
        }
    }
}

/// Whom a message is for.
enum Choice<'a> {
    Skill(&'a Arc<Entry>),
    Mind(&'a Arc<dyn Mind>),
    /// It names a skill that is not there.
    Unknown(&'a str),
    Nobody,
}

/// How long a mind may take. What it calls has its own limits; it may be told to pause, and others may come first.
const MIND_TIME: Duration = Duration::from_secs(30 * 24 * 3600);

/// What the answer of a mind is called.
const MIND: &str = "answer";

/// What does the work of a task.
enum Work {
    Skill(Arc<Entry>),
    Mind(Arc<dyn Mind>),
}

impl Inner {
    fn choose<'a>(&'a self, message: &'a Message) -> Choice<'a> {
        if let Some(id) = extension::skill(message) {
            return match self.grants.offered().entry(id) {
                Some(entry) => Choice::Skill(entry),
                None => Choice::Unknown(id),
            };
        }
        if let Some(mind) = &self.mind {
            return Choice::Mind(mind);
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
        // The message that opened a task says whom all of it is for.
        let opened = turn.task().and_then(first_of).cloned();
        let first = opened.as_ref().unwrap_or_else(|| turn.message());
        match (self.choose(first), &self.answerer) {
            (Choice::Skill(entry), _) => {
                let work = Work::Skill(entry.clone());
                self.work(turn.clone(), work, first).await
            }
            (Choice::Mind(mind), _) => {
                self.work(turn.clone(), Work::Mind(mind.clone()), first)
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

    async fn work(&self, turn: Turn, work: Work, first: &Message) -> Result<(), Failure> {
        let Some(task) = turn.task() else {
            let desk = Desk::new(turn.clone(), Default::default());
            let running = self.begin(&turn, work, first, desk)?;
            return running.drive(turn, None, &self.parked).await;
        };
        let message = turn.message().clone();
        if let Some(running) = self.parked.take(&task.id) {
            running.desk.sit(turn.clone());
            if let Some(mind) = &running.mind {
                mind.waits(&task.id, false).await;
            }
            if turn.is_resumed() {
                running.desk.withdraw();
                return running.drive(turn, None, &self.parked).await;
            }
            return running.drive(turn, Some(message), &self.parked).await;
        }
        // The process that worked on it has ended. What had not begun can be begun.
        let mut asked = task.history.iter().rev().filter_map(extension::asked_in);
        let early = asked.next().is_some_and(|it| it.early);
        if let Work::Skill(entry) = &work
            && !entry.checked.definition.traits.replayable
            && !early
        {
            let error = SkillError::NotReplayable(entry.checked.definition.id.clone());
            return running::fail(&turn, &error).await;
        }
        let kept = turn.notes().await;
        let kept = kept.map_err(|error| Failure::new(error.to_string()))?;
        let desk = Desk::new(turn.clone(), kept);
        // A message that was taken as an answer before is not one to the next question.
        let answer = (message.message_id != first.message_id && !desk.took(&message.message_id))
            .then_some(message);
        let running = self.begin(&turn, work, first, desk)?;
        running.drive(turn, answer, &self.parked).await
    }

    /// The skill or the mind, called with what the first message of its task says.
    fn begin(
        &self,
        turn: &Turn,
        work: Work,
        first: &Message,
        desk: Desk,
    ) -> Result<Running, Failure> {
        let (id, limit) = match &work {
            Work::Skill(entry) => {
                let id = entry.checked.definition.id.clone();
                (id, self.fence.limit(entry))
            }
            Work::Mind(_) => (MIND.to_owned(), MIND_TIME),
        };
        let skill = match &work {
            Work::Skill(_) => id.as_str().into(),
            // It is no skill, and may call every one.
            Work::Mind(_) => "".into(),
        };
        tracing::debug!(skill = id, task = turn.task_id(), caller = %turn.caller(), "work is begun");
        let desk = Arc::new(desk);
        let mind = match &work {
            Work::Skill(_) => None,
            Work::Mind(mind) => Some(mind.clone()),
        };
        let ctx = Context {
            desk: desk.clone(),
            fence: self.fence.clone(),
            grants: self.grants.clone(),
            skill,
            depth: 0,
            scope: "".into(),
            early: false,
        };
        let work: BoxFuture<'static, Outcome> = match work {
            Work::Skill(entry) => {
                let input = entry.checked.definition.input_of(&first.parts);
                let input = input.map_err(|fault| Failure::refusal(running::invalid(&[fault])))?;
                Box::pin(self.fence.clone().call(entry, input, ctx))
            }
            Work::Mind(mind) => {
                // A message that opens a task bears no ids yet; its turn has them.
                let mut message = first.clone();
                message.task_id = turn.task_id().to_owned();
                message.context_id = turn.context_id().to_owned();
                mind.answer(message, ctx)
            }
        };
        Ok(Running {
            work,
            id,
            desk,
            left: limit,
            limit,
            parked: None,
            mind,
        })
    }

    /// What one can ask for, for somebody who asked for nothing that is there.
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

/// The first id that is there a second time.
fn twice(ids: &[String]) -> Option<&str> {
    let mut seen = HashSet::new();
    ids.iter().map(String::as_str).find(|id| !seen.insert(*id))
}

/// What is said of an agent that says nothing of itself: a card without a description is none to many readers.
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
