//! The servers of tools that an agent uses: what its manifest and the files of other hosts say of them.

use std::collections::BTreeMap;
use std::path::Path;

use agent::Options;
use dial::Dialer;
use mcp::{ToolLimits, ToolServers, Tools};
use skill::{Manifest, ToolServer};

use crate::error::Error;

/// What every program needs of the environment. One that is started for its tools sees these variables, what its entry
/// says, and nothing else: no key or token of ours.
const NEEDED: &[&str] = &[
    "HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
];

/// Adds the tools of an agent's servers to what it is made of. What is not there is said in the log, and the agent is
/// made without it. `place` is where its manifest is, and `more` a file of another host.
pub(crate) async fn add(
    place: &Path,
    manifest: &Manifest,
    more: Option<&Path>,
    options: &mut Options,
    dialer: &Dialer,
    variable: &(dyn Fn(&str) -> Option<String> + Sync),
) -> Result<(), Error> {
    let servers = servers(place, manifest, more, variable)?;
    let needed = NEEDED
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), variable(name)?)));
    let servers = ToolServers::new(&servers, &needed.collect(), &ToolLimits::default(), dialer);
    if servers.is_empty() {
        return Ok(());
    }
    let Tools {
        offered,
        hidden,
        problems,
        ..
    } = servers.tools(&options.skills).await;
    for problem in problems {
        tracing::warn!("{problem}");
    }
    tracing::info!(
        tools = offered.len() + hidden.len(),
        "tools of other servers"
    );
    options.tools = offered;
    options.hidden_tools = hidden;
    options.on_close.push(std::sync::Arc::new(move || {
        let servers = servers.clone();
        Box::pin(async move { servers.close().await })
    }));
    Ok(())
}

/// All servers, with variables put where they are named.
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
            let problem = format!("the server {name:?} is in the manifest, too");
            return Err(wrong(problem));
        }
        servers.insert(name, server);
    }
    Ok(servers)
}

fn expand(
    place: &Path,
    servers: &mut BTreeMap<String, ToolServer>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), Error> {
    for (name, server) in servers.iter_mut().filter(|(_, server)| !server.disabled) {
        mcp::expand(server, variable).map_err(|error| Error::Manifest {
            path: place.to_owned(),
            problem: format!("the server {name:?}: {error}"),
        })?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
