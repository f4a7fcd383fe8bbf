//! Who can be asked: every skill, and the agent as a whole.

use a2a::types::AgentCard;
use serde_json::{Value, json};
use skill::{Definition, Registry};

use crate::types::Manifest;

/// Where a manifest has what ACP has no field for.
const SKILL: &str = "urn:monas:acp:skill:1";

/// The agents, as ACP has them.
#[derive(Debug)]
pub(crate) struct Agents {
    /// The agent as a whole first, then its skills in their order.
    manifests: Vec<Manifest>,
    skills: Registry,
}

/// Whom a run is for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Asked<'a> {
    Skill(&'a Definition),
    /// The agent as a whole decides what to do.
    Whole,
}

impl Agents {
    pub(crate) fn new(card: &AgentCard, skills: Registry) -> Self {
        let whole = whole(card, &skills);
        let manifests = std::iter::once(whole).chain(skills.iter().map(manifest));
        Self {
            manifests: manifests.collect(),
            skills,
        }
    }

    /// What the agent as a whole is called.
    pub(crate) fn whole(&self) -> &str {
        self.manifests.first().map_or("", |whole| &whole.name)
    }

    /// All of them, in a stable order.
    pub(crate) fn all(&self) -> &[Manifest] {
        &self.manifests
    }

    pub(crate) fn manifest(&self, name: &str) -> Option<&Manifest> {
        self.manifests.iter().find(|agent| agent.name == name)
    }

    pub(crate) fn find(&self, name: &str) -> Option<Asked<'_>> {
        match self.skills.get(name) {
            Some(skill) => Some(Asked::Skill(skill)),
            None => (name == self.whole()).then_some(Asked::Whole),
        }
    }
}

fn manifest(skill: &Definition) -> Manifest {
    let card = skill.card();
    let mut about = json!({
        "examples": skill.examples,
        "input_schema": skill.input,
    });
    if let Some(output) = &skill.output {
        about["output_schema"] = output.clone();
    }
    Manifest {
        name: skill.id.clone(),
        description: skill.description.clone(),
        input_content_types: card.input_modes,
        output_content_types: card.output_modes,
        metadata: json!({
            "annotations": {
                "beeai_ui": { "ui_type": "hands-off", "display_name": skill.name },
                (SKILL): about,
            },
            "capabilities": [{ "name": skill.name, "description": skill.description }],
            "programming_language": "Rust",
            "framework": "Monas",
            "tags": skill.tags,
        }),
    }
}

fn whole(card: &AgentCard, skills: &Registry) -> Manifest {
    // A skill has the older right to its name.
    let mut names = std::iter::once(label(&card.name)).chain((1..).map(|n| format!("agent-{n}")));
    let free = |name: &String| skills.get(name).is_none();
    let name = names.find(free).expect("skills are finite");
    let types = |modes: &[String]| match modes {
        [] => vec!["*/*".to_owned()],
        modes => modes.to_vec(),
    };
    let capabilities = card.skills.iter();
    let capabilities: Vec<Value> = capabilities
        .map(|skill| json!({ "name": skill.name, "description": skill.description }))
        .collect();
    let mut tags: Vec<&String> = card.skills.iter().flat_map(|it| &it.tags).collect();
    tags.sort();
    tags.dedup();
    Manifest {
        name,
        description: card.description.clone(),
        input_content_types: types(&card.default_input_modes),
        output_content_types: types(&card.default_output_modes),
        metadata: json!({
            "annotations": {
                "beeai_ui": { "ui_type": "chat", "display_name": card.name },
            },
            "capabilities": capabilities,
            "programming_language": "Rust",
            "framework": "Monas",
            "tags": tags,
        }),
    }
}

/// The longest DNS label.
const LABEL: usize = 63;

/// A name as a DNS label: small letters and digits, with one hyphen for whatever is between them.
pub(crate) fn label(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    let mut label = words.join("-");
    label.truncate(LABEL);
    let label = label.trim_end_matches('-');
    match label {
        "" => "agent".to_owned(),
        label => label.to_owned(),
    }
}
