//! Which operator is asked next: the one that improved most often of late, and now and then another.

use std::collections::BTreeMap;

use crate::operator::Operator;
use crate::random::Random;

/// How fast the past is forgotten with each proposal.
const KEPT: f64 = 0.985;

/// How much an operator gains by being unknown.
const CURIOSITY: f64 = 0.25;

/// Successes and tries of each operator, with older ones counting less.
#[derive(Debug, Default)]
pub(crate) struct Bandit {
    arms: BTreeMap<Operator, (f64, f64)>,
}

impl Bandit {
    pub(crate) fn tell(&mut self, operator: Operator, improved: bool) {
        for (successes, tries) in self.arms.values_mut() {
            *successes *= KEPT;
            *tries *= KEPT;
        }
        let arm = self.arms.entry(operator).or_default();
        arm.0 += f64::from(u8::from(improved));
        arm.1 += 1.0;
    }

    /// The operators in the order in which they should be asked, if the one before has nothing to propose.
    pub(crate) fn order(&self, operators: &[Operator], random: &mut Random) -> Vec<Operator> {
        let total: f64 = self.arms.values().map(|it| it.1).sum();
        let mut ranked: Vec<(f64, Operator)> = operators
            .iter()
            .map(|operator| {
                let (successes, tries) = self.arms.get(operator).copied().unwrap_or_default();
                let rate = (successes + 0.2) / (tries + 1.0);
                let unknown = CURIOSITY * ((total + 1.0).ln() / (tries + 1.0)).sqrt();
                // Equal operators are asked in turns that no order of a list decides.
                (rate + unknown + 0.05 * random.unit(), *operator)
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.into_iter().map(|it| it.1).collect()
    }
}
