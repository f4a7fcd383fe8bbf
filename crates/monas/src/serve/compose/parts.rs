//! The parts that servers and commands have in common, from the configuration.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use ::memory::Memory;
use ::tools::{FileCache, History, Project};
use a2a::server::{Reach, TABLES};
use a2a::types::AgentCard;
use access::Secrets;
use agent::Agent;
use model::Model;
use serde_json::{Map, Value as Json};
use skill::Registry;
use store::{Remote, Store, Table};
use workspace::code::CodeIndexer;

use crate::config::{Config, Data, StoreUrl};
use crate::error::Error;
use crate::listen;
use crate::serve::agents::DEFAULT_AGENT;
use crate::serve::{audit, mcp, models, tools};

/// The files of the store in the data folder.
pub(crate) const DATABASE: &str = "monas.db";
const DATABASE_LOG: &str = "monas.db-wal";

/// All tables of the program.
pub(crate) fn tables() -> Vec<&'static Table> {
    [
        TABLES,
        ::memory::TABLES,
        ::agent::TABLES,
        access::capability::TABLES,
        access::users::TABLES,
        access::secrets::TABLES,
        workspace::chat::TABLES,
        audit::TABLES,
    ]
    .concat()
}

/// Opens the store. `holder` is written into the lock of the data folder, or into the database, for the error of another
/// process.
pub(crate) async fn open(config: &Config, holder: &str) -> Result<Store, Error> {
    match &config.store.url {
        Some(url) => {
            let remote = remote(config, url, holder);
            let connected = tokio::task::spawn_blocking(move || Store::connect(&remote)).await;
            Ok(connected.expect("connecting to a database does not panic")?)
        }
        None => open_folder(config, holder).await,
    }
}

/// The database of a configuration.
pub(crate) fn remote(config: &Config, url: &StoreUrl, holder: &str) -> Remote {
    let mut remote = Remote::new(url.as_str())
        .tables(&tables())
        .durability(config.store.durability);
    remote.holder = holder.to_owned();
    if let Data::Folder(folder) = &config.data {
        remote.folder = Some(folder.clone());
    }
    remote
}

/// Opens the store in the data folder, also where the configuration names a database.
pub(crate) async fn open_folder(config: &Config, holder: &str) -> Result<Store, Error> {
    let tables = tables();
    let Data::Folder(folder) = &config.data else {
        return Ok(Store::memory(&tables));
    };
    check_not_emptied(folder)?;
    let mut options = store::Options::new(folder)
        .tables(&tables)
        .durability(config.store.durability);
    options.holder = holder.to_owned();
    options.max_bytes = config.store.max_bytes;
    options.commit_delay = config.store.commit_delay;
    let opened = tokio::task::spawn_blocking(move || Store::open(&options)).await;
    Ok(opened.expect("opening a store does not panic")?)
}

/// Refuses a database of no bytes beside a key: the key is made after the database, so that the database was emptied,
/// and a server that took it for a new one would hide the loss.
fn check_not_emptied(folder: &Path) -> Result<(), Error> {
    let length = |name: &str| fs::metadata(folder.join(name)).map(|file| file.len());
    let emptied = length(DATABASE).is_ok_and(|length| length == 0);
    let logged = length(DATABASE_LOG).is_ok_and(|length| length > 0);
    if !emptied || logged || length(mcp::KEY).is_err() {
        return Ok(());
    }
    Err(Error::from(store::Error::Corrupt {
        path: folder.join(DATABASE),
        problem: format!(
            "it is empty, and {} beside it shows that it was not; restore it from a backup, or delete both to begin anew",
            mcp::KEY
        ),
    }))
}

/// Opens the memory of agents, with the embedder of the configuration.
pub(crate) fn memory(
    config: &Config,
    store: Store,
    reader: Option<Arc<dyn Model>>,
    secrets: &Secrets,
) -> Result<Memory, Error> {
    let folder = match &config.data {
        Data::Folder(folder) => Some(folder.as_path()),
        Data::Memory => None,
    };
    let embedder = models::embedder(&config.models, &config.outbound.dialer()?, folder, secrets)?;
    if let Some(embedder) = &embedder {
        tracing::info!(embedder = embedder.name(), "vector search enabled");
    }
    let options = ::memory::Options {
        embedder,
        reader,
        mirrored: config.mirror.is_some(),
        ..::memory::Options::default()
    };
    Ok(Memory::open(store, options))
}

/// The cards of the agent at the root: the public one, and the extended one if a file has what it adds.
/// The configuration names the file, or else the manifest.
pub(super) fn cards(config: &Config, agent: &Agent) -> Result<a2a::server::Config, Error> {
    let mut served = a2a::server::Config::new(agent.card());
    let file = agent.manifest().extended_card.as_deref().map(Path::new);
    if let Some(path) = config.extended_card.as_deref().or(file) {
        served.extended_card = Some(extended_by(path, &mut served.card)?);
    }
    Ok(served)
}

/// The extended card of an agent: its public one, which says from now on that there is another, with what a file adds.
pub(super) fn extended_by(path: &Path, card: &mut AgentCard) -> Result<AgentCard, Error> {
    let failed = |problem: String| Error::ExtendedCard {
        path: path.to_owned(),
        problem,
    };
    let text = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    let more = serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))?;
    let capabilities = card.capabilities.get_or_insert_default();
    capabilities.extended_agent_card = Some(true);
    extended(card, more).map_err(failed)
}

/// A card with the members of another one in place of its own, and the skills of both.
fn extended(card: &AgentCard, more: Map<String, Json>) -> Result<AgentCard, String> {
    let mut whole = serde_json::to_value(card).expect("a card is always JSON");
    for (name, value) in more {
        match (&*name, value, &mut whole[&name]) {
            ("skills", Json::Array(more), Json::Array(skills)) => skills.extend(more),
            (_, value, place) => *place = value,
        }
    }
    serde_json::from_value(whole).map_err(|error| error.to_string())
}

/// Applies the configuration to the task server: its limits, and how webhooks are called.
pub(super) fn limit(config: &Config, served: &mut a2a::server::Config) -> Result<(), Error> {
    served.dialer = config.outbound.dialer()?;
    if config.push_private {
        served.push_targets = Reach::Any;
    }
    let limits = &mut served.limits;
    limits.max_body = config.limits.max_body;
    // The listener has stricter limits, for pauses too.
    limits.body_time = listen::Limits::default().body_total;
    limits.max_running = config.limits.max_running;
    limits.push_attempts = config.push_attempts;
    limits.cancel_grace = config.limits.cancel_grace;
    limits.retention.max_age = config.store.keep_for;
    limits.retention.max_count = config.store.keep_count;
    limits.retention.compact_after = config.store.compact_after;
    Ok(())
}

/// The skills for files and commands in the folder of an agent: of the one at the root the workspace, of another its
/// own, or the one that its manifest shares by name.
///
/// An agent's own folder and a shared one are below two folders, so that no manifest can name the folder of an agent that
/// shares none: the allow list of that agent guards its files, too. Commands need the `helper` that enters their sandbox.
/// Files that the skills read and write are taken into the memory of the agent by `code`.
pub(crate) fn files(
    config: &Config,
    agent: &str,
    shared: Option<&str>,
    helper: Option<&Path>,
    (code, cache): (&CodeIndexer, &FileCache),
) -> Result<Registry, Error> {
    let Some(project) = project(config, agent, shared, cache)? else {
        // Data in memory has no folder for files.
        return Ok(Registry::new());
    };
    let project = code.observe(agent, project);
    let skills = match history(config, agent, shared, &project)? {
        Some(history) => ::tools::skills_with_history(&history)?,
        None => ::tools::skills(&project)?,
    };
    match helper {
        Some(helper) => tools::with_commands(skills, project, config, helper),
        None => Ok(skills),
    }
}

/// What agents changed in a project, also if they share it. Data in memory keeps nothing.
pub(crate) fn history(
    config: &Config,
    agent: &str,
    shared: Option<&str>,
    project: &Project,
) -> Result<Option<History>, Error> {
    let Data::Folder(data) = &config.data else {
        return Ok(None);
    };
    let key = match (agent, shared) {
        (DEFAULT_AGENT, None) | (_, Some(DEFAULT_AGENT)) => "default".to_owned(),
        (_, Some(name)) => format!("shared-{name}"),
        (id, None) => format!("agents-{id}"),
    };
    let folder = data.join("changes").join(key);
    Ok(Some(History::open(project.clone(), folder)?))
}

/// The project of an agent, opened; it is created where it does not exist. Files that are read are kept in the cache.
pub(crate) fn project(
    config: &Config,
    agent: &str,
    shared: Option<&str>,
    cache: &FileCache,
) -> Result<Option<Project>, Error> {
    let named = |kind: &str, name: &str| match &config.data {
        Data::Folder(data) => Some(data.join("workspaces").join(kind).join(name)),
        Data::Memory => None,
    };
    let (folder, configured) = match (agent, shared) {
        (DEFAULT_AGENT, None) | (_, Some(DEFAULT_AGENT)) => {
            let folder = match (&config.workspace, &config.data) {
                (Some(folder), _) => Some(folder.clone()),
                (None, Data::Folder(data)) => Some(data.join("workspace")),
                (None, Data::Memory) => None,
            };
            (folder, config.workspace.is_some())
        }
        (_, Some(name)) => (named("shared", name), false),
        (id, None) => (named("agents", id), false),
    };
    let Some(folder) = folder else {
        return Ok(None);
    };
    let project = Project::open(&folder)?.cached_in(cache);
    if !configured {
        project.welcome()?;
    }
    Ok(Some(project))
}
