//! What a skill is about to do, told to the person who is to agree to it.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::Value;

use crate::error::SkillError;
use crate::registry::Registry;

/// How long a preview may take. A person waits to be asked.
const TIME: Duration = Duration::from_secs(30);

impl Registry {
    /// What a skill would do with this input; None when it has no more to say than the input does. Nothing is
    /// done. Input that is none, panics and slowness come out as the errors they would be in a call.
    ///
    /// To show and to do are two moments: a skill about things that others change, too, lets its input say what
    /// it was shown of them, and refuses when they have changed.
    pub async fn preview(&self, skill: &str, input: Value) -> Result<Option<String>, SkillError> {
        let entry = self.entry(skill);
        let entry = entry.ok_or_else(|| SkillError::Unknown(skill.to_owned()))?;
        let faults = entry.checked.input_faults(&input);
        if !faults.is_empty() {
            return Err(SkillError::InvalidInput(faults));
        }
        let guarded = AssertUnwindSafe(async { entry.handler.preview(input).await }).catch_unwind();
        let shown = tokio::time::timeout(TIME, guarded).await;
        let shown = shown.map_err(|_| SkillError::TimedOut(TIME))?;
        shown.unwrap_or_else(|_| Err(SkillError::Crashed(skill.to_owned())))
    }
}
