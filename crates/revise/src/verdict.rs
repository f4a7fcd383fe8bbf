//! Whether a candidate is better: the only place that says so.

use serde::{Deserialize, Serialize};

use crate::statistics::{bootstrap, fewest_signs, mean, real, sign_test};

/// A quantity that versions are compared by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// The name that people are shown.
    pub name: String,
    pub better: Direction,
    /// How much worse the mean may become while another objective gains.
    pub tolerance: f64,
}

/// Which values of an objective are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    Higher,
    Lower,
}

/// One episode, input or seed, measured twice: under the version in force and under the candidate. Each has a value for each
/// objective, in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    pub baseline: Vec<f64>,
    pub candidate: Vec<f64>,
}

/// What a trial has measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub pairs: Vec<Pair>,
    /// Episodes in which the candidate would have acted otherwise, so that its outcome is not known. They are counted, never
    /// guessed.
    pub diverged: usize,
    /// How many questions were put to this held-out set before.
    pub asked_before: u32,
}

/// How much evidence is enough.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// The probability of calling a candidate better that is not. It is divided among the objectives.
    pub level: f64,
    /// Below this number of pairs the sign test is used, from it on the bootstrap interval of the mean.
    pub many: usize,
    /// The largest share of episodes with an unknown outcome.
    pub diverged: f64,
    /// How many questions a held-out set answers before it is worn out.
    pub questions: u32,
    /// The seed of the bootstrap.
    pub seed: u64,
    /// Whether it confirms an earlier trial. Then it is enough that nothing speaks against the candidate.
    pub confirms: bool,
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            level: 0.05,
            many: 30,
            diverged: 0.5,
            questions: 50,
            seed: 1,
            confirms: false,
        }
    }
}

/// What a trial says of a candidate. Differences are positive where the candidate is better.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Better in one objective, and in none worse than its tolerance.
    Better {
        objective: String,
        /// The mean of the differences.
        by: f64,
        /// The interval of that mean; with few pairs the smallest and the largest difference.
        interval: (f64, f64),
    },
    /// Neither better nor worse beyond noise. `by` is the largest mean of differences among the objectives.
    NotBetter { by: f64 },
    /// Worse in this objective, beyond its tolerance.
    Worse { objective: String, by: f64 },
    /// All differences speak for the candidate, and there are too few of them.
    TooFew { have: usize, need: usize },
    /// In too many episodes the outcome is not known: in a large share of them, or in all where the candidate makes a difference.
    Diverged { share: f64 },
    /// The held-out set has answered too many questions.
    WornOut { questions: u32 },
}

/// Compares the version in force with a candidate.
///
/// Few pairs are compared by the sign test, which supposes nothing about how differences are distributed; many by a
/// bootstrap interval of their mean, which also sees how large they are. Every objective must keep its tolerance; one must
/// be better at the level of the rule, divided by the number of objectives, because with many objectives one would be
/// better by chance.
pub fn verdict(rule: &Rule, objectives: &[Objective], evidence: &Evidence) -> Verdict {
    if evidence.asked_before >= rule.questions {
        return Verdict::WornOut {
            questions: evidence.asked_before,
        };
    }
    let all = evidence.pairs.len() + evidence.diverged;
    let share = real(evidence.diverged) / real(all.max(1));
    if share > rule.diverged {
        return Verdict::Diverged { share };
    }
    let level = rule.level / real(objectives.len().max(1));
    let compared: Vec<Comparison<'_>> = objectives
        .iter()
        .enumerate()
        .map(|(index, objective)| {
            Comparison::new(objective, &differences(index, objective, evidence))
        })
        .collect();
    if let Some(worst) = compared.iter().find(|it| it.mean < -it.objective.tolerance) {
        return Verdict::Worse {
            objective: worst.objective.name.clone(),
            by: worst.mean,
        };
    }
    let is_many = evidence.pairs.len() >= rule.many;
    for it in &compared {
        let interval = match is_many {
            true => bootstrap(&it.differences, level, rule.seed),
            false => it.range(),
        };
        let is_better = match is_many {
            true => interval.0 > 0.0,
            false => it.mean > 0.0 && sign_test(it.gains, it.gains + it.losses) <= level,
        };
        if is_better {
            return Verdict::Better {
                objective: it.objective.name.clone(),
                by: it.mean,
                interval,
            };
        }
    }
    let need = fewest_signs(level);
    let is_same = compared.iter().all(|it| it.gains + it.losses == 0);
    if is_same && !rule.confirms {
        // What is known is the same: all that the candidate changes is in what is not known, or was not seen yet.
        if evidence.diverged > 0 {
            return Verdict::Diverged { share };
        }
        if evidence.pairs.len() < need {
            return Verdict::TooFew { have: 0, need };
        }
    }
    let promising = |it: &&Comparison<'_>| it.gains > 0 && it.losses == 0 && it.gains < need;
    if !is_many && let Some(it) = compared.iter().find(promising) {
        return Verdict::TooFew {
            have: it.gains,
            need,
        };
    }
    if evidence.pairs.is_empty() {
        return Verdict::TooFew { have: 0, need };
    }
    Verdict::NotBetter {
        by: compared.iter().map(|it| it.mean).fold(f64::MIN, f64::max),
    }
}

/// The differences in one objective.
struct Comparison<'a> {
    objective: &'a Objective,
    differences: Vec<f64>,
    mean: f64,
    gains: usize,
    losses: usize,
}

impl<'a> Comparison<'a> {
    fn new(objective: &'a Objective, differences: &[f64]) -> Self {
        let count = |is: fn(f64) -> bool| differences.iter().filter(|it| is(**it)).count();
        Self {
            objective,
            mean: mean(differences),
            gains: count(|it| it > 0.0),
            losses: count(|it| it < 0.0),
            differences: differences.to_vec(),
        }
    }

    fn range(&self) -> (f64, f64) {
        let smallest = self.differences.iter().copied().fold(f64::MAX, f64::min);
        let largest = self.differences.iter().copied().fold(f64::MIN, f64::max);
        (smallest, largest)
    }
}

/// Candidate minus baseline in each pair, positive where the candidate is better. A value that is missing or not a number is
/// the worst that there is: an invalid candidate is never better than a valid one.
fn differences(index: usize, objective: &Objective, evidence: &Evidence) -> Vec<f64> {
    let value = |values: &[f64]| values.get(index).copied().filter(|it| it.is_finite());
    let difference = |pair: &Pair| match (value(&pair.baseline), value(&pair.candidate)) {
        (Some(baseline), Some(candidate)) => match objective.better {
            Direction::Higher => candidate - baseline,
            Direction::Lower => baseline - candidate,
        },
        (Some(_), None) => -INVALID,
        (None, Some(_)) => INVALID,
        (None, None) => 0.0,
    };
    evidence.pairs.iter().map(difference).collect()
}

/// The difference between a valid and an invalid value: large, and finite so that means stay numbers.
const INVALID: f64 = 1e9;

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
