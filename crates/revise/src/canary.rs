//! Whether what was adopted does worse than what it replaced.

use serde::{Deserialize, Serialize};

use crate::statistics::{mean, rank_sum};

/// The fewest episodes of a canary that are compared.
const FEWEST: usize = 5;

/// The probability of a false alarm in one comparison.
const LEVEL: f64 = 0.01;

/// A fall of the scores after an adoption.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fall {
    /// The mean score before the adoption.
    pub before: f64,
    /// The mean score of the canary so far.
    pub since: f64,
}

/// Compares the scores before an adoption with those since. Episodes are not the same before and after, so they cannot be
/// paired as in a trial.
///
/// After each episode from the fifth on, a fall that is hardly by chance ends the canary at once. At its end any fall of the
/// mean beyond the tolerance does: to undo a change that does no good costs less than to keep one that does harm.
pub(crate) fn fall(before: &[f64], since: &[f64], is_over: bool, tolerance: f64) -> Option<Fall> {
    if before.is_empty() || since.is_empty() {
        return None;
    }
    let fall = Fall {
        before: mean(before),
        since: mean(since),
    };
    let falls = fall.since < fall.before - tolerance;
    let is_clear = || since.len() >= FEWEST && rank_sum(before, since) <= LEVEL;
    (falls && (is_over || is_clear())).then_some(fall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clear_fall_is_seen_before_the_end_and_a_small_one_at_the_end() {
        let before = [1.0; 10];
        assert_eq!(fall(&before, &[0.0; 4], false, 0.05), None);
        assert!(fall(&before, &[0.0; 5], false, 0.05).is_some());
        let slightly = [1.0, 1.0, 1.0, 0.5, 1.0, 1.0, 0.7, 1.0];
        assert_eq!(fall(&before, &slightly, false, 0.05), None);
        assert!(fall(&before, &slightly, true, 0.05).is_some());
        assert_eq!(fall(&before, &[1.0; 8], true, 0.05), None);
    }

    #[test]
    fn without_episodes_before_there_is_nothing_to_fall_from() {
        assert_eq!(fall(&[], &[0.0; 8], true, 0.0), None);
    }
}
