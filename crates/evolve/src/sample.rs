//! What an evaluation says of a candidate.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The most bytes of one artifact that are kept, and how many artifacts.
const ARTIFACT: usize = 32 << 10;
const ARTIFACTS: usize = 16;

/// The most metrics that are kept.
const METRICS: usize = 64;

/// One evaluation of a candidate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// None if the candidate is invalid: it failed, took too long, or its result is no finite number.
    pub score: Option<f64>,
    /// How many stages of the evaluator it passed before the one that gave the score.
    #[serde(default)]
    pub stage: u8,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// Why it is invalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub artifacts: BTreeMap<String, String>,
    pub seconds: f64,
}

impl Sample {
    pub fn invalid(reason: impl Into<String>) -> Self {
        let mut reason = reason.into();
        reason.truncate(reason.floor_char_boundary(2_000));
        Self {
            reason: Some(reason),
            ..Self::default()
        }
    }

    /// Cuts what an evaluator may have made too large.
    pub(crate) fn bounded(mut self) -> Self {
        while self.metrics.len() > METRICS {
            self.metrics.pop_last();
        }
        while self.artifacts.len() > ARTIFACTS {
            self.artifacts.pop_last();
        }
        for artifact in self.artifacts.values_mut() {
            artifact.truncate(artifact.floor_char_boundary(ARTIFACT));
        }
        if self.score.is_some_and(|it| !it.is_finite()) {
            self.score = None;
            self.reason = Some("the score is not a finite number".to_owned());
        }
        self.metrics.retain(|_, it| it.is_finite());
        self
    }

    pub fn fitness(&self) -> Fitness {
        match self.score {
            Some(score) => Fitness::Valid {
                stage: self.stage,
                score,
            },
            None => Fitness::Invalid,
        }
    }
}

/// How good a candidate is: valid first, then stages, then the score, of which more is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fitness {
    Invalid,
    Valid { stage: u8, score: f64 },
}

impl Fitness {
    /// The mean of several samples of one candidate: one that is invalid makes it invalid.
    pub(crate) fn mean(samples: &[Sample]) -> Self {
        let mut sum = 0.0;
        let mut least = u8::MAX;
        for sample in samples {
            match sample.fitness() {
                Self::Invalid => return Self::Invalid,
                Self::Valid { stage, score } => {
                    sum += score;
                    least = least.min(stage);
                }
            }
        }
        match samples.is_empty() {
            true => Self::Invalid,
            false => Self::Valid {
                stage: least,
                score: sum / crate::random::real(samples.len()),
            },
        }
    }

    pub fn score(self) -> Option<f64> {
        match self {
            Self::Invalid => None,
            Self::Valid { score, .. } => Some(score),
        }
    }

    /// One number for searches that need one: any stage is worth more than all scores of the one before.
    pub(crate) fn number(self) -> f64 {
        match self {
            Self::Invalid => f64::MIN,
            Self::Valid { stage, score } => f64::from(stage) * 1e9 + score,
        }
    }

    pub fn compare(self, other: Self) -> Ordering {
        self.number().total_cmp(&other.number())
    }

    pub(crate) fn is_above(self, other: Self) -> bool {
        self.compare(other) == Ordering::Greater
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_is_never_better_than_valid_and_a_stage_counts_more_than_a_score() {
        let valid = |stage, score| {
            Sample {
                stage,
                score: Some(score),
                ..Sample::default()
            }
            .fitness()
        };
        assert!(valid(0, -1e300).is_above(Sample::invalid("no").fitness()));
        assert!(valid(1, 0.1).is_above(valid(0, 0.9)));
        for broken in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let sample = Sample {
                score: Some(broken),
                ..Sample::default()
            }
            .bounded();
            assert_eq!(sample.fitness(), Fitness::Invalid);
        }
    }
}
