//! The table holds us against rmcp, or against ourselves in another row.

use super::*;
use crate::bench::rounds::Round;

fn line(name: &str, rounds: &[(Peer, f64, u64)]) -> Line {
    let rounds = rounds.iter().map(|(peer, figure, failed)| Round {
        peer: *peer,
        figure: *figure,
        done: 10,
        failed: *failed,
    });
    Line {
        scenario: Scenario::named(name).unwrap(),
        rounds: Rounds(rounds.collect()),
    }
}

fn check(lines: &[Line], row: &str) {
    let text = markdown(lines);
    let last = text.lines().last().unwrap();
    assert!(last.ends_with(row), "{text}");
}

#[test]
fn a_row_is_held_against_rmcp() {
    let near = line("call", &[(Peer::Rmcp, 100.0, 0), (Peer::Ours, 129.0, 0)]);
    check(
        &[near],
        "| 100 |  | 129 | 1.29x | at most 1.3x rmcp | met |",
    );
    let far = line("call", &[(Peer::Rmcp, 100.0, 0), (Peer::Ours, 131.0, 0)]);
    check(
        &[far],
        "| 100 |  | 131 | 1.31x | at most 1.3x rmcp | missed |",
    );
}

#[test]
fn a_row_is_held_against_another_of_ours() {
    let json = line("json", &[(Peer::Ours, 80.0, 0)]);
    let sse = line("sse", &[(Peer::Rmcp, 10.0, 0), (Peer::Ours, 100.0, 0)]);
    check(
        &[json, sse],
        "| 10.0 |  | 100 | 1.25x | at most 1.5x `json` | met |",
    );
    let alone = line("acp", &[(Peer::Ours, 100.0, 0)]);
    check(&[alone], "|  |  | 100 |  | at most 1.5x `a2a` |  |");
}

#[test]
fn a_call_that_failed_misses_its_target() {
    let fast = line("call", &[(Peer::Rmcp, 100.0, 0), (Peer::Ours, 5.0, 1)]);
    check(
        &[fast],
        "| 5.00 (1 of 11 failed) | 1/20.0 | at most 1.3x rmcp | missed |",
    );
}
