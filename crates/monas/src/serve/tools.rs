//! The MCP tool servers of an agent, from its manifest and from the `mcp.json` of other hosts; and its terminal.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

use ::tools::Project;
use access::Secrets;
use agent::{Manifest, Options};
use dial::Dialer;
use mcp::{SignIns, ToolLimits, ToolServers, Tools};
use oauth::{NoConsent, Vault};
use skill::{Registry, ToolServer};

use crate::config::{self, Config};
use crate::error::Error;
use crate::serve::agents::host::OWN_SKILLS;

/// The variables that every program gets. A tool server that is started as a program sees these, those of its entry, and no
/// others, so it gets no key or token of the server.
const NEEDED: &[&str] = &[
    "HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
];

/// The hidden subcommand that enters a sandbox: the server calls its own program with it.
#[cfg(target_os = "linux")]
pub(crate) const HELPER: &str = "sandbox-exec";

/// What confines commands. `helper` is this program.
#[cfg(target_os = "linux")]
pub(crate) fn sandbox(config: &Config, helper: &Path) -> ::tools::sandbox::Sandbox {
    use ::tools::sandbox::{Helper, Sandbox, SandboxKind};

    use crate::config::Data;

    // The same for all agents, and bubblewrap is started to find out.
    static KIND: OnceLock<SandboxKind> = OnceLock::new();
    let path = std::env::var("PATH").ok();
    let kind = *KIND.get_or_init(|| {
        let kind = SandboxKind::detect(path.as_deref());
        tracing::info!("commands run in the sandbox {kind}");
        kind
    });
    let helper = Helper {
        program: helper.to_owned(),
        arguments: vec![HELPER.to_owned()],
    };
    let scratch = match &config.data {
        Data::Folder(folder) => folder.join("scratch"),
        Data::Memory => std::env::temp_dir(),
    };
    let mut sandbox = Sandbox::new(kind, helper, scratch);
    if let Data::Folder(folder) = &config.data {
        sandbox.hidden.push(folder.clone());
    }
    let home = std::env::var("HOME").ok();
    let secrets = SECRETS
        .iter()
        .filter_map(|it| Some(Path::new(home.as_ref()?).join(it)));
    sandbox.hidden.extend(secrets.filter(|it| it.exists()));
    let variables = NEEDED.iter().filter(|it| **it != "TMPDIR");
    let variables = variables.filter_map(|it| Some(((*it).to_owned(), std::env::var(it).ok()?)));
    sandbox.environment = variables.collect();
    sandbox
}

/// Adds the skill that runs commands in the project. `helper` is this program.
#[cfg(target_os = "linux")]
pub(crate) fn with_commands(
    skills: Registry,
    project: Project,
    config: &Config,
    helper: &Path,
) -> Result<Registry, Error> {
    let shell = ::tools::terminal::Shell::new(project, sandbox(config, helper));
    Ok(::tools::terminal::run_skill(skills, shell)?)
}

/// The terminals of a project, for an agent that runs commands.
#[cfg(target_os = "linux")]
pub(crate) fn terminals(
    project: Project,
    config: &Config,
    helper: &Path,
) -> Option<workspace::api::terminals::Terminals> {
    let shell = shell(project, config, helper);
    Some(workspace::api::terminals::Terminals::new(shell))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn terminals(
    _: Project,
    _: &Config,
    _: &Path,
) -> Option<workspace::api::terminals::Terminals> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn with_commands(
    skills: Registry,
    _: Project,
    _: &Config,
    _: &Path,
) -> Result<Registry, Error> {
    Ok(skills)
}

/// Keys of a person, below the home folder, which no command reads.
#[cfg(target_os = "linux")]
const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".netrc",
    ".git-credentials",
];

/// Connects the tool servers of an agent and adds their tools. A server that cannot be reached is logged, and the agent is
/// made without its tools. `place` is the file of the manifest, `more` a `mcp.json`.
pub(crate) async fn add(
    place: &Path,
    manifest: &Manifest,
    more: Option<&Path>,
    options: &mut Options,
    dialer: &Dialer,
    secrets: &Secrets,
    variable: &(dyn Fn(&str) -> Option<String> + Sync),
) -> Result<(), Error> {
    let servers = servers(place, manifest, more, variable)?;
    check_secrets(place, &servers, secrets)?;
    let needed = NEEDED
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), variable(name)?)));
    let limits = ToolLimits::default();
    let sign_ins = sign_ins(variable);
    let needed = needed.collect();
    let servers = ToolServers::with_sign_ins(&servers, &needed, &limits, dialer, &sign_ins);
    let servers = servers.with_secrets(secrets);
    if servers.is_empty() {
        return Ok(());
    }
    let Tools {
        offered,
        hidden,
        problems,
        ..
    } = servers.tools(&options.skills, &OWN_SKILLS).await;
    for problem in problems {
        tracing::warn!("{problem}");
    }
    tracing::info!(
        tools = offered.len() + hidden.len(),
        "connected to tool servers"
    );
    options.tools = offered;
    options.hidden_tools = hidden;
    options.on_close.push(Arc::new(move || {
        let servers = servers.clone();
        Box::pin(async move { servers.close().await })
    }));
    Ok(())
}

/// Tokens of tool servers are those of this user. The server asks no person: it has no terminal that one looks at.
fn sign_ins(variable: &dyn Fn(&str) -> Option<String>) -> SignIns {
    let folder = config::tokens::folder(variable);
    let vault = folder.map_or_else(Vault::memory, Vault::folder);
    let hint =
        "monas login --tools URL, with the URL of the tool server; or configure its oauth table";
    SignIns::new(vault, Arc::new(NoConsent(hint.to_owned())))
}

/// All tool servers, with variables replaced by their values.
fn servers(
    place: &Path,
    manifest: &Manifest,
    more: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, ToolServer>, Error> {
    let mut servers = manifest.mcp.clone();
    expand(place, &mut servers, variable)?;
    let Some(path) = more else {
        return Ok(servers);
    };
    let wrong = |problem: String| Error::Manifest {
        path: path.to_owned(),
        problem,
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let mut more = mcp::servers(&text).map_err(|error| wrong(error.to_string()))?;
    expand(path, &mut more, variable)?;
    for (name, server) in more {
        if servers.contains_key(&name) {
            let problem = format!("tool server {name:?} is also in the manifest");
            return Err(wrong(problem));
        }
        servers.insert(name, server);
    }
    Ok(servers)
}

/// Reports a secret that does not exist now rather than at the first call.
fn check_secrets(
    place: &Path,
    servers: &BTreeMap<String, ToolServer>,
    secrets: &Secrets,
) -> Result<(), Error> {
    for (name, server) in servers.iter().filter(|(_, server)| !server.disabled) {
        for text in server.env.values().chain(server.headers.values()) {
            secrets.expand(text).map_err(|error| Error::Manifest {
                path: place.to_owned(),
                problem: format!("tool server {name:?}: could not {error}"),
            })?;
        }
    }
    Ok(())
}

fn expand(
    place: &Path,
    servers: &mut BTreeMap<String, ToolServer>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), Error> {
    for (name, server) in servers.iter_mut().filter(|(_, server)| !server.disabled) {
        mcp::expand(server, variable).map_err(|error| Error::Manifest {
            path: place.to_owned(),
            problem: format!("tool server {name:?}: {error}"),
        })?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
