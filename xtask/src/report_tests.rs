//! Counting what `cargo test` prints.

use super::*;

#[test]
fn counts_the_summary_lines_of_cargo_test() {
    let mut tally = Tally::default();
    tally.add_summary("running 3 tests");
    tally.add_summary("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured");
    tally.add_summary("test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured");
    assert_eq!(
        tally,
        Tally {
            passed: 16,
            failed: 2
        }
    );
}

#[test]
fn the_table_has_the_time_of_each_step() {
    let step = |name: &str, tenths: u64, passed, failed| Step {
        name: name.to_owned(),
        time: Duration::from_millis(tenths * 100),
        tally: Tally { passed, failed },
    };
    let steps = [step("format", 12, 1, 0), step("tests", 12_345, 7, 2)];
    assert_eq!(
        table(&steps),
        "     1.2 s  format: 1 passed\n  1234.5 s  tests: 7 passed, 2 failed\n"
    );
}
