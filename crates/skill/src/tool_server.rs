//! A server of tools, as a manifest or a `mcp.json` describes it. Its tools are used as skills.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

/// A server of tools: a program that is started, or a place that is called.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolServer {
    #[serde(default)]
    pub command: Option<String>,
    /// What it is started with.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its environment, besides what every program needs. It sees nothing else of ours.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub url: Option<String>,
    /// Headers that are sent there.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The tools that may be used, by the server's own names. None: all.
    #[serde(default)]
    pub allow: Option<Vec<String>>,
    /// Its tools are for the agent's own skills; callers are not offered them.
    #[serde(default)]
    pub hidden: bool,
    /// How long a call may take. None: as long as any skill.
    #[serde(default)]
    pub seconds: Option<u64>,
    /// Its annotations are believed: a tool with `readOnlyHint` is treated like a read-only skill of this program.
    #[serde(default)]
    pub trust_hints: bool,
    /// It is not used.
    #[serde(default)]
    pub disabled: bool,
}

impl ToolServer {
    /// Says what is wrong with it, if something is.
    pub fn check(&self) -> Result<(), &'static str> {
        match (&self.command, &self.url) {
            (Some(_), Some(_)) | (None, None) => Err("needs a command or a url, not both"),
            (Some(command), None) if command.trim().is_empty() => Err("has an empty command"),
            (Some(_), None) if !self.headers.is_empty() => {
                Err("has headers, which a program does not get")
            }
            (None, Some(_)) if !self.args.is_empty() || !self.env.is_empty() => {
                Err("has arguments or an environment, which only a program gets")
            }
            (None, Some(url)) if !["http://", "https://"].iter().any(|it| url.starts_with(it)) => {
                Err("has a url that is neither http:// nor https://")
            }
            _ => Ok(()),
        }
    }
}

/// What a program is started with, and what is sent to a place, may be secret.
impl fmt::Debug for ToolServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolServer")
            .field("command", &self.command)
            .field("url", &self.url)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("headers", &self.headers.keys().collect::<Vec<_>>())
            .field("allow", &self.allow)
            .finish_non_exhaustive()
    }
}
