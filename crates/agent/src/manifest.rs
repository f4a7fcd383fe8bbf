//! The description of an agent in a file (`agents/NAME.toml`).

use std::collections::BTreeMap;

use access::{Permission, Principal, UnknownName};
use serde::Deserialize;
use skill::{SkillError, ToolServer};

use crate::mode::Mode;

/// What an agent is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub name: String,
    /// What it is for. Without it, its card names its skills.
    #[serde(default)]
    pub description: String,
    /// The goals of the agent. Only an agent with a law pursues them.
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
    /// The JSON file of what authenticated callers see in its card besides the public part, from the folder of the manifest.
    #[serde(default)]
    pub extended_card: Option<String>,
    /// The skills it has, of those the program has. None: all. Tools of servers are not skills of the program.
    #[serde(default)]
    pub skills: Option<Vec<String>>,
    /// Skills and tools that are called without an approval although they change something, by id.
    #[serde(default)]
    pub unasked: Vec<String>,
    /// What callers of a skill or tool need, by its id, instead of what its definition says.
    #[serde(default)]
    pub permissions: BTreeMap<String, SkillNeeds>,
    /// Which skills a skill may call, by its id. One that is not named may call all.
    #[serde(default)]
    pub grants: BTreeMap<String, Vec<String>>,
    /// The skills that may use the language model. None: all.
    #[serde(default)]
    pub model_for: Option<Vec<String>>,
    /// The folder for files that it shares, by its name, with all agents that name it in their manifests; `default` is the folder
    /// of the agent at the root. None: a folder of its own.
    #[serde(default)]
    pub workspace: Option<String>,
    /// Who may call it.
    #[serde(default)]
    pub access: Access,
    /// Who sees what it remembers.
    #[serde(default)]
    pub memory: MemoryAccess,
    /// Servers of tools that it may use, by name.
    #[serde(default)]
    pub mcp: BTreeMap<String, ToolServer>,
    /// Named sets of instructions and skills; a message names the one in which it is answered.
    #[serde(default)]
    pub modes: BTreeMap<String, Mode>,
}

/// The callers that see all of an agent's memory. Where the server has `[access]`, the others see their own records and
/// public ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryAccess {
    /// Their names; `agent:ID` is an agent of the same server.
    #[serde(default)]
    pub readers: Vec<String>,
}

/// The callers that may call an agent, of those its server knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Their names. None: all.
    #[serde(default)]
    pub callers: Option<Vec<String>>,
}

/// What callers of a skill need: the name of a permission, or a table with a permission and scopes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "WrittenNeeds")]
pub struct SkillNeeds {
    pub permission: Option<Permission>,
    pub scopes: Vec<String>,
}

impl SkillNeeds {
    /// Whether a caller has what the skill of this id needs.
    pub(crate) fn check(&self, id: &str, caller: &Principal) -> Result<(), SkillError> {
        skill::check_caller(id, self.permission, &self.scopes, caller)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenNeeds {
    Permission(String),
    Table(NeedsTable),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NeedsTable {
    #[serde(default)]
    permission: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
}

impl TryFrom<WrittenNeeds> for SkillNeeds {
    type Error = UnknownName;

    fn try_from(written: WrittenNeeds) -> Result<Self, UnknownName> {
        let NeedsTable { permission, scopes } = match written {
            WrittenNeeds::Permission(permission) => NeedsTable {
                permission: Some(permission),
                scopes: Vec::new(),
            },
            WrittenNeeds::Table(table) => table,
        };
        let permission = permission.filter(|name| name != "none");
        let permission = permission.map(|name| name.parse()).transpose()?;
        Ok(Self { permission, scopes })
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
            extended_card: None,
            skills: None,
            unasked: Vec::new(),
            permissions: BTreeMap::new(),
            grants: BTreeMap::new(),
            model_for: None,
            workspace: None,
            access: Access::default(),
            memory: MemoryAccess::default(),
            mcp: BTreeMap::new(),
            modes: BTreeMap::new(),
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
        if let Some(name) = manifest
            .workspace
            .as_deref()
            .filter(|it| !skill::is_label(it))
        {
            return Err(wrong(format!(
                "workspace {name:?}: expected a name of at most 63 lowercase letters, digits and inner hyphens"
            )));
        }
        for (name, server) in &manifest.mcp {
            let wrong = |problem| wrong(format!("mcp.{name} {problem}"));
            server.check().map_err(wrong)?;
        }
        if let Some(problem) = crate::mode::problem(&manifest) {
            return Err(wrong(problem));
        }
        Ok(manifest)
    }
}

fn first_version() -> String {
    "0.1.0".to_owned()
}
