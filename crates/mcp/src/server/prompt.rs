//! Prompts: the examples of every skill, named `SKILL.NUMBER` and counted from 1.

use serde::{Deserialize, Serialize};
use skill::{Definition, Registry};

use super::content::Content;
use super::rpc::RpcError;

/// The parameters of `prompts/get`.
#[derive(Debug, Deserialize)]
pub(super) struct PromptParams {
    pub(super) name: String,
}

/// A prompt in the list.
#[derive(Debug, Serialize)]
pub(super) struct Prompt {
    name: String,
    title: String,
    description: String,
}

/// A prompt that was asked for.
#[derive(Debug, Serialize)]
pub(super) struct PromptText {
    description: String,
    messages: [PromptMessage; 1],
}

#[derive(Debug, Serialize)]
struct PromptMessage {
    role: &'static str,
    content: Content,
}

/// In the order of the skills, which does not change while the server runs.
pub(super) fn all(skills: &Registry) -> Vec<Prompt> {
    let prompts = skills.iter().flat_map(|skill| {
        let examples = skill.examples.iter().enumerate();
        examples.map(move |(place, example)| Prompt {
            name: name(skill, place),
            title: skill.name.clone(),
            description: example.clone(),
        })
    });
    prompts.collect()
}

pub(super) fn get(skills: &Registry, name: &str) -> Result<PromptText, RpcError> {
    let found = name.rsplit_once('.').and_then(|(id, place)| {
        let skill = skills.get(id)?;
        let place: usize = place.parse().ok()?;
        let example = skill.examples.get(place.checked_sub(1)?)?;
        Some((skill, example))
    });
    let unknown = || RpcError::invalid_params(format!("unknown prompt: {name}"));
    let (skill, example) = found.ok_or_else(unknown)?;
    Ok(PromptText {
        description: skill.description.clone(),
        messages: [PromptMessage {
            role: "user",
            content: Content::text(example),
        }],
    })
}

/// The id of a skill holds no dot, so the name is unique.
fn name(skill: &Definition, place: usize) -> String {
    format!("{}.{}", skill.id, place + 1)
}
