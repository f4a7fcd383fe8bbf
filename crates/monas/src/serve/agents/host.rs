//! The agents of a server with what they have in common: one memory, one population and one clock.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ::tools::FileCache;
use access::Secrets;
use agent::{Agent, Law, Manifest, Parts, Population, Profile};
use browser::Browser;
use memory::Memory;
use model::Model;
use model::layer::{Meter, Observed, Price};
use store::Store;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;
use workspace::api::status::OfferedModel;
use workspace::code::CodeIndexer;

use crate::app::{App, Plan};
use crate::config::Config;
use crate::config::nearest::nearest;
use crate::error::Error;
use crate::serve::agents::{self, Agents, DEFAULT_AGENT};
use crate::serve::browsing;
use crate::serve::compose::{files, memory, project};
use crate::serve::mirror::Mirror;
use crate::serve::models;

/// How often the clock looks for what is due: at once when something becomes due, within a second for what was not known
/// before.
const LONGEST_TICK: Duration = Duration::from_secs(1);
const SHORTEST_TICK: Duration = Duration::from_millis(10);

/// The skills that an agent with memory and a law gets besides those of its app.
pub(crate) const OWN_SKILLS: [&str; 9] = [
    "remember",
    "recall",
    "forget",
    "remind",
    "reminders",
    "about",
    "board-read",
    "board-post",
    "ask-agent",
];

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
    fn plan(self, config: &Config, secrets: &Secrets) -> Result<Planned, Error> {
        let app = match self {
            Self::Made(agents) => return Ok(Planned::Made(agents)),
            Self::App(app) => app,
        };
        let has_law = app.has_law();
        let plans = app.plans(config, secrets)?;
        Ok(match has_law {
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
    /// The same with models that are counted. Agents that exist already keep theirs.
    fn observed(self, price: Price, meter: &Arc<Meter>) -> Self {
        let observed = |mut plans: Vec<Plan>| {
            for plan in &mut plans {
                let model = plan.options.model.take();
                plan.options.model = model.map(|model| -> Arc<dyn Model> {
                    Arc::new(Observed::new(model, price, meter.clone()))
                });
            }
            plans
        };
        match self {
            Self::Made(agents) => Self::Made(agents),
            Self::Plain(plans) => Self::Plain(observed(plans)),
            Self::Governed(plans) => Self::Governed(observed(plans)),
        }
    }

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

/// The agents of a server, and what they have in common.
///
/// Every server has one host, and every agent of it is in the host's population: one with a law is admitted under its
/// id and thinks; a plain agent of skills joins with an empty law and does not. So questions, approvals and their time
/// limits are kept in one place for both.
///
/// The memory is opened before the agents are made, because their axioms are written into it. Agents are admitted one
/// after another, since each is compared with those before it. The clock starts last: an agent must not begin
/// something before all others exist.
///
/// [`AgentHost::close`] stops the clock, puts the agents to sleep, disconnects their tool servers, takes in the last files
/// and closes the memory, in this order: agents write to the memory until they sleep. The store must be open until after it.
#[derive(Debug)]
pub(crate) struct AgentHost {
    agents: Agents,
    memory: Memory,
    /// Takes the files of projects into the memory.
    code: CodeIndexer,
    /// Contents of files that were read.
    files: FileCache,
    /// None: it is switched off.
    browser: Option<Browser>,
    /// Ends with the host.
    _mirror: Option<Mirror>,
    population: Population,
    /// Counts what is asked of models.
    meter: Arc<Meter>,
    /// A local model server that was found and is not used: how to use it, in a sentence.
    offered_model: Arc<OnceLock<String>>,
    /// Ends with the host, also if the server does not start.
    ticking: AbortOnDropHandle<()>,
    /// The search for a local Ollama, which does not delay the start.
    _looking: Option<AbortOnDropHandle<()>>,
}

impl AgentHost {
    pub(crate) async fn start(
        config: &Config,
        store: &Store,
        secrets: &Secrets,
        source: AgentSource,
    ) -> Result<Self, Error> {
        let meter: Arc<Meter> = Arc::default();
        let planned = source.plan(config, secrets)?;
        let planned = planned.observed(config.models.price, &meter);
        let model = planned.model();
        let reader = model.clone().filter(|_| config.models.reads_memory);
        let memory = memory(config, store.clone(), reader, secrets)?;
        let code = CodeIndexer::start(memory.clone());
        let files = FileCache::default();
        let mirror = Mirror::start(config, &memory, secrets)?;
        let browser = browsing::browser(config, secrets);
        let mut parts = Parts::new(store.clone()).memory(memory.clone());
        // With `--open` and no configured callers, every caller is a person at this machine.
        parts.walls = !config.access.schemes.is_empty() || config.access.is_closed();
        let looking = match (model, &config.models.ollama) {
            (Some(model), _) => {
                parts = parts.model(model);
                None
            }
            (None, Some(url)) => {
                let client = config.outbound.dialer()?.http();
                let look = models::found::look(client, url.clone(), parts.offered_model.clone());
                Some(AbortOnDropHandle::new(tokio::spawn(look)))
            }
            (None, None) => None,
        };
        let offered_model = parts.offered_model.clone();
        let population = Population::new(parts);
        let agents = match planned {
            Planned::Made(agents) => agents,
            Planned::Plain(plans) => make_all(plans, Plan::make).await?,
            Planned::Governed(plans) => {
                let mut admission = Admission {
                    ids: Vec::new(),
                    population: &population,
                    config,
                    code: &code,
                    files: &files,
                    browser: browser.as_ref(),
                };
                let plans = admission.admit_all(plans).await?;
                make_all(plans, async |plan| admission.finish(plan)).await?
            }
        };
        agents.claim()?;
        agents.join(&population);
        let ticking = AbortOnDropHandle::new(tokio::spawn(tick(population.clone())));
        Ok(Self {
            agents,
            memory,
            code,
            files,
            browser,
            _mirror: mirror,
            population,
            meter,
            offered_model,
            ticking,
            _looking: looking,
        })
    }

    pub(crate) fn agents(&self) -> &Agents {
        &self.agents
    }

    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    pub(crate) fn code(&self) -> &CodeIndexer {
        &self.code
    }

    pub(crate) fn files(&self) -> &FileCache {
        &self.files
    }

    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// What is known of a local model server that is not used.
    pub(crate) fn offered_model(&self) -> OfferedModel {
        let offered = self.offered_model.clone();
        Arc::new(move || offered.get().cloned())
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
        if let Some(browser) = &self.browser {
            browser.close().await;
        }
        self.code.close().await;
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
        let name = &agent.manifest().name;
        tracing::info!(
            agent = id.as_deref().unwrap_or(DEFAULT_AGENT),
            name,
            "agent started"
        );
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
    config: &'a Config,
    code: &'a CodeIndexer,
    files: &'a FileCache,
    browser: Option<&'a Browser>,
    /// The ids of all agents that are admitted.
    ids: Vec<String>,
}

impl Admission<'_> {
    /// Admits agents one after another: the one at the root, then those that lived here before, then new ones, so that of two
    /// that are the same the new one is refused. A twin, a wrong law and wrong axioms keep down the agent alone that has
    /// them, unless that is the one at the root.
    async fn admit_all(&mut self, plans: Vec<Plan>) -> Result<Vec<Plan>, Error> {
        let mut admitted = Vec::new();
        for plan in self.in_order(plans).await {
            let id = id_of(&plan).to_owned();
            match self.admit(plan).await {
                Err(
                    fault @ (Error::AgentStart(agent::Error::Twin { .. } | agent::Error::Law(_))
                    | Error::Manifest { .. }),
                ) if !admitted.is_empty() => {
                    tracing::error!(agent = id, "not started: {fault}");
                }
                plan => {
                    admitted.push(plan?);
                    self.ids.push(id);
                }
            }
        }
        Ok(admitted)
    }

    async fn in_order(&self, plans: Vec<Plan>) -> Vec<Plan> {
        let mut plans = plans.into_iter();
        let mut ordered: Vec<Plan> = plans.next().into_iter().collect();
        let mut new = Vec::new();
        for plan in plans {
            match self.population.has_journal(id_of(&plan)).await {
                true => ordered.push(plan),
                false => new.push(plan),
            }
        }
        ordered.extend(new);
        ordered
    }

    /// Lets an agent in, with the skills of its program, for files and of its memory.
    async fn admit(&self, mut plan: Plan) -> Result<Plan, Error> {
        let id = id_of(&plan).to_owned();
        let profile = profile(&id, &plan.place, &plan.manifest)?;
        let shared = plan.manifest.workspace.as_deref();
        let files = files(
            self.config,
            &id,
            shared,
            plan.helper.as_deref(),
            (self.code, self.files),
        )?;
        let mut skills = plan.options.skills.merge(&files)?;
        if let Some(browser) = self.browser {
            // The same folder as that of the skills for files.
            let project = project(self.config, &id, shared, self.files)?;
            skills = skills.merge(&browser::skills::skills(browser, &id, project.as_ref())?)?;
        }
        // Tools get ids that no skill has, those for files included.
        plan.options.skills = skills.clone();
        plan = plan.with_tools().await?;
        let narrowed = match &plan.manifest.skills {
            Some(ids) => {
                let known = ids.iter().map(String::as_str);
                skills.narrow(known.filter(|id| skills.get(id).is_some()))?
            }
            None => skills.clone(),
        };
        let handle = self.population.admit(profile, &narrowed).await?;
        plan.options.skills = skills.merge(&handle.skills())?;
        plan.options.handle = Some(handle);
        Ok(plan)
    }

    /// Makes an agent that was admitted. It can ask all others that were.
    fn finish(&self, mut plan: Plan) -> Result<Agent, Error> {
        let id = id_of(&plan);
        if let Some(handle) = &plan.options.handle {
            let others = self.ids.iter().filter(|it| *it != id).cloned().collect();
            let asking = agent::ask_agent(handle, others);
            plan.options.skills = plan.options.skills.merge(&asking)?;
        }
        plan.create()
    }
}

/// What the population is told of an agent, from the manifest in the file `place`.
fn profile(id: &str, place: &Path, manifest: &Manifest) -> Result<Profile, Error> {
    let mut profile = Profile::new(id, manifest.name.clone());
    profile.description.clone_from(&manifest.description);
    profile.objectives.clone_from(&manifest.objectives);
    profile.views.clone_from(&manifest.views);
    profile.readers.clone_from(&manifest.memory.readers);
    profile.callers.clone_from(&manifest.access.callers);
    profile.law = law(place, manifest)?;
    let axioms = manifest.axioms.iter().cloned();
    profile.law.frozen.axioms.extend(axioms);
    agent::law::meta::check(&profile.law).map_err(|refused| Error::Manifest {
        path: place.to_owned(),
        problem: refused.to_string(),
    })?;
    let gets = |id: &&str| match &manifest.skills {
        Some(ids) => ids.iter().any(|it| it == id),
        None => true,
    };
    let gets = OWN_SKILLS.into_iter().filter(gets);
    profile.gets = gets.map(str::to_owned).collect();
    Ok(profile)
}

/// The profiles of the manifests that a configuration names, for commands that work without the agents themselves.
pub(crate) fn profiles(config: &Config) -> Result<Vec<Profile>, Error> {
    let mut found = Vec::new();
    if let Some(path) = &config.manifest {
        found.push(profile(DEFAULT_AGENT, path, &agents::manifest(path)?)?);
    }
    let folder = config.agents.as_deref().map(agents::read).transpose()?;
    for (id, place, manifest) in folder.into_iter().flatten() {
        found.push(profile(&id, &place, &manifest)?);
    }
    Ok(found)
}

/// The law that an agent starts with: that of the file which its manifest names, beside the manifest.
fn law(place: &Path, manifest: &Manifest) -> Result<Law, Error> {
    let Some(file) = &manifest.law else {
        return Ok(Law::default());
    };
    let folder = place.parent().unwrap_or_else(|| Path::new(""));
    let path: PathBuf = folder.join(file);
    let unread = |problem: String| Error::Manifest {
        path: path.clone(),
        problem,
    };
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let like = like(folder, file);
        let like = like.map(|it| format!("; did you mean {it:?}?"));
        unread(format!(
            "{error} (`law` of {}){}",
            place.display(),
            like.unwrap_or_default()
        ))
    })?;
    Law::parse(&text).map_err(|error| unread(error.to_string()))
}

/// The file of a folder that has nearly this name. Endings are left out: with them all files of one kind are alike.
fn like(folder: &Path, name: &str) -> Option<String> {
    let here = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let stem = |name: &str| name.trim_end_matches(".toml").replace('.', "-");
    let entries = std::fs::read_dir(here).ok()?.flatten();
    let names: Vec<(String, String)> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .map(|name| (stem(&name), name))
        .collect();
    let meant = nearest(&stem(name), names.iter().map(|(stem, _)| &**stem))?.to_owned();
    let meant = names.into_iter().find(|(stem, _)| *stem == meant);
    meant.map(|(_, name)| name)
}

/// Tells agents that time has passed, when something is due for them.
async fn tick(population: Population) {
    loop {
        population.tick().await;
        let next = population.next_tick().unwrap_or(LONGEST_TICK);
        sleep(next.clamp(SHORTEST_TICK, LONGEST_TICK)).await;
    }
}

fn id_of(plan: &Plan) -> &str {
    plan.id.as_deref().unwrap_or(DEFAULT_AGENT)
}
