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
