//! Two traces compared, and a difference as a person wants to read it.

use std::fmt;

use futures_util::future::{join, join_all};
use serde_json::Value;

use crate::run::{Plan, run};
use crate::scenario::Scenario;
use crate::trace::Trace;
use crate::wire::Wire;

/// A run that was not like another one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Difference {
    /// The scenario, ready to be run.
    pub scenario: Scenario,
    /// What makes the two runs different: the wires, or how they were used.
    pub between: (String, String),
    /// The wires that show it.
    pub wires: Vec<Wire>,
    /// The step that gave different results.
    pub step: String,
    /// What was seen there, on both sides.
    pub seen: (Vec<Value>, Vec<Value>),
}

/// That two runs agree, or how they differ.
pub type Verdict = Result<(), Box<Difference>>;

/// Runs a scenario over all wires; each must show what the reference does.
pub async fn agrees_everywhere(scenario: &Scenario) -> Verdict {
    agrees(scenario, &Wire::all()).await
}

/// Runs a scenario over these wires, each against a server of its own, all at the same time.
pub async fn agrees(scenario: &Scenario, wires: &[Wire]) -> Verdict {
    let plans: Vec<Plan> = wires
        .iter()
        .map(|wire| Plan::over(scenario, &[*wire]))
        .collect();
    // Most wires can ask everything, and are compared with one run of the reference.
    let mut references: Vec<Plan> = Vec::new();
    for reference in plans.iter().map(Plan::reference) {
        if !references.contains(&reference) {
            references.push(reference);
        }
    }
    let (expected, traces) = join(
        join_all(references.iter().map(|plan| run(scenario, plan))),
        join_all(plans.iter().map(|plan| run(scenario, plan))),
    )
    .await;
    for ((wire, plan), trace) in wires.iter().zip(&plans).zip(&traces) {
        let mut known = references.iter().zip(&expected);
        let known = known.find(|(reference, _)| **reference == plan.reference());
        let (_, expected) = known.expect("every plan has its reference");
        let between = (Wire::reference().to_string(), wire.to_string());
        same(scenario, expected, trace, between)?;
    }
    Ok(())
}

/// Runs a scenario over wires that change with every step.
pub async fn agrees_mixed(scenario: &Scenario, wires: &[Wire]) -> Verdict {
    let plan = Plan::over(scenario, wires);
    let expected = run(scenario, &plan.reference()).await;
    let mixed = run(scenario, &plan).await;
    let between = (Wire::reference().to_string(), "mixed wires".to_owned());
    same(scenario, &expected, &mixed, between)
}

/// Compares two traces of a scenario, as far as the wires of the second can show them.
pub fn same(
    scenario: &Scenario,
    expected: &Trace,
    found: &Trace,
    between: (String, String),
) -> Verdict {
    let expected = expected.seen_over(found.wires());
    let seen = found.seen_over(found.wires());
    let mut pairs = expected.into_iter().zip(seen).zip(&found.entries);
    match pairs.find(|((expected, seen), _)| expected != seen) {
        None => Ok(()),
        Some((seen, entry)) => Err(Box::new(Difference {
            scenario: scenario.clone(),
            between,
            wires: vec![Wire::reference(), entry.wire],
            step: entry.step.clone(),
            seen,
        })),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (one, other) = &self.between;
        writeln!(f, "{one} and {other} differ at `{}`:", self.step)?;
        for (name, seen) in [(one, &self.seen.0), (other, &self.seen.1)] {
            writeln!(f, "  {name}:")?;
            for value in seen {
                writeln!(f, "    {value}")?;
            }
        }
        let wires: Vec<_> = self.wires.iter().map(Wire::to_string).collect();
        writeln!(
            f,
            "as a scenario, to be run with\n  cargo run -p proof -- run FILE --wires {}\n",
            wires.join(",")
        )?;
        write!(f, "{}", self.scenario)
    }
}
