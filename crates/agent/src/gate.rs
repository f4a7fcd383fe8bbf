//! What every call of a skill passes, whoever makes it: a caller over any protocol, the agent, another skill. Here it
//! waits for a person, if one has to agree.

use serde_json::Value;
use skill::{Context, Definition, QuestionAnswer, SkillError};

use crate::approval::{self, Decision};
use crate::call::CallState;
use crate::context::Outcome as Came;
use crate::event::{EffectId, Perceived, Verdict};
use crate::monad::Outcome;
use crate::resident::Resident;
use crate::{limits, text, turn};

/// The gate of one agent.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) agent: Resident,
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
        let by = ctx.caller().to_string();
        let wanted = Perceived::Wanted {
            turn: ctx.task_id(),
            place,
            conversation: ctx.context_id(),
            skill,
            input: input.clone(),
            marked: definition.traits.approval,
            by: by.clone(),
        };
        // An agent that was paused takes its time.
        let mut outcome = ctx.waiting(self.perceive(wanted.clone())).await?;
        loop {
            let (approval, verdict) = outcome.gate.ok_or_else(stopped)?;
            let approval = match verdict {
                Verdict::Go(input) => return Ok(input),
                Verdict::No(why) => return Err(SkillError::Refused(why)),
                Verdict::Ask => approval.ok_or_else(stopped)?,
            };
            let by = by.clone();
            let next = match self.ask(approval, definition, input, ctx, state).await? {
                Some(decision) => Perceived::Decided {
                    approval,
                    decision,
                    by,
                },
                // It may have been decided otherwise.
                None => wanted.clone(),
            };
            outcome = ctx.waiting(self.perceive(next)).await?;
        }
    }

    /// Tells the agent what came of a call that others have made. Of its own it hears anyway.
    pub(crate) async fn did(
        &self,
        definition: &Definition,
        outcome: &skill::Outcome,
        ctx: &Context,
    ) -> Result<(), SkillError> {
        if !ctx.scope().is_empty() {
            return Ok(());
        }
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
        let did = Perceived::Did {
            turn: ctx.task_id(),
            skill: definition.id.clone(),
            outcome,
        };
        self.perceive(did).await.map(drop)
    }

    /// Asks until the answer is a decision, or the question has lost its point. To decline is to reject.
    async fn ask(
        &self,
        approval: EffectId,
        definition: &Definition,
        input: &Value,
        ctx: &Context,
        state: &CallState,
    ) -> Result<Option<Decision>, SkillError> {
        let mut shown = preview(definition, input, ctx).await?;
        let question = |shown: &str| {
            format!(
                "May I call {}? Answer approve (or yes), session (also for the rest of this conversation), modify, or \
                 reject (or no).\n{shown}",
                definition.id,
            )
        };
        let mut asked = question(&shown);
        let ctx = ctx.scoped(&format!("approval-{approval}"));
        loop {
            let answered = state.ask_as(ctx.scope(), asked.clone(), approval::form(), true);
            match answered.await? {
                None => return Ok(None),
                Some(QuestionAnswer::Given(answer)) => {
                    match approval::decision(&answer, definition, input) {
                        Ok(decision @ Decision::Approve(_)) => {
                            // What was agreed to is what was shown.
                            let now = preview(definition, input, &ctx).await?;
                            if now == shown {
                                return Ok(Some(decision));
                            }
                            shown = now;
                            asked = format!("That has changed meanwhile.\n{}", question(&shown));
                        }
                        Ok(decision) => return Ok(Some(decision)),
                        Err(problem) => {
                            asked = format!("That cannot be used: {problem}\n{}", question(&shown));
                        }
                    }
                }
                Some(QuestionAnswer::Declined) => {
                    let why = "the question was declined".to_owned();
                    return Ok(Some(Decision::Reject(why)));
                }
            }
        }
    }

    async fn perceive(&self, what: Perceived) -> Result<Outcome, SkillError> {
        Ok(self.agent.perceive(what).await?)
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
        // What is sure to fail is not worth a person's time.
        Err(error) => return Err(error),
    };
    let shown = preview.unwrap_or_else(|| text::in_words(input));
    if shown.len() > SHOWN {
        let why = format!("there is more to see than the {SHOWN} bytes that a person is shown");
        return Err(SkillError::coded("too-much", why));
    }
    Ok(shown)
}

/// How much a person is shown of one call. What is more cannot be agreed to.
const SHOWN: usize = 128 * 1024;

fn stopped() -> SkillError {
    SkillError::Interrupted("the agent did not say whether it may be done".to_owned())
}
