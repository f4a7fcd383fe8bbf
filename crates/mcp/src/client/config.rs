//! Reads `mcp.json`, the file in which MCP hosts list their servers.

use std::collections::BTreeMap;

use access::secrets::has_reference;
use serde::Deserialize;
use skill::ToolServer;

/// The file is not valid, or one of its servers cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(String);

/// Desktop hosts use the key `mcpServers`, editors use `servers`.
#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers", alias = "servers")]
    servers: BTreeMap<String, ServerEntry>,
}

/// The keys that hosts have in common. Keys of a single host are ignored.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ServerEntry {
    #[serde(rename = "type")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// The allow list. Lists such as `autoApprove`, of tools that a host calls without asking its user, are not allow
    /// lists and are ignored.
    #[serde(alias = "includeTools", alias = "enabledTools")]
    allow: Option<Vec<String>>,
    #[serde(default)]
    disabled: bool,
}

/// Parses the text of an `mcp.json`.
pub fn servers(text: &str) -> Result<BTreeMap<String, ToolServer>, ConfigError> {
    let file: File = serde_json::from_str(text).map_err(|error| ConfigError(error.to_string()))?;
    let servers = file.servers.into_iter().map(|(name, server)| {
        if server.kind.as_deref() == Some("sse") {
            let problem = "uses the transport \"sse\", which is not supported: use streamable HTTP";
            return Err(ConfigError(format!("the server {name:?} {problem}")));
        }
        let server = ToolServer {
            command: server.command,
            args: server.args,
            env: server.env,
            url: server.url,
            headers: server.headers,
            allow: server.allow,
            disabled: server.disabled,
            ..ToolServer::default()
        };
        let wrong = |problem| ConfigError(format!("the server {name:?} {problem}"));
        server.check().map_err(wrong)?;
        Ok((name, server))
    });
    servers.collect()
}

/// Replaces `${NAME}` and `${env:NAME}` by the variable, in every value of the entry, so that a file need not hold
/// secrets. `${NAME:-text}` gives a default for a variable that is not set. `${secret:NAME}` and `secret:NAME` stay: they are
/// looked up when a connection is made, and stand in headers and variables alone, because others see commands and addresses.
pub fn expand(
    server: &mut ToolServer,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), ConfigError> {
    let seen = server.command.iter_mut().chain(&mut server.args);
    let sign_in = server.oauth.iter_mut().flat_map(|it| it.texts_mut());
    for text in seen.chain(&mut server.url).chain(sign_in) {
        if has_reference(text) {
            let problem = "a secret stands in headers and env alone";
            return Err(ConfigError(format!("{text:?}: {problem}")));
        }
        *text = expanded(text, variable)?;
    }
    let values = server.env.values_mut();
    for text in values.chain(server.headers.values_mut()) {
        *text = expanded(text, variable)?;
    }
    Ok(())
}

fn expanded(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, ConfigError> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let unclosed = || ConfigError(format!("{text:?}: \"${{\" without a closing \"}}\""));
        let (inner, after) = after.split_once('}').ok_or_else(unclosed)?;
        let (name, otherwise) = match inner.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise.to_owned())),
            None => (inner, None),
        };
        if name.starts_with("secret:") {
            expanded.push_str(&format!("{before}${{{inner}}}"));
            rest = after;
            continue;
        }
        let name = name.strip_prefix("env:").unwrap_or(name);
        if name.contains(':') {
            let problem = format!(
                "${{{inner}}} is not supported: only ${{NAME}}, ${{env:NAME}} and ${{secret:NAME}} are"
            );
            return Err(ConfigError(problem));
        }
        let unset = || ConfigError(format!("the variable {name:?} is not set"));
        expanded.push_str(before);
        expanded.push_str(&variable(name).or(otherwise).ok_or_else(unset)?);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
