//! Generated sequences of operations over every wire, and the report when one fails.

use proof::verdict::{self, Verdict};
use proof::{Plan, Scenario, Wire, random, run};
use proptest::collection::vec;
use proptest::sample::select;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use serde_json::Value;
use tokio::runtime::Runtime;

/// How many sequences are tried; `PROOF_CASES` changes it.
fn cases(usually: u32) -> u32 {
    let given = std::env::var("PROOF_CASES").ok();
    given
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(usually)
}

/// Tries random values until one fails; gives what the smallest does that fails.
fn search<S: Strategy>(cases: u32, strategy: S, check: impl Fn(&S::Value) -> Verdict) -> Verdict {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let found = TestRunner::new(config).run(&strategy, |value| {
        check(&value).map_err(|it| TestCaseError::fail(it.to_string()))
    });
    match found {
        Ok(()) => Ok(()),
        Err(TestError::Fail(_, smallest)) => {
            Err(check(&smallest).expect_err("it failed a moment ago"))
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}

#[test]
fn random_sequences_give_the_same_over_every_wire() {
    let runtime = Runtime::new().unwrap();
    let found = search(cases(24), random::scenario(), |scenario| {
        runtime.block_on(verdict::agrees_everywhere(scenario))
    });
    if let Err(difference) = found {
        panic!("{difference}");
    }
}

#[test]
fn random_sequences_over_random_wires_give_the_same() {
    let runtime = Runtime::new().unwrap();
    let wires = vec(select(Wire::all()), 12);
    let found = search(
        cases(60),
        (random::scenario(), wires),
        |(scenario, wires)| runtime.block_on(verdict::agrees_mixed(scenario, wires)),
    );
    if let Err(difference) = found {
        panic!("{difference}");
    }
}

/// A difference that is planted is found, made small, and printed as something that can be run.
#[test]
fn a_planted_difference_is_shrunk_and_printed_as_a_scenario() {
    let runtime = Runtime::new().unwrap();
    let found = search(200, random::scenario(), |scenario| {
        runtime.block_on(async {
            let expected = run(scenario, &Plan::over(scenario, &[Wire::reference()])).await;
            let mut other = expected.clone();
            // As if a wire lost that an agent refused.
            for value in other.entries.iter_mut().flat_map(|entry| &mut entry.seen) {
                lose_refusals(value);
            }
            let between = ("right".to_owned(), "wrong".to_owned());
            verdict::same(scenario, &expected, &other, between)
        })
    });
    let difference = found.expect_err("the planted difference was not noticed");
    let printed = difference.to_string();
    assert_eq!(difference.scenario.steps.len(), 1, "{printed}");
    let scenario = printed.rsplit("\n\n").next().unwrap();
    assert_eq!(scenario.parse::<Scenario>().unwrap(), difference.scenario);
    assert!(scenario.contains("reject"), "{printed}");
    assert!(
        printed.contains("cargo run -p proof -- run FILE --wires"),
        "{printed}"
    );
}

fn lose_refusals(value: &mut Value) {
    match value {
        Value::String(text) if text == "TASK_STATE_REJECTED" => {
            *text = "TASK_STATE_COMPLETED".to_owned();
        }
        Value::Array(items) => items.iter_mut().for_each(lose_refusals),
        Value::Object(fields) => fields.values_mut().for_each(lose_refusals),
        _ => {}
    }
}
