//! The ACP agents: every skill, and the agent as a whole.

use a2a::types::AgentCard;
use serde_json::{Value, json};
use skill::{Definition, MAX_LABEL, Registry};

use crate::types::Manifest;

/// The annotation for what ACP has no field for: examples and schemas of a skill.
const SKILL: &str = "urn:monas:acp:skill:1";

/// The manifests of all ACP agents, made once when the server starts.
#[derive(Debug)]
pub(crate) struct Agents {
    /// First the agent as a whole, then the skills in the order of the registry.
    manifests: Vec<Manifest>,
    skills: Registry,
}

/// What an agent name of ACP stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RunTarget<'a> {
    Skill(&'a Definition),
    /// The agent as a whole, which decides by itself what to do.
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

    /// The name of the agent as a whole.
    pub(crate) fn whole(&self) -> &str {
        self.manifests.first().map_or("", |whole| &whole.name)
    }

    /// All manifests; the order does not change while the server runs.
    pub(crate) fn all(&self) -> &[Manifest] {
        &self.manifests
    }

    pub(crate) fn manifest(&self, name: &str) -> Option<&Manifest> {
        self.manifests.iter().find(|agent| agent.name == name)
    }

    pub(crate) fn find(&self, name: &str) -> Option<RunTarget<'_>> {
        match self.skills.get(name) {
            Some(skill) => Some(RunTarget::Skill(skill)),
            None => (name == self.whole()).then_some(RunTarget::Whole),
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
    // The name of a skill is its id and cannot change, so the agent as a whole takes another one.
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

/// A name as a DNS label, cut where it is too long. A name without letters and digits becomes `agent`.
pub(crate) fn label(name: &str) -> String {
    let mut label = skill::to_label(name);
    label.truncate(MAX_LABEL);
    match label.trim_end_matches('-') {
        "" => "agent".to_owned(),
        label => label.to_owned(),
    }
}
