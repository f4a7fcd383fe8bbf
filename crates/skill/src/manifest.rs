//! What an agent is, as a file says it (`agents/NAME.toml`).

use std::collections::BTreeMap;

use serde::Deserialize;

/// What an agent is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// For people.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// Its own version.
    #[serde(default = "first_version")]
    pub version: String,
    /// The skills it has, of those there are. None: all.
    #[serde(default)]
    pub skills: Option<Vec<String>>,
    /// Which skills a skill may call, by its id. One that is not named may call all.
    #[serde(default)]
    pub grants: BTreeMap<String, Vec<String>>,
    /// The skills that may use the language model. None: all.
    #[serde(default)]
    pub model_for: Option<Vec<String>>,
    /// Servers whose tools it may use, by name.
    #[serde(default)]
    pub mcp: BTreeMap<String, ToolServer>,
}

/// A server of tools: a program that is started, or a place that is called.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolServer {
    /// The program.
    #[serde(default)]
    pub command: Option<String>,
    /// What it is started with.
    #[serde(default)]
    pub args: Vec<String>,
    /// Its environment, besides what every program needs. It sees nothing else of ours.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The place.
    #[serde(default)]
    pub url: Option<String>,
    /// Headers that are sent there.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The tools that may be used, by the server's own names. None: all.
    #[serde(default)]
    pub allow: Option<Vec<String>>,
    /// It is not used.
    #[serde(default)]
    pub disabled: bool,
}

/// A manifest could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the manifest: {0}")]
pub struct ManifestError(String);

impl Manifest {
    /// A manifest with this name and all skills.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            version: first_version(),
            skills: None,
            grants: BTreeMap::new(),
            model_for: None,
            mcp: BTreeMap::new(),
        }
    }

    /// With this description.
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// What a file says.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        let wrong = |problem: String| ManifestError(problem);
        let manifest: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        for (name, server) in &manifest.mcp {
            if server.command.is_some() == server.url.is_some() {
                return Err(wrong(format!(
                    "mcp.{name} needs a command or a url, not both"
                )));
            }
        }
        Ok(manifest)
    }
}

fn first_version() -> String {
    "0.1.0".to_owned()
}
