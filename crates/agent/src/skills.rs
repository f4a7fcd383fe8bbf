//! The skills that an agent has of itself: to remember, to recall and to forget, to remind, to tell about itself, and to ask
//! other agents.

use serde_json::json;
use skill::{Context, Registry, SkillError};

use crate::handle::AgentHandle;

mod about;
mod ask;
mod board;
mod forget;
mod recall;
mod remember;
mod remind;

use ask::AskAgent;
use remember::Remember;

/// The skills of this agent.
pub(crate) fn of(agent: &AgentHandle) -> Registry {
    let memory = agent.population.0.parts.memory.as_ref();
    if memory.is_none() {
        return Registry::new();
    }
    let remember = Remember {
        agent: agent.clone(),
    };
    let skills = Registry::new().with(remember);
    skills
        .and_then(|skills| skills.with(recall::RecallSkill::of(agent)))
        .and_then(|skills| skills.with(forget::Forget::of(agent)))
        .and_then(|skills| skills.merge(&remind::of(agent)))
        .and_then(|skills| skills.with(about::About::of(agent)))
        .and_then(|skills| skills.merge(&board::of(agent)))
        .expect("their ids are different")
}

/// Whether a text is a moment and nothing else, as `in 10 minutes` is.
pub(crate) fn is_moment(text: &str) -> bool {
    remind::is_moment(text)
}

/// With the skill `ask-agent`, for an agent that may ask others of its server, by their ids.
pub fn ask_agent(agent: &AgentHandle, others: Vec<String>) -> Registry {
    let asking = AskAgent {
        agent: agent.clone(),
        others,
    };
    Registry::new().with(asking).expect("it is one")
}

/// How a question ends that takes a yes or no.
pub const YES_OR_NO: &str = "Answer yes or no.";

/// Asks the caller something that takes a yes or no. [`YES_OR_NO`] is added to the question.
async fn agrees(ctx: &Context, mut question: String) -> Result<bool, SkillError> {
    question.push_str(YES_OR_NO);
    let form = json!({
        "type": "object",
        "properties": { "answer": { "type": "string", "description": "Yes or no." } },
        "required": ["answer"],
    });
    let said = match ctx.ask_while(form, question).await {
        Ok(said) => said,
        Err(SkillError::Declined) => None,
        Err(error) => return Err(error),
    };
    let said = said.as_ref().and_then(|it| it["answer"].as_str());
    Ok(said.is_some_and(crate::answer::agrees))
}
