//! Which flags a bench takes, and what they are without being given.

use super::*;

const ACCEPTED: Accepted = Accepted {
    scenarios: &["echo", "task"],
    flags: &["--tasks"],
};

fn parse(words: &[&str]) -> Result<Options> {
    Options::parse(words, ACCEPTED)
}

#[test]
fn reads_common_flags_and_those_of_the_bench() {
    let options = parse(&["--seconds=1", "--tasks", "7", "--only", "task"]).unwrap();
    assert_eq!(
        (options.seconds, options.tasks, options.rounds),
        (1.0, 7, 3)
    );
    assert!(options.wants("task") && !options.wants("echo"));
    assert!(parse(&[]).unwrap().wants("echo"));
}

#[test]
fn refuses_flags_of_other_benches_and_unknown_scenarios() {
    assert!(parse(&["--sessions", "3"]).is_err());
    assert!(parse(&["--only", "idle"]).is_err());
}

#[test]
fn a_part_of_the_scenarios_is_not_written() {
    assert!(parse(&["--write"]).is_ok());
    assert!(parse(&["--write", "--only", "echo"]).is_err());
}
