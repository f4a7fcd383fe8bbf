//! The agents of a server with what they have in common: one memory, one population and one clock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent::{Agent, Law, Parts, Population, Profile};
use memory::{Keep, Lasting, Memory, Reason};
use model::Model;
use skill::Registry;
use store::Store;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::task::AbortOnDropHandle;

use crate::app::{App, Plan};
use crate::config::Config;
use crate::error::Error;
use crate::serve::agents::{Agents, DEFAULT_AGENT};
use crate::serve::compose::{files, memory};

/// How often agents learn that time has passed.
const TICK: Duration = Duration::from_secs(5);

/// The skills that an agent with memory and a law gets besides those of its app.
const OWN_SKILLS: [&str; 3] = ["remember", "recall", "ask-agent"];

/// The agents to serve: an app, which makes them from the configuration at the start, or agents that exist already.
#[derive(Debug)]
#[non_exhaustive]
pub enum AgentSource {
    App(Box<App>),
    Made(Agents),
}

impl From<App> for AgentSource {
    fn from(app: App) -> Self {
        Self::App(Box::new(app))
    }
}

impl From<Agents> for AgentSource {
    fn from(agents: Agents) -> Self {
        Self::Made(agents)
    }
}

impl From<Agent> for AgentSource {
    fn from(agent: Agent) -> Self {
        Self::Made(agent.into())
    }
}

impl AgentSource {
    fn plan(self, config: &Config, extent: Extent) -> Result<Planned, Error> {
        let app = match self {
            Self::Made(agents) => return Ok(Planned::Made(agents)),
            Self::App(app) => app,
        };
        let lives = app.lives();
        let mut plans = app.plans(config)?;
        if extent == Extent::First {
            plans.truncate(1);
        }
        Ok(match lives {
            true => Planned::Governed(plans),
            false => Planned::Plain(plans),
        })
    }
}

/// The agents to serve, by what is left to do for them.
enum Planned {
    Made(Agents),
    /// Agents of skills, with an empty law.
    Plain(Vec<Plan>),
    /// Agents with memory and a law.
    Governed(Vec<Plan>),
}

impl Planned {
    /// The language model of the first agent that has one.
    fn model(&self) -> Option<Arc<dyn Model>> {
        match self {
            Self::Made(agents) => agents.first().model().cloned(),
            Self::Plain(plans) | Self::Governed(plans) => {
                plans.iter().find_map(|plan| plan.options.model.clone())
            }
        }
    }
}

/// How many agents of an app are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All, and those with a law can ask each other.
    All,
    /// Only the one at the root: standard input and output reach no other.
    First,
}

/// The agents of a server, and what they have in common.
///
/// Every server has one host, and every agent of it is in the host's population: one with a law is admitted under its
/// id and thinks; a plain agent of skills joins with an empty law and does not. So questions, approvals and their time
/// limits are kept in one place for both.
///
/// The memory is opened before the agents are made, because they write their axioms into it. Agents are admitted one
/// after another, since each is compared with those before it. The clock starts last: an agent must not begin
/// something before all others exist.
///
/// [`AgentHost::close`] stops the clock, puts the agents to sleep, disconnects their tool servers and closes the
/// memory, in this order: agents write to the memory until they sleep. The store must be open until after it.
#[derive(Debug)]
pub(crate) struct AgentHost {
    agents: Agents,
    memory: Memory,
    population: Population,
    /// Ends with the host, also if the server does not start.
    ticking: AbortOnDropHandle<()>,
}

impl AgentHost {
    pub(crate) async fn start(
        config: &Config,
        store: &Store,
        source: AgentSource,
        extent: Extent,
    ) -> Result<Self, Error> {
        let planned = source.plan(config, extent)?;
        let model = planned.model();
        let reader = model.clone().filter(|_| config.models.reads_memory);
        let memory = memory(config, store.clone(), reader)?;
        let mut parts = Parts::new(store.clone()).memory(memory.clone());
        if let Some(model) = model {
            parts = parts.model(model);
        }
        let population = Population::new(parts);
        let agents = match planned {
            Planned::Made(agents) => agents,
            Planned::Plain(plans) => make_all(plans, Plan::make).await?,
            Planned::Governed(plans) => {
                let admission = Admission {
                    ids: plans.iter().map(|plan| id_of(plan).to_owned()).collect(),
                    population: &population,
                    memory: &memory,
                    files: files(config)?,
                    extent,
                };
                make_all(plans, async |plan| admission.admit(plan).await).await?
            }
        };
        agents.claim()?;
        agents.join(&population);
        let ticking = AbortOnDropHandle::new(tokio::spawn(tick(population.clone())));
        Ok(Self {
            agents,
            memory,
            population,
            ticking,
        })
    }

    pub(crate) fn agents(&self) -> &Agents {
        &self.agents
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn population(&self) -> &Population {
        &self.population
    }

    /// From now on agents can begin tasks of their own.
    pub(crate) fn serve(&self, tasks: &a2a::Server) {
        let root = self.agents.first().handle().map(agent::AgentHandle::id);
        self.population.serve(tasks, root.unwrap_or(DEFAULT_AGENT));
    }

    /// The task server must have halted before.
    pub(crate) async fn close(&self) {
        self.ticking.abort();
        self.population.close().await;
        self.agents.close().await;
        self.memory.close().await;
    }
}

/// Makes the planned agents in their order, the first one for the root.
async fn make_all(
    plans: Vec<Plan>,
    make: impl AsyncFn(Plan) -> Result<Agent, Error>,
) -> Result<Agents, Error> {
    let mut agents: Option<Agents> = None;
    for plan in plans {
        let id = plan.id.clone();
        let agent = make(plan).await?;
        agents = Some(match (agents, id) {
            (Some(agents), Some(id)) => agents.with(&id, agent)?,
            _ => agent.into(),
        });
    }
    Ok(agents.expect("an app has an agent at the root"))
}

/// Admits agents with memory, a law, files and each other.
struct Admission<'a> {
    population: &'a Population,
    memory: &'a Memory,
    /// The skills for files.
    files: Registry,
    /// The ids of all agents that are admitted.
    ids: Vec<String>,
    extent: Extent,
}

impl Admission<'_> {
    async fn admit(&self, plan: Plan) -> Result<Agent, Error> {
        let id = id_of(&plan).to_owned();
        let profile = profile(&id, &plan)?;
        let axioms = profile.law.frozen.axioms.clone();
        let mut plan = plan.with_tools().await?;
        let skills = plan.options.skills.merge(&self.files)?;
        let narrowed = match &plan.manifest.skills {
            Some(ids) => {
                let known = ids.iter().map(String::as_str);
                skills.narrow(known.filter(|id| skills.get(id).is_some()))?
            }
            None => skills.clone(),
        };
        let handle = self.population.admit(profile, &narrowed).await?;
        plan.options.skills = skills.merge(&handle.skills())?;
        if self.extent == Extent::All {
            let others = self.ids.iter().filter(|it| **it != id).cloned().collect();
            let asking = agent::ask_agent(&handle, others);
            plan.options.skills = plan.options.skills.merge(&asking)?;
        }
        plan.options.handle = Some(handle);
        self.keep_axioms(&id, &axioms).await?;
        plan.create()
    }

    /// Writes axioms into the memory of an agent, where it can read and not change them.
    async fn keep_axioms(&self, id: &str, axioms: &[String]) -> Result<(), Error> {
        let space = self.memory.space(id)?.governed(self.memory);
        for axiom in axioms {
            let why = "its manifest says so";
            let reason = Reason::new("manifest:axioms", 1.0, "what always holds", why)
                .expect("all of it is there");
            let keep = Keep {
                layer: Lasting::Axiom,
                ..Keep::belief(axiom, reason)
            };
            space.keep(keep).await?;
        }
        Ok(())
    }
}

/// What the population is told of an agent, from its manifest.
fn profile(id: &str, plan: &Plan) -> Result<Profile, Error> {
    let manifest = &plan.manifest;
    let mut profile = Profile::new(id, manifest.name.clone());
    profile.description.clone_from(&manifest.description);
    profile.objectives.clone_from(&manifest.objectives);
    profile.views.clone_from(&manifest.views);
    profile.law = law(plan)?;
    let axioms = manifest.axioms.iter().cloned();
    profile.law.frozen.axioms.extend(axioms);
    let gets = |id: &&str| match &manifest.skills {
        Some(ids) => ids.iter().any(|it| it == id),
        None => true,
    };
    let gets = OWN_SKILLS.into_iter().filter(gets);
    profile.gets = gets.map(str::to_owned).collect();
    Ok(profile)
}

/// The law that an agent starts with: that of the file which its manifest names, beside the manifest.
fn law(plan: &Plan) -> Result<Law, Error> {
    let Some(file) = &plan.manifest.law else {
        return Ok(Law::default());
    };
    let folder = plan.place.parent().unwrap_or_else(|| Path::new(""));
    let path: PathBuf = folder.join(file);
    let unread = |problem: String| Error::Manifest {
        path: path.clone(),
        problem,
    };
    let text = std::fs::read_to_string(&path).map_err(|error| unread(error.to_string()))?;
    Law::parse(&text).map_err(|error| unread(error.to_string()))
}

async fn tick(population: Population) {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        population.tick().await;
    }
}

fn id_of(plan: &Plan) -> &str {
    plan.id.as_deref().unwrap_or(DEFAULT_AGENT)
}
