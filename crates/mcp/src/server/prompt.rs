//! Prompts: the examples of every skill, named `SKILL.NUMBER` and counted from 1.

use rmcp::model::{ErrorData, GetPromptResponse, GetPromptResult, Prompt, PromptMessage, Role};
use skill::{Definition, Registry};

/// In the order of the skills, which does not change while the server runs.
pub(super) fn all(skills: &Registry) -> Vec<Prompt> {
    let prompts = skills.iter().flat_map(|skill| {
        let examples = skill.examples.iter().enumerate();
        examples.map(move |(place, example)| {
            Prompt::new(name(skill, place), Some(example.clone()), None)
                .with_title(skill.name.clone())
        })
    });
    prompts.collect()
}

pub(super) fn get(skills: &Registry, name: &str) -> Result<GetPromptResponse, ErrorData> {
    let found = name.rsplit_once('.').and_then(|(id, place)| {
        let skill = skills.get(id)?;
        let place: usize = place.parse().ok()?;
        let example = skill.examples.get(place.checked_sub(1)?)?;
        Some((skill, example))
    });
    let unknown = || ErrorData::invalid_params(format!("unknown prompt: {name}"), None);
    let (skill, example) = found.ok_or_else(unknown)?;
    let message = PromptMessage::new_text(Role::User, example.clone());
    let prompt = GetPromptResult::new(vec![message]);
    Ok(prompt.with_description(skill.description.clone()).into())
}

/// The id of a skill holds no dot, so the name is unique.
fn name(skill: &Definition, place: usize) -> String {
    format!("{}.{}", skill.id, place + 1)
}
