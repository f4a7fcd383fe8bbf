//! Where the law of the agent is asked about a call, and a person where the law says so.

use serde_json::Value;
use skill::{Context, Definition, QuestionAnswer, SkillError};

use crate::actor::Outcome;
use crate::approval::{self, Decision};
use crate::call::CallState;
use crate::context::Outcome as Came;
use crate::event::{EffectId, EventKind, Verdict};
use crate::handle::AgentHandle;
use crate::{limits, text, turn};

/// The gate of one agent: every call of a skill passes it, from a caller over any protocol, from the agent itself, or
/// from another skill.
///
/// The order is: the law judges the call, and nothing is recorded if it may be made or must not be. If a person has to
/// agree, the skill shows what it would do; that, the input and the place of the call become the record of the
/// approval, which is durable before the question is shown. The answer is read, the preview is made once more and
/// compared, and the decision is recorded, durable again, before the call is made. So after a restart at any moment the
/// journal says whether the person was asked and what they said, and nothing is done that was not agreed to.
///
/// An answer counts for what was shown. Where the preview has changed, meanwhile or over a restart, the person is shown
/// the new one and asked again; an earlier message is not taken as the answer to that.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) agent: AgentHandle,
}

impl Gate {
    /// The input that a call may be made with.
    pub(crate) async fn pass(
        &self,
        definition: &Definition,
        input: &Value,
        ctx: &Context,
        state: &CallState,
    ) -> Result<Value, SkillError> {
        let skill = definition.id.clone();
        let place = format!("{}/{skill}#{}", ctx.scope(), ctx.count(&skill));
        let wanted = |shown: &str| EventKind::Wanted {
            turn: ctx.task_id(),
            place: place.clone(),
            conversation: ctx.context_id(),
            skill: skill.clone(),
            input: input.clone(),
            marked: definition.traits.approval,
            by: ctx.caller().to_string(),
            shown: shown.to_owned(),
        };
        // During a pause this takes as long as the pause.
        let mut outcome = ctx.waiting(self.agent.judge(wanted(""))).await?;
        let mut note = String::new();
        loop {
            if let Some(input) = settled(&outcome)? {
                return Ok(input);
            }
            let shown = preview(definition, input, ctx).await?;
            outcome = ctx.waiting(self.perceive(wanted(&shown))).await?;
            if let Some(input) = settled(&outcome)? {
                return Ok(input);
            }
            let approval = outcome.gate.as_ref().and_then(|(id, _)| *id);
            let approval = approval.ok_or_else(stopped)?;
            let question = format!(
                "{note}May I call {skill}? Answer approve (or yes), session (also for the rest of this conversation), \
                 modify, or reject (or no).\n{shown}"
            );
            let asked_before = !outcome.changed;
            let asked =
                state.ask_recorded_elsewhere(question, approval::form(), asked_before, true);
            let Some(given) = asked.await? else {
                // Withdrawn: the law may have decided meanwhile.
                outcome = ctx.waiting(self.agent.judge(wanted(&shown))).await?;
                continue;
            };
            let decision = match &given.answer {
                QuestionAnswer::Declined => {
                    Ok(Decision::Reject("the question was declined".to_owned()))
                }
                QuestionAnswer::Given(answer) => approval::decision(answer, definition, input),
            };
            note = match decision {
                Ok(Decision::Approve(_)) if preview(definition, input, ctx).await? != shown => {
                    "That has changed meanwhile.\n".to_owned()
                }
                Ok(decision) => {
                    let (by, message) = (given.by, given.message);
                    outcome = ctx
                        .waiting(self.decide(approval, decision, by, message))
                        .await?;
                    String::new()
                }
                Err(problem) => format!("That cannot be used: {problem}\n"),
            };
        }
    }

    /// Tells the agent that a caller's call has ended. The results of its own calls are events of their effects.
    pub(crate) async fn called(
        &self,
        definition: &Definition,
        input: Value,
        outcome: &skill::Outcome,
        ctx: &Context,
    ) -> Result<(), SkillError> {
        let outcome = match outcome {
            Ok(reply) => {
                let gave = text::in_words(&turn::words(reply));
                Came::Gave(Value::String(text::bounded(&gave, limits::LINE)))
            }
            Err(error) => {
                let why = text::bounded(&error.to_string(), limits::LINE);
                Came::Failed(error.code().to_owned(), why)
            }
        };
        let called = EventKind::Called {
            turn: ctx.task_id(),
            skill: definition.id.clone(),
            input,
            by: ctx.caller().to_string(),
            outcome,
        };
        self.perceive(called).await.map(drop)
    }

    async fn decide(
        &self,
        approval: EffectId,
        decision: Decision,
        by: String,
        message: String,
    ) -> Result<Outcome, SkillError> {
        let decided = EventKind::Decided {
            approval,
            decision,
            by,
            message,
        };
        self.perceive(decided).await
    }

    async fn perceive(&self, what: EventKind) -> Result<Outcome, SkillError> {
        Ok(self.agent.perceive(what).await?)
    }
}

/// The input to call the skill with, if that is settled; an error if the call may not be made.
fn settled(outcome: &Outcome) -> Result<Option<Value>, SkillError> {
    match outcome.gate.as_ref().ok_or_else(stopped)? {
        (_, Verdict::Go(input)) => Ok(Some(input.clone())),
        (_, Verdict::No(why)) => Err(SkillError::Refused(why.clone())),
        (_, Verdict::Ask) => Ok(None),
    }
}

/// What a person is shown of a call.
async fn preview(
    definition: &Definition,
    input: &Value,
    ctx: &Context,
) -> Result<String, SkillError> {
    let preview = match ctx.skills().preview(&definition.id, input.clone()).await {
        Ok(preview) => preview,
        // A skill that may call others only cannot be asked through what it may call.
        Err(SkillError::Unknown(_)) => None,
        // A call that is sure to fail is not worth a person's time.
        Err(error) => return Err(error),
    };
    let shown = preview.unwrap_or_else(|| text::in_words(input));
    if shown.len() > SHOWN {
        let why = format!("there is more to see than the {SHOWN} bytes that a person is shown");
        return Err(SkillError::coded("too-much", why));
    }
    Ok(shown)
}

/// How much a person is shown of one call, in bytes. A call with a longer preview is refused.
const SHOWN: usize = 128 * 1024;

fn stopped() -> SkillError {
    SkillError::Interrupted("the agent did not say whether it may be done".to_owned())
}
