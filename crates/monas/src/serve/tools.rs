//! The MCP tool servers of an agent, from its manifest and from the `mcp.json` of other hosts.

use std::collections::BTreeMap;
use std::path::Path;

use agent::{Manifest, Options};
use dial::Dialer;
use mcp::{ToolLimits, ToolServers, Tools};
use skill::ToolServer;

use crate::error::Error;
use crate::serve::agents::host::OWN_SKILLS;

/// The variables that every program gets. A tool server that is started as a program sees these, those of its entry, and no
/// others, so it gets no key or token of the server.
const NEEDED: &[&str] = &[
    "HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
];

/// Connects the tool servers of an agent and adds their tools. A server that cannot be reached is logged, and the agent is
/// made without its tools. `place` is the file of the manifest, `more` a `mcp.json`.
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
    options.on_close.push(std::sync::Arc::new(move || {
        let servers = servers.clone();
        Box::pin(async move { servers.close().await })
    }));
    Ok(())
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
