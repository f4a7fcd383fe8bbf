//! What every call of a skill passes, whoever makes it: a caller over any protocol, the agent, another skill. Here it
//! waits for a person, if one has to agree.

use futures_core::future::BoxFuture;
use serde_json::Value;
use skill::{Context, Definition, Hook, Reply, SkillError};

use crate::approval::{self, Decision};
use crate::event::{EffectId, Perceived, Verdict};
use crate::monad::Outcome;
use crate::resident::Resident;
use crate::text;

/// The gate of one agent.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) agent: Resident,
}

impl Hook for Gate {
    fn before<'a>(
        &'a self,
        definition: &'a Definition,
        input: &'a mut Value,
        ctx: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Reply<Value>>, SkillError>> {
        Box::pin(async move {
            *input = self.pass(definition, input, ctx).await?;
            Ok(None)
        })
    }
}

impl Gate {
    /// The input that a call may be made with.
    async fn pass(
        &self,
        definition: &Definition,
        input: &Value,
        ctx: &Context,
    ) -> Result<Value, SkillError> {
        let skill = definition.id.clone();
        let place = format!("{}/{skill}#{}", ctx.scope(), ctx.count(&skill));
        let mut outcome = self
            .perceive(Perceived::Wanted {
                turn: ctx.task_id(),
                place,
                conversation: ctx.context_id(),
                skill,
                input: input.clone(),
                marked: definition.traits.approval,
                by: ctx.caller().to_string(),
            })
            .await?;
        loop {
            let (approval, verdict) = outcome.gate.ok_or_else(stopped)?;
            match verdict {
                Verdict::Go(input) => return Ok(input),
                Verdict::No(why) => return Err(SkillError::Refused(why)),
                Verdict::Ask => {
                    let approval = approval.ok_or_else(stopped)?;
                    let decision = self.ask(approval, definition, input, ctx).await?;
                    let by = ctx.caller().to_string();
                    outcome = self
                        .perceive(Perceived::Decided {
                            approval,
                            decision,
                            by,
                        })
                        .await?;
                }
            }
        }
    }

    /// Asks until the answer is a decision. To decline is to reject.
    async fn ask(
        &self,
        approval: EffectId,
        definition: &Definition,
        input: &Value,
        ctx: &Context,
    ) -> Result<Decision, SkillError> {
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
            match ctx.ask_for(approval::form(), asked.clone()).await {
                Ok(answer) => match approval::decision(&answer, &definition.input) {
                    Ok(decision @ Decision::Approve(_)) => {
                        // What was agreed to is what was shown.
                        let now = preview(definition, input, &ctx).await?;
                        if now == shown {
                            return Ok(decision);
                        }
                        shown = now;
                        asked = format!("That has changed meanwhile.\n{}", question(&shown));
                    }
                    Ok(decision) => return Ok(decision),
                    Err(problem) => {
                        asked = format!("That cannot be used: {problem}\n{}", question(&shown));
                    }
                },
                Err(SkillError::Declined) => {
                    return Ok(Decision::Reject("the question was declined".to_owned()));
                }
                Err(error) => return Err(error),
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
