//! Agents with memory, a law, files and each other: one population for a server.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agent::{Agent, Law, Parts, Population, Profile};
use memory::{Keep, Lasting, Memory, Reason};
use model::Model;
use skill::Registry;
use store::Store;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::app::Plan;
use crate::error::Error;
use crate::serve::agents::Agents;
use crate::serve::agents::DEFAULT_AGENT;

/// How often agents learn that time has passed.
const TICK: Duration = Duration::from_secs(5);

/// The agents of a server that have memory and a law.
pub(crate) struct AgentHost {
    population: Population,
    memory: Memory,
    /// What they can do with files.
    files: Registry,
    /// The agents can ask each other.
    together: bool,
    ticking: JoinHandle<()>,
}

impl AgentHost {
    /// Without agents. `together`: they are all served, and can ask each other.
    pub(crate) fn begin(
        store: Store,
        memory: Memory,
        model: Option<Arc<dyn Model>>,
        files: Registry,
        together: bool,
    ) -> Self {
        let mut parts = Parts::new(store).memory(memory.clone());
        if let Some(model) = model {
            parts = parts.model(model);
        }
        let population = Population::new(parts);
        let ticking = tokio::spawn(tick(population.clone()));
        Self {
            population,
            memory,
            files,
            together,
            ticking,
        }
    }

    /// Admits the planned agents, the first one at the root.
    pub(crate) async fn raise(&self, plans: Vec<Plan>) -> Result<Agents, Error> {
        let ids: Vec<String> = plans.iter().map(id_of).collect();
        let mut agents: Option<Agents> = None;
        for plan in plans {
            let id = plan.id.clone();
            let agent = self.admit(plan, &ids).await?;
            agents = Some(match (agents, id) {
                (Some(agents), Some(id)) => agents.with(&id, agent)?,
                _ => agent.into(),
            });
        }
        Ok(agents.expect("there is always one at the root"))
    }

    async fn admit(&self, plan: Plan, all: &[String]) -> Result<Agent, Error> {
        let id = id_of(&plan);
        let mut profile = Profile::new(id.clone(), plan.manifest.name.clone());
        profile.description.clone_from(&plan.manifest.description);
        profile.objectives.clone_from(&plan.manifest.objectives);
        profile.views.clone_from(&plan.manifest.views);
        profile.law = law(&plan)?;
        let axioms = plan.manifest.axioms.iter().cloned();
        profile.law.frozen.axioms.extend(axioms);
        let axioms = profile.law.frozen.axioms.clone();
        let mut plan = plan.with_tools().await?;
        let skills = plan.options.skills.merge(&self.files)?;
        let capable = match &plan.manifest.skills {
            Some(ids) => {
                let known = ids.iter().map(String::as_str);
                skills.narrow(known.filter(|id| skills.get(id).is_some()))?
            }
            None => skills.clone(),
        };
        let own = ["remember", "recall", "ask-agent"];
        let gets = |id: &&str| match &plan.manifest.skills {
            Some(ids) => ids.iter().any(|it| it == id),
            None => true,
        };
        profile.gets = own
            .iter()
            .filter(|id| gets(id))
            .map(|id| (*id).to_owned())
            .collect();
        let handle = self.population.admit(profile, &capable).await?;
        plan.options.skills = skills.merge(&handle.skills())?;
        if self.together {
            let others = all.iter().filter(|it| **it != id).cloned().collect();
            let asking = agent::ask_agent(&handle, others);
            plan.options.skills = plan.options.skills.merge(&asking)?;
        }
        plan.options.handle = Some(handle);
        self.hold(&id, &axioms).await?;
        plan.make()
    }

    /// Puts axioms where the agent can read them and cannot write.
    async fn hold(&self, id: &str, axioms: &[String]) -> Result<(), Error> {
        let space = self.memory.space(id)?.governed(&self.memory);
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

    pub(crate) fn population(&self) -> &Population {
        &self.population
    }

    /// From now on agents can begin tasks of their own.
    pub(crate) fn serve(&self, tasks: &a2a::Server) {
        self.population.serve(tasks, DEFAULT_AGENT);
    }

    /// Puts all agents to sleep.
    pub(crate) async fn close(&self) {
        self.ticking.abort();
        self.population.close().await;
    }
}

impl std::fmt::Debug for AgentHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentHost")
            .field("population", &self.population)
            .finish_non_exhaustive()
    }
}

/// The law that an agent is born with.
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

/// The id of a planned agent.
fn id_of(plan: &Plan) -> String {
    plan.id.clone().unwrap_or_else(|| DEFAULT_AGENT.to_owned())
}
