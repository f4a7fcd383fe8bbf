//! The agents of a server: one at its root, and others below `/agents/`, each by its id.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use a2a::server::{AfterRestart, Failure, Turn};
use a2a::types::{Message, Task, TaskId};
use access::{Principal, Refusal};
use agent::{Agent, Law, Manifest, Population};
use futures_core::future::BoxFuture;

use crate::error::Error;

pub(crate) mod host;

#[cfg(test)]
#[path = "agents_tests.rs"]
mod tests;

/// The id of the agent at the root, which is meant where no agent is named.
pub(crate) const DEFAULT_AGENT: &str = "default";

/// Ids that no agent can have: first parts of the protocol's paths, and the id of the agent at the root.
const RESERVED: [&str; 5] = ["v1", "tasks", "extendedAgentCard", "agents", DEFAULT_AGENT];

/// The agents of a server. Clones are the same agents.
#[derive(Clone, Debug)]
pub struct Agents {
    first: Agent,
    others: BTreeMap<String, Agent>,
    /// The agent at the root also answers for tenants that are no agent.
    any_tenant: bool,
}

impl From<Agent> for Agents {
    fn from(first: Agent) -> Self {
        Self {
            first,
            others: BTreeMap::new(),
            any_tenant: false,
        }
    }
}

impl Agents {
    /// Adds an agent with this id.
    pub fn with(mut self, id: &str, agent: Agent) -> Result<Self, Error> {
        let unusable = |why: &str| Error::AgentId {
            id: id.to_owned(),
            why: why.to_owned(),
        };
        if let Some(why) = unfit(id) {
            return Err(unusable(why));
        }
        match self.others.insert(id.to_owned(), agent) {
            None => Ok(self),
            Some(_) => Err(unusable("another agent has this id")),
        }
    }

    /// Lets the agent at the root answer for every tenant that is no agent; tenants then only separate tasks.
    pub fn with_any_tenant(mut self) -> Self {
        self.any_tenant = true;
        self
    }

    /// The agent at the root.
    pub fn first(&self) -> &Agent {
        &self.first
    }

    /// The agents below `/agents/`, with their ids.
    pub fn others(&self) -> impl Iterator<Item = (&str, &Agent)> {
        self.others.iter().map(|(id, agent)| (&**id, agent))
    }

    /// Whether a caller may use an agent, named by its id or by that of its journal. An unknown agent has nothing to hide,
    /// so it is allowed and found missing later.
    pub(crate) fn is_for(&self, id: &str, caller: &Principal) -> bool {
        let agent = match id {
            DEFAULT_AGENT => Some(&self.first),
            id => self.others.get(id).or_else(|| {
                let has_journal = |agent: &&Agent| agent.handle().is_some_and(|it| it.id() == id);
                self.all().find(has_journal)
            }),
        };
        agent.is_none_or(|agent| admits(id, agent, caller))
    }

    fn all(&self) -> impl Iterator<Item = &Agent> {
        std::iter::once(&self.first).chain(self.others.values())
    }

    /// Marks all agents as served; fails if another server of this process serves one.
    pub(crate) fn claim(&self) -> Result<(), agent::AlreadyStarted> {
        self.all().try_for_each(Agent::claim)
    }

    /// Makes those that are plain agents of skills join a population.
    fn join(&self, population: &Population) {
        // The id "default" stays with the agent that thinks: a data folder may serve both, one after the other, and
        // the second would go on under the law of the first.
        self.first.join(population, None);
        for (id, agent) in &self.others {
            agent.join(population, Some(id));
        }
    }

    /// Closes their connections to tool servers.
    pub(crate) async fn close(&self) {
        futures_util::future::join_all(self.all().map(Agent::close)).await;
    }
}

/// Why a text is not a valid id of an agent.
fn unfit(id: &str) -> Option<&'static str> {
    match id {
        "" => Some("an id cannot be empty"),
        id if RESERVED.contains(&id) => Some("this name is reserved"),
        id if !skill::is_label(id) => {
            Some("an id has at most 63 lowercase letters, digits and inner hyphens")
        }
        _ => None,
    }
}

/// Reads the manifests of a folder; the name of a file is the id of its agent. Files `NAME.law.toml` are laws and are
/// skipped.
pub(crate) fn read(folder: &Path) -> Result<Vec<(String, PathBuf, Manifest)>, Error> {
    let failed = |error: std::io::Error| Error::Manifest {
        path: folder.to_owned(),
        problem: error.to_string(),
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.to_string_lossy();
        if name.ends_with(".toml") && !name.ends_with(".law.toml") {
            paths.push(path);
        }
    }
    paths.sort();
    let named = paths.into_iter().map(|path| {
        let id = path.file_stem().unwrap_or_default().to_string_lossy();
        if let Some(why) = unfit(&id) {
            return Err(Error::Manifest {
                path: path.clone(),
                problem: format!(
                    "the name of the file is the id of the agent, and {id:?} cannot be one: {why}"
                ),
            });
        }
        Ok((id.into_owned(), path.clone(), manifest(&path)?))
    });
    named.collect()
}

pub(crate) fn manifest(path: &Path) -> Result<Manifest, Error> {
    let unread = |problem: String| Error::Manifest {
        path: path.to_owned(),
        problem,
    };
    let text = fs::read_to_string(path).map_err(|error| unread(error.to_string()))?;
    let parsed = Manifest::parse(&text).map_err(|error| {
        let law = !text.trim().is_empty() && Law::parse(&text).is_ok();
        unread(match law {
            true => "it is a law, not a manifest: give it a name that ends in .law.toml".to_owned(),
            false => error.to_string(),
        })
    });
    let mut manifest = parsed?;
    if let Some(file) = &mut manifest.extended_card {
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        *file = folder.join(&*file).to_string_lossy().into_owned();
    }
    Ok(manifest)
}

/// A message goes to the agent that its tenant names, without a tenant to the agent at the root.
impl a2a::server::Agent for Agents {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        admitted(DEFAULT_AGENT, &self.first, turn)
    }

    fn tenant(&self, name: &str) -> Option<Arc<dyn a2a::server::Agent>> {
        match self.others.get(name) {
            Some(agent) => Some(Arc::new(Admitting(name.to_owned(), agent.clone()))),
            None if name.is_empty() || self.any_tenant => None,
            None => Some(Arc::new(NoAgent(name.to_owned()))),
        }
    }

    fn continues(
        &self,
        caller: &Principal,
        message: &Message,
    ) -> BoxFuture<'static, Option<TaskId>> {
        self.first.continues(caller, message)
    }

    fn after_restart(&self, task: &Task) -> AfterRestart {
        self.first.after_restart(task)
    }

    fn ended(&self, task: &TaskId) {
        self.first.ended(task);
    }

    fn label(&self, message: &Message) -> Option<String> {
        self.first.label(message)
    }
}

/// Whether a caller is on the allow list of an agent's manifest. The agent itself always is: what it does by the clock
/// is a call in its own name.
fn admits(id: &str, agent: &Agent, caller: &Principal) -> bool {
    let callers = agent.manifest().access.callers.as_ref();
    callers.is_none_or(|callers| callers.iter().any(|it| it == caller.name()))
        || caller.name() == agent::principal(id)
}

/// The agent's answer, if its allow list has the caller.
///
/// The list is checked in two places, and neither can go. The door of a binding (`door::of_agent`) checks it for every
/// operation at the agent's own address: to read and cancel tasks and to list skills, also where no agent answers. But
/// a caller can name an agent as tenant at the address of the root, which has another door, and agents of this process
/// call each other without a binding; both end here.
fn admitted(id: &str, agent: &Agent, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
    if admits(id, agent, turn.caller()) {
        return a2a::server::Agent::answer(agent, turn);
    }
    let refusal = Refusal::uninvited();
    Box::pin(std::future::ready(Err(Failure::refusal(refusal.into()))))
}

/// An agent that is called by its id.
struct Admitting(String, Agent);

impl a2a::server::Agent for Admitting {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        admitted(&self.0, &self.1, turn)
    }

    fn continues(
        &self,
        caller: &Principal,
        message: &Message,
    ) -> BoxFuture<'static, Option<TaskId>> {
        self.1.continues(caller, message)
    }

    fn after_restart(&self, task: &Task) -> AfterRestart {
        self.1.after_restart(task)
    }

    fn ended(&self, task: &TaskId) {
        self.1.ended(task);
    }

    fn label(&self, message: &Message) -> Option<String> {
        self.1.label(message)
    }
}

/// Refuses messages for an agent that does not exist.
struct NoAgent(String);

impl a2a::server::Agent for NoAgent {
    fn answer(&self, _turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        let why = format!("unknown agent {:?}", self.0);
        let error = a2a::Error::invalid_field("tenant", why);
        Box::pin(std::future::ready(Err(Failure::refusal(error))))
    }
}
