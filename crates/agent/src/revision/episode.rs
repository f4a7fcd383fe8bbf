//! The score of an episode: a request from its message to its answer, by what can be observed of it.

use crate::event::End;
use crate::law::Law;

/// What can be observed of an episode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Facts {
    pub(crate) end: End,
    /// Calls that a person rejected, and calls that a person made with another input.
    pub(crate) rejected: u32,
    pub(crate) corrected: u32,
    /// What was to be believed and contradicts what is held.
    pub(crate) contradictions: u32,
    pub(crate) tokens: u64,
    /// How long the agent worked; 0 if it waited for a person.
    pub(crate) millis: i64,
}

/// The tokens and the milliseconds that cost what the law says.
const TOKENS: f64 = 200_000.0;
const MILLIS: f64 = 600_000.0;

impl Facts {
    /// From 0 to 1, higher is better. The weights are frozen, so that no proposal changes what it is judged by.
    pub(crate) fn score(&self, law: &Law) -> f64 {
        let costs = &law.frozen;
        let done = match self.end {
            End::Answered => 1.0,
            End::Refused | End::NotApproved | End::Cancelled => 0.5,
            End::Failed => 0.0,
        };
        let part = |amount: f64, whole: f64| (amount / whole).clamp(0.0, 1.0);
        #[expect(
            clippy::cast_precision_loss,
            reason = "tokens and milliseconds of a request are far below 2^52"
        )]
        let (tokens, millis) = (self.tokens as f64, self.millis as f64);
        let cost = f64::from(self.contradictions) * costs.contradiction_cost
            + f64::from(self.rejected) * costs.rejection_cost
            + f64::from(self.corrected) * costs.correction_cost
            + part(tokens, TOKENS) * costs.token_cost
            + part(millis, MILLIS) * costs.time_cost;
        (done - cost).clamp(0.0, 1.0)
    }
}
