//! What stands around every skill, whoever calls it: its input is one, its time is limited, its panics end
//! here, its output is what it says, and hooks see it pass.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use serde_json::Value;

use crate::context::Context;
use crate::definition::Definition;
use crate::error::SkillError;
use crate::registry::Entry;
use crate::reply::Reply;

// A crash that ends the process cannot be caught.
#[cfg(not(panic = "unwind"))]
compile_error!("skills are fenced by unwinding: build with panic = \"unwind\"");

/// What comes of a call.
pub type Outcome = Result<Reply<Value>, SkillError>;

/// Something that sees calls pass, in the order in which hooks were added, and back in the other.
pub trait Hook: Send + Sync + 'static {
    /// Before a skill is run, with input that is one. To return a reply or an error is to answer instead of it.
    fn before<'a>(
        &'a self,
        definition: &'a Definition,
        input: &'a mut Value,
        ctx: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Reply<Value>>, SkillError>> {
        let _ = (definition, input, ctx);
        Box::pin(async { Ok(None) })
    }

    /// After a skill has done it.
    fn after<'a>(
        &'a self,
        definition: &'a Definition,
        reply: Reply<Value>,
        ctx: &'a Context,
    ) -> BoxFuture<'a, Outcome> {
        let _ = (definition, ctx);
        Box::pin(async { Ok(reply) })
    }

    /// After a skill has failed to. It may say something else about it, or mend it.
    fn on_error<'a>(
        &'a self,
        definition: &'a Definition,
        error: SkillError,
        ctx: &'a Context,
    ) -> BoxFuture<'a, Outcome> {
        let _ = (definition, ctx);
        Box::pin(async { Err(error) })
    }
}

/// The fence.
#[derive(Clone)]
pub(crate) struct Fence {
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
    /// How long a skill may take that does not say so itself.
    pub(crate) time: Duration,
}

impl Fence {
    /// How long this skill may take.
    pub(crate) fn limit(&self, entry: &Entry) -> Duration {
        entry.checked.definition.traits.timeout.unwrap_or(self.time)
    }

    /// Calls a skill.
    pub(crate) async fn call(
        self: Arc<Self>,
        entry: Arc<Entry>,
        input: Value,
        ctx: Context,
    ) -> Outcome {
        let faults = entry.checked.input_faults(&input);
        if !faults.is_empty() {
            return Err(SkillError::InvalidInput(faults));
        }
        let guarded = AssertUnwindSafe(self.run(&entry, input, &ctx)).catch_unwind();
        // What the panic said went to the log by the panic hook.
        let crashed = |_| Err(SkillError::Crashed(entry.checked.definition.id.clone()));
        let outcome = guarded.await.unwrap_or_else(crashed);
        if let Err(error) = &outcome {
            let skill = &*ctx.skill;
            match error {
                SkillError::Crashed(_) | SkillError::InvalidOutput { .. } => {
                    tracing::error!(skill, %error, "a skill is broken");
                }
                _ => tracing::debug!(skill, %error, "a skill failed"),
            }
        }
        outcome
    }

    async fn run(&self, entry: &Entry, mut input: Value, ctx: &Context) -> Outcome {
        let definition = &entry.checked.definition;
        let mut passed = 0;
        let mut outcome = None;
        let before = Context {
            early: true,
            ..ctx.clone()
        };
        for hook in &self.hooks {
            passed += 1;
            match hook.before(definition, &mut input, &before).await {
                Ok(None) => {}
                Ok(Some(reply)) => outcome = Some(Ok(reply)),
                Err(error) => outcome = Some(Err(error)),
            }
            if outcome.is_some() {
                break;
            }
        }
        let mut outcome = match outcome {
            Some(outcome) => outcome,
            None => entry.handler.run(input, ctx.clone()).await,
        };
        for hook in self.hooks[..passed].iter().rev() {
            outcome = match outcome {
                Ok(reply) => hook.after(definition, reply, ctx).await,
                Err(error) => hook.on_error(definition, error, ctx).await,
            };
        }
        outcome.and_then(|reply| check_output(entry, reply))
    }
}

/// What callers are promised is what they get.
fn check_output(entry: &Entry, reply: Reply<Value>) -> Outcome {
    let Reply::Done(output) = &reply else {
        return Ok(reply);
    };
    let faults = entry.checked.output_faults(output);
    if faults.is_empty() {
        return Ok(reply);
    }
    Err(SkillError::InvalidOutput {
        id: entry.checked.definition.id.clone(),
        faults,
    })
}
