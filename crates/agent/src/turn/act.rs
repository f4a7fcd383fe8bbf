//! Skills are called and questions asked, within the task of the request.

use serde_json::{Value, json};
use skill::extension::QuestionKind;
use skill::{Context, QuestionAnswer, Reply};

use crate::call::CallState;
use crate::event::{EffectId, EventKind};
use crate::{limits, text};

/// Calls a skill. What it asks and keeps is known by the number of the call, so that a restart finds it again.
pub(super) async fn call(
    ctx: &Context,
    effect: EffectId,
    skill: &str,
    input: Value,
    again: bool,
) -> EventKind {
    let failed = |code: &str, message: String| EventKind::Failed {
        effect,
        code: code.to_owned(),
        message,
    };
    let safe = ctx
        .skills()
        .get(skill)
        .is_some_and(|it| it.traits.read_only || it.traits.replayable || it.traits.idempotent);
    if again && !safe {
        let why = format!(
            "the server was restarted while {skill} was at work: it may or may not be done"
        );
        return failed("interrupted", why);
    }
    let called = ctx
        .scoped(&format!("call-{effect}"))
        .call(skill, input)
        .await;
    match called.map(|reply| words(&reply)) {
        Ok(output) => EventKind::Done {
            effect,
            output: fitting(ctx, skill, output),
        },
        Err(error) => failed(error.code(), error.to_string()),
    }
}

/// An output that is too large to be kept in mind is kept as the text that people are told of it: of a text the beginning can
/// be read, of JSON it cannot.
fn fitting(ctx: &Context, skill: &str, output: Value) -> Value {
    if text::in_words(&output).len() <= limits::OUTPUT {
        return output;
    }
    let told = ctx.skills().entry(skill).and_then(|it| it.tell(&output));
    told.map_or(output, Value::String)
}

/// What a skill gave, as a value.
pub(crate) fn words(reply: &Reply<Value>) -> Value {
    match reply {
        Reply::Done(output) => output.clone(),
        Reply::Message(message) => Value::String(message.text()),
        Reply::Task(ending) => Value::String(ending.text()),
    }
}

/// Asks the caller. To decline is to say nothing, and so is not to answer in time. The question is the effect and the
/// answer its event: neither is recorded once more.
pub(super) async fn clarify(
    state: &CallState,
    effect: EffectId,
    question: String,
    again: bool,
) -> EventKind {
    let form = json!({
        "type": "object",
        "properties": {
            "answer": { "type": "string", "description": "Yes, no, or what is meant instead." },
        },
        "required": ["answer"],
    });
    let said = match state
        .ask_recorded_elsewhere(question, form, again, QuestionKind::Question)
        .await
    {
        Ok(said) => said,
        Err(error) => {
            return EventKind::Failed {
                effect,
                code: error.code().to_owned(),
                message: error.to_string(),
            };
        }
    };
    let message = said.as_ref().map(|it| it.message.clone());
    let text = said.and_then(|it| match it.answer {
        QuestionAnswer::Given(answer) => answer["answer"].as_str().map(str::to_owned),
        QuestionAnswer::Declined => None,
    });
    EventKind::Clarified {
        effect,
        text,
        message: message.unwrap_or_default(),
    }
}
