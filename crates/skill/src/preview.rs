//! The preview of a call, for the person who is to agree to it.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_core::future::BoxFuture;
use futures_util::FutureExt as _;
use serde_json::Value;

use crate::error::SkillError;
use crate::registry::{Entry, Registry};

/// How long a preview may take. A person waits to be asked.
const TIME: Duration = Duration::from_secs(30);

impl Entry {
    /// What the skill would do with this input; None when it has no more to say than the input does. Nothing is
    /// done. Invalid input, panics and exceeded time give the same errors as in a call.
    ///
    /// To show and to do are two moments: a skill about things that others change, too, lets its input say what
    /// it was shown of them ([`bind`](Self::bind)), and refuses when they have changed.
    pub async fn preview(&self, input: Value) -> Result<Option<String>, SkillError> {
        self.guarded(input, |input| self.handler.preview(input))
            .await
    }

    /// The input with the state it depends on written into it; the input itself where it depends on none.
    pub async fn bind(&self, input: Value) -> Result<Value, SkillError> {
        let bound = self
            .guarded(input.clone(), |input| self.handler.bind(input))
            .await?;
        Ok(bound.unwrap_or(input))
    }

    async fn guarded<T>(
        &self,
        input: Value,
        work: impl FnOnce(Value) -> BoxFuture<'static, Result<Option<T>, SkillError>>,
    ) -> Result<Option<T>, SkillError> {
        let faults = self.checked.input_faults(&input);
        if !faults.is_empty() {
            return Err(SkillError::InvalidInput(faults));
        }
        let guarded = AssertUnwindSafe(async { work(input).await }).catch_unwind();
        let done = tokio::time::timeout(TIME, guarded).await;
        let done = done.map_err(|_| SkillError::TimedOut(TIME))?;
        let crashed = |_| Err(SkillError::Crashed(self.definition().id.clone()));
        done.unwrap_or_else(crashed)
    }
}

impl Registry {
    /// What a skill would do with this input; see [`Entry::preview`].
    pub async fn preview(&self, skill: &str, input: Value) -> Result<Option<String>, SkillError> {
        let entry = self.entry(skill);
        let entry = entry.ok_or_else(|| SkillError::Unknown(skill.to_owned()))?;
        entry.preview(input).await
    }
}
