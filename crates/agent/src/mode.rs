//! A mode: a named set of instructions and skills of one agent. State, memory and law are those of the agent.

use a2a::types::{AgentExtension, Message, Struct};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::manifest::Manifest;

/// The extension that names a mode and the priority of a message.
pub const AGENT_EXTENSION: &str = "urn:monas:a2a:ext:agent:1";

/// Where a message names the mode in which it is answered.
pub const MODE: &str = "urn:monas:a2a:ext:agent:1/mode";

/// The most bytes of a mode's instructions. They are part of the prompt, whole.
const INSTRUCTIONS: usize = 4_000;

/// The most modes of an agent.
const MODES: usize = 32;

/// A mode, as `[modes.NAME]` of a manifest describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// What the card says of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// What the model is told besides what it is always told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// The skills that are used in it, of those that the agent has. None: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
}

/// The mode of a request, as the journal records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChosenMode {
    pub name: String,
    #[serde(flatten)]
    pub mode: Mode,
}

impl ChosenMode {
    pub(crate) fn uses(&self, skill: &str) -> bool {
        let skills = self.mode.skills.as_ref();
        skills.is_none_or(|skills| skills.iter().any(|it| it == skill))
    }
}

/// The mode that a message names. The error says which modes there are.
pub(crate) fn chosen(
    manifest: &Manifest,
    message: &Message,
) -> Result<Option<ChosenMode>, a2a::Error> {
    let named = message.metadata.as_ref().and_then(|it| it.get(MODE));
    let Some(named) = named else {
        return Ok(None);
    };
    let wrong = |problem: String| {
        let field = format!("message.metadata.{MODE}");
        a2a::Error::invalid_field(&field, problem)
    };
    let name = named
        .as_str()
        .ok_or_else(|| wrong("the name of a mode is a text".to_owned()))?;
    match manifest.modes.get(name) {
        Some(mode) => Ok(Some(ChosenMode {
            name: name.to_owned(),
            mode: mode.clone(),
        })),
        None => {
            let known: Vec<&str> = manifest.modes.keys().map(String::as_str).collect();
            Err(wrong(match known.is_empty() {
                true => format!("there is no mode {name:?}: this agent has no modes"),
                false => format!("there is no mode {name:?}; there are {}", known.join(", ")),
            }))
        }
    }
}

/// What a card says of the modes of an agent; none if it has no modes.
pub(crate) fn declared(manifest: &Manifest) -> Option<AgentExtension> {
    if manifest.modes.is_empty() {
        return None;
    }
    let modes = manifest.modes.iter().map(|(name, mode)| {
        let mut about = json!({ "description": mode.description });
        if let Some(skills) = &mode.skills {
            about["skills"] = json!(skills);
        }
        (name.clone(), about)
    });
    let modes: serde_json::Map<String, Value> = modes.collect();
    let mut params = Struct::default();
    params.insert("modes".to_owned(), Value::Object(modes));
    Some(AgentExtension {
        uri: AGENT_EXTENSION.to_owned(),
        description: format!(
            "A message may name one of the agent's modes in its metadata, as {MODE}."
        ),
        params: Some(params),
        ..AgentExtension::default()
    })
}

/// The fault of a manifest's modes, if there is one.
pub(crate) fn problem(manifest: &Manifest) -> Option<String> {
    if manifest.modes.len() > MODES {
        return Some(format!("an agent has at most {MODES} modes"));
    }
    manifest.modes.iter().find_map(|(name, mode)| {
        if !skill::is_label(name) {
            return Some(format!(
                "modes.{name}: a name has at most 63 lower-case letters, digits and inner hyphens"
            ));
        }
        let size = mode.instructions.len();
        (size > INSTRUCTIONS).then(|| {
            format!(
                "modes.{name}.instructions is {size} bytes long: it may have {INSTRUCTIONS} bytes"
            )
        })
    })
}
