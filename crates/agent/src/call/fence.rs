//! The fence around every call of a skill: its input is checked, its time is limited, its panics end
//! here, its output is what it says, and hooks see it pass.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use a2a::trace::{Kind, Span};
use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use serde_json::Value;

use skill::{Context, Definition, Entry, Outcome, Reply, SkillError};

use super::state::CallState;
use crate::gate::Gate;
use crate::manifest::SkillNeeds;

// A crash that ends the process cannot be caught.
#[cfg(not(panic = "unwind"))]
compile_error!("skills are fenced by unwinding: build with panic = \"unwind\"");

/// A hook around calls of skills. `before` runs in the order in which hooks were added, `after` and `on_error` in
/// reverse. The program itself has none; programs that embed an agent add them with `App::hook`.
pub trait Hook: Send + Sync + 'static {
    /// Runs before the skill, with valid input. A returned reply or error replaces the call.
    fn before<'a>(
        &'a self,
        definition: &'a Definition,
        input: &'a mut Value,
        ctx: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Reply<Value>>, SkillError>> {
        let _ = (definition, input, ctx);
        Box::pin(async { Ok(None) })
    }

    /// Runs after the skill succeeded, and may replace the reply.
    fn after<'a>(
        &'a self,
        definition: &'a Definition,
        reply: Reply<Value>,
        ctx: &'a Context,
    ) -> BoxFuture<'a, Outcome> {
        let _ = (definition, ctx);
        Box::pin(async { Ok(reply) })
    }

    /// Runs after the skill failed. It may return another error, or a reply.
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

/// What stands around every call of a skill, from any wire, from the agent or from another skill.
///
/// In this order: the caller may have the skill called (a call that it may not is not performed, and nobody is asked
/// about it); the input is checked against the schema; hooks see the call, each may change the input or answer
/// instead; the law and maybe a person let it pass ([`Gate`]); the skill runs; hooks see the result in the opposite
/// order; the output is checked against the schema. A panic in any of that becomes the error `crashed` of this call
/// alone. The time limit is not in here: the outermost call is limited by its driver, which does not count the time a
/// task waits, and an inner one by [`CallState`].
///
/// The gate comes last before the skill: what a person agrees to is the input that the skill gets, after every hook.
pub(crate) struct Fence {
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
    /// The agent has a law that is asked about every call.
    pub(crate) governed: bool,
    /// The skills that are called without an approval, by the manifest.
    pub(crate) unasked: BTreeSet<String>,
    /// What callers of a skill need where the manifest says so, by the id of the skill.
    pub(crate) needs: BTreeMap<String, SkillNeeds>,
    /// How long a skill may take that does not say so itself.
    pub(crate) time: Duration,
}

impl Fence {
    /// How long this skill may take.
    pub(crate) fn limit(&self, entry: &Entry) -> Duration {
        entry.definition().traits.timeout.unwrap_or(self.time)
    }

    pub(crate) async fn call(
        self: Arc<Self>,
        entry: Arc<Entry>,
        input: Value,
        ctx: Context,
        state: CallState,
    ) -> Outcome {
        self.check(&entry, &ctx)?;
        let faults = entry.input_faults(&input);
        if !faults.is_empty() {
            return Err(SkillError::InvalidInput(faults));
        }
        let mut span = Span::start(Kind::Internal, "skill");
        if span.is_recorded() {
            span.set("monas.skill", entry.definition().id.clone());
        }
        let run = span.within(self.run(&entry, input, &ctx, &state));
        let guarded = AssertUnwindSafe(run).catch_unwind();
        // What the panic said went to the log by the panic hook.
        let crashed = |_| Err(SkillError::Crashed(entry.definition().id.clone()));
        let outcome = guarded.await.unwrap_or_else(crashed);
        if let Err(error) = &outcome {
            span.fail(error);
            let skill = &*entry.definition().id;
            match error {
                SkillError::Crashed(_) | SkillError::InvalidOutput { .. } => {
                    tracing::error!(skill, %error, "a skill panicked, or its output does not fit its schema");
                }
                _ => tracing::debug!(skill, %error, "a skill failed"),
            }
        }
        outcome
    }

    /// Whether the caller that the call is made for has what the skill needs, by the manifest or by its definition.
    fn check(&self, entry: &Entry, ctx: &Context) -> Result<(), SkillError> {
        let definition = entry.definition();
        match self.needs.get(&definition.id) {
            Some(needs) => needs.check(&definition.id, &ctx.caller()),
            None => definition.check(&ctx.caller()),
        }
    }

    async fn run(
        &self,
        entry: &Entry,
        mut input: Value,
        ctx: &Context,
        state: &CallState,
    ) -> Outcome {
        let definition = entry.definition();
        let mut passed = 0;
        let mut outcome = None;
        for hook in &self.hooks {
            passed += 1;
            match hook.before(definition, &mut input, ctx).await {
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
            None => self.gated(entry, input, ctx, state).await,
        };
        for hook in self.hooks[..passed].iter().rev() {
            outcome = match outcome {
                Ok(reply) => hook.after(definition, reply, ctx).await,
                Err(error) => hook.on_error(definition, error, ctx).await,
            };
        }
        outcome.and_then(|reply| entry.check_output(reply))
    }

    /// Runs the skill if the law of the agent, or a person, lets it. The law of a plain agent is empty: only skills that
    /// are marked for approval concern it.
    async fn gated(
        &self,
        entry: &Entry,
        input: Value,
        ctx: &Context,
        state: &CallState,
    ) -> Outcome {
        let definition = entry.definition();
        let gate = Gate {
            agent: state.agent().clone(),
            governed: self.governed,
            unasked: self.unasked.contains(&definition.id),
        };
        if !self.governed {
            let input = match definition.traits.approval {
                true => gate.pass(entry, &input, ctx, state).await?,
                false => input,
            };
            return entry.run(input, ctx.clone()).await;
        }
        let by_name = ctx.scope().is_empty().then(|| input.clone());
        let outcome = match gate.pass(entry, &input, ctx, state).await {
            Ok(input) => entry.run(input, ctx.clone()).await,
            Err(error) => Err(error),
        };
        if let Some(input) = by_name {
            gate.called(definition, input, &outcome, ctx).await?;
        }
        outcome
    }
}
