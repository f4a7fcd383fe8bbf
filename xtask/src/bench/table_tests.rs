//! The table shows the round of each peer that counts, what failed, and whether we reach what we aim at.

use super::*;
use crate::bench::rounds::Round;

const REFERENCE: &str = "Rust";

fn line(name: &'static str, target: Target, rounds: &[(&'static str, f64, u64)]) -> Line {
    let rounds = rounds.iter().map(|(peer, figure, failed)| Round {
        peer,
        figure: *figure,
        done: 10,
        failed: *failed,
    });
    Line {
        name,
        title: name,
        unit: "us",
        target: Some(target),
        rounds: Rounds(rounds.collect()),
    }
}

fn check(counted: Counted, lines: Vec<Line>, row: &str) {
    let table = Table {
        columns: vec![REFERENCE, "js", OURS],
        reference: REFERENCE,
        counted,
        lines,
    };
    let text = table.markdown();
    let last = text.lines().last().unwrap();
    assert!(last.ends_with(row), "{text}");
}

#[test]
fn compares_the_middle_rounds() {
    let rounds = [
        (REFERENCE, 90.0, 0),
        (REFERENCE, 80.0, 0),
        (REFERENCE, 300.0, 0),
        (OURS, 30.0, 0),
    ];
    check(
        Counted::Middle,
        vec![line("echo", Target::OneIn(2.0), &rounds)],
        "| echo | us | 90.0 | 30.0 | 1/3.0 | at most 1/2 of Rust | met |",
    );
}

#[test]
fn compares_the_best_rounds_where_those_count() {
    let rounds = [
        (REFERENCE, 50.0, 0),
        (REFERENCE, 42.0, 0),
        (REFERENCE, 44.0, 0),
        (OURS, 4.2, 0),
    ];
    check(
        Counted::Best,
        vec![line("call", Target::OneIn(6.0), &rounds)],
        "| 42.0 | 4.20 | 1/10.0 | at most 1/6 of Rust | met |",
    );
}

#[test]
fn a_row_is_held_against_the_reference() {
    let row = |ours| {
        line(
            "call",
            Target::Times(1.3),
            &[(REFERENCE, 100.0, 0), (OURS, ours, 0)],
        )
    };
    let near = "| 100 | 129 | 1.29x | at most 1.3x Rust | met |";
    check(Counted::Middle, vec![row(129.0)], near);
    let far = "| 100 | 131 | 1.31x | at most 1.3x Rust | missed |";
    check(Counted::Middle, vec![row(131.0)], far);
}

#[test]
fn a_fast_server_that_fails_misses_its_target() {
    let rounds = [(REFERENCE, 90.0, 0), (OURS, 3.0, 1)];
    check(
        Counted::Middle,
        vec![line("echo", Target::OneIn(2.0), &rounds)],
        "| 90.0 | 3.00 (1 of 11 failed) | 1/30.0 | at most 1/2 of Rust | missed |",
    );
}

#[test]
fn alone_we_are_held_against_ourselves_only() {
    let alone = line("echo", Target::OneIn(2.0), &[(OURS, 3.0, 0)]);
    check(
        Counted::Middle,
        vec![alone],
        "| 3.00 |  | at most 1/2 of Rust |  |",
    );
    let json = line("json", Target::AtMost(100.0), &[(OURS, 80.0, 0)]);
    let sse = line(
        "sse",
        Target::TimesRow("json", 1.5),
        &[(REFERENCE, 10.0, 0), (OURS, 100.0, 0)],
    );
    check(
        Counted::Middle,
        vec![json, sse],
        "| 10.0 | 100 | 1.25x | at most 1.5x `json` | met |",
    );
    let without_it = line("sse", Target::TimesRow("json", 1.5), &[(OURS, 100.0, 0)]);
    check(
        Counted::Middle,
        vec![without_it],
        "| 100 |  | at most 1.5x `json` |  |",
    );
}

#[test]
fn more_is_better_where_the_target_is_a_least() {
    let row = |ours| line("group-commit", Target::AtLeast(16.0), &[(OURS, ours, 0)]);
    check(
        Counted::Middle,
        vec![row(31.5)],
        "| 31.5 |  | at least 16 | met |",
    );
    check(
        Counted::Middle,
        vec![row(1.0)],
        "| 1.00 |  | at least 16 | missed |",
    );
}
