//! What an agent is, as a file says it (`agents/NAME.toml`).

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

/// What an agent is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub name: String,
    /// What it is for. Without it, its card names its skills.
    #[serde(default)]
    pub description: String,
    /// What it is for. Only an agent that lives pursues them.
    #[serde(default)]
    pub objectives: Vec<String>,
    /// What it holds to be true or right, against all it is told.
    #[serde(default)]
    pub axioms: Vec<String>,
    /// The file of the law that it is born with, from the folder of the manifest. None: the default law.
    #[serde(default)]
    pub law: Option<String>,
    /// The shared spaces of memory that it looks into, besides its own.
    #[serde(default)]
    pub views: Vec<String>,
    #[serde(default = "first_version")]
    pub version: String,
    /// The skills it has, of those the program has. None: all. Tools of servers are not skills of the program.
    #[serde(default)]
    pub skills: Option<Vec<String>>,
    /// Which skills a skill may call, by its id. One that is not named may call all.
    #[serde(default)]
    pub grants: BTreeMap<String, Vec<String>>,
    /// The skills that may use the language model. None: all.
    #[serde(default)]
    pub model_for: Option<Vec<String>>,
    /// Who may call it.
    #[serde(default)]
    pub access: Access,
    /// Servers of tools that it may use, by name.
    #[serde(default)]
    pub mcp: BTreeMap<String, ToolServer>,
}

/// The callers that may call an agent, of those its server knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Their names. None: all.
    #[serde(default)]
    pub callers: Option<Vec<String>>,
}

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
            objectives: Vec::new(),
            axioms: Vec::new(),
            law: None,
            views: Vec::new(),
            version: first_version(),
            skills: None,
            grants: BTreeMap::new(),
            model_for: None,
            access: Access::default(),
            mcp: BTreeMap::new(),
        }
    }

    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// What a file says.
    pub fn parse(text: &str) -> Result<Self, ManifestError> {
        let wrong = |problem: String| ManifestError(problem);
        let manifest: Self = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        for (name, server) in &manifest.mcp {
            let wrong = |problem| wrong(format!("mcp.{name} {problem}"));
            server.check().map_err(wrong)?;
        }
        Ok(manifest)
    }
}

fn first_version() -> String {
    "0.1.0".to_owned()
}
