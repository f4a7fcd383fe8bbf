//! Skills are called and questions asked, within the task of the request.

use serde_json::{Value, json};
use skill::{Context, Reply, SkillError};

use crate::event::{EffectId, Perceived};

/// Calls a skill. What it asks and keeps is known by the number of the call, so that a restart finds it again.
pub(super) async fn call(
    ctx: &Context,
    effect: EffectId,
    skill: &str,
    input: Value,
    again: bool,
) -> Perceived {
    let failed = |code: &str, message: String| Perceived::Failed {
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
        Ok(output) => Perceived::Done { effect, output },
        Err(error) => failed(error.code(), error.to_string()),
    }
}

/// What a skill gave, as a value.
pub(crate) fn words(reply: &Reply<Value>) -> Value {
    match reply {
        Reply::Done(output) => output.clone(),
        Reply::Message(message) => Value::String(message.text()),
        Reply::Task(ending) => Value::String(ending.text()),
    }
}

/// Asks whoever asked. To decline is to say nothing, and so is not to answer in time.
pub(super) async fn clarify(ctx: &Context, effect: EffectId, question: String) -> Perceived {
    let form = json!({
        "type": "object",
        "properties": {
            "answer": { "type": "string", "description": "Yes, no, or what is meant instead." },
        },
        "required": ["answer"],
    });
    let ctx = ctx.scoped(&format!("question-{effect}"));
    match ctx.ask_while(form, question).await {
        Ok(said) => {
            let text = said.as_ref().and_then(|it| it["answer"].as_str());
            let text = text.map(str::to_owned);
            Perceived::Clarified { effect, text }
        }
        Err(SkillError::Declined) => Perceived::Clarified { effect, text: None },
        Err(error) => Perceived::Failed {
            effect,
            code: error.code().to_owned(),
            message: error.to_string(),
        },
    }
}
