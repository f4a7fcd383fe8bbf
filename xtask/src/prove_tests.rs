//! The table says what the tests said, and nothing better.

use std::collections::BTreeMap;

use super::table::{BINDINGS, LAWS, REQUIREMENTS};
use super::{Verdicts, document, verdict};

#[test]
fn reads_what_a_test_said() {
    let name = "r03_streaming::grpc".to_owned();
    assert_eq!(
        verdict("test r03_streaming::grpc ... ok"),
        Some((name.clone(), true))
    );
    assert_eq!(
        verdict("test r03_streaming::grpc ... FAILED"),
        Some((name, false))
    );
    assert_eq!(verdict("test result: ok. 3 passed"), None);
}

#[test]
fn two_tests_of_one_name_must_both_pass() {
    let mut verdicts = Verdicts::default();
    for line in [
        "running 3 tests",
        "test r03_streaming::grpc ... ok",
        "test r03_streaming::grpc ... FAILED",
        "test r03_streaming::grpc ... ok",
    ] {
        verdicts.add(line);
    }
    assert_eq!(
        verdicts.failed().collect::<Vec<_>>(),
        ["r03_streaming::grpc"]
    );
}

#[test]
fn numbers_all_requirements_in_order() {
    let numbers: Vec<_> = REQUIREMENTS.iter().map(|it| it.number()).collect();
    let expected: Vec<_> = (1..=14).map(|number| format!("r{number}")).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn a_cell_that_fails_or_was_not_run_is_shown_as_that() {
    let failed = REQUIREMENTS[2].test("grpc");
    let shown = document(&Verdicts(BTreeMap::from([(failed.clone(), false)])));
    assert!(
        shown.contains(&format!("`{failed}` | **FAILS**")),
        "{shown}"
    );
    // Each cell is shown twice: at one glance, and with its evidence.
    let missing = 2 * (REQUIREMENTS.len() * BINDINGS.len() - 1) + LAWS.len();
    assert_eq!(shown.matches("**MISSING**").count(), missing);
}
