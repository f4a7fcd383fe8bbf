//! Skills are called and questions asked, within the task of the request.

use serde_json::{Value, json};
use skill::extension::{self, CallStage, Called, QuestionKind};
use skill::{Context, QuestionAnswer, Reply};

use crate::call::CallState;
use crate::event::{EffectId, EventKind};
use crate::{limits, text};

/// How much of the input of a call is shown, in bytes.
const SHOWN_INPUT: usize = 200;

/// Calls a skill. What it asks and keeps is known by the number of the call, so that a restart finds it again.
pub(super) async fn call(
    ctx: &Context,
    state: &CallState,
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
    let shown = ShownCall { ctx, state, skill };
    let with = match &*text::bounded(&text::told(&input), SHOWN_INPUT) {
        "" => String::new(),
        input => format!(" ({input})"),
    };
    shown
        .tell(CallStage::Begins, format!("calling {skill}{with}"))
        .await;
    let called = ctx
        .scoped(&format!("call-{effect}"))
        .call(skill, input)
        .await;
    match &called {
        Ok(_) => {
            shown
                .tell(CallStage::Done, format!("{skill} is done"))
                .await
        }
        Err(error) => {
            let why = format!("{skill} failed: {error}");
            shown.tell(CallStage::Failed, why).await;
        }
    }
    match called.map(|reply| words(&reply)) {
        Ok(output) => EventKind::Done {
            effect,
            output: fitting(ctx, skill, output),
        },
        Err(error) => failed(error.code(), error.to_string()),
    }
}

/// A call that is told to a caller that asks for it. Others are told nothing: each word about it is one more event of the task.
struct ShownCall<'a> {
    ctx: &'a Context,
    state: &'a CallState,
    skill: &'a str,
}

impl ShownCall<'_> {
    async fn tell(&self, stage: CallStage, text: String) {
        // After a question it is the message with the answer that asks for it, or not.
        if !extension::shows_calls(self.state.turn().message()) {
            return;
        }
        let called = Called {
            skill: self.skill.to_owned(),
            stage,
        };
        // A task that is over needs no word; the call itself finds that out.
        let _ = self.ctx.report_call(&called, text).await;
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
