//! The table shows every peer's middle round, what failed, and whether we reach what we aim at.

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
fn compares_the_middle_rounds() {
    use Peer::{Ours, Rust};
    let rounds = [
        (Rust, 90.0, 0),
        (Rust, 80.0, 0),
        (Rust, 300.0, 0),
        (Ours, 30.0, 0),
    ];
    check(
        &[line("echo", &rounds)],
        "| 90.0 | 30.0 | 1/3.0 | at most 1/2 of Rust | met |",
    );
}

#[test]
fn a_fast_server_that_fails_misses_its_target() {
    let rounds = [(Peer::Rust, 90.0, 0), (Peer::Ours, 3.0, 1)];
    check(
        &[line("echo", &rounds)],
        "| 90.0 | 3.00 (1 of 11 failed) | 1/30.0 | at most 1/2 of Rust | missed |",
    );
}

#[test]
fn alone_we_are_held_against_ourselves_only() {
    let sse = line("sse", &[(Peer::Ours, 4.0, 0)]);
    let long = line("sse-1000", &[(Peer::Ours, 8.0, 0)]);
    check(
        &[line("echo", &[(Peer::Ours, 3.0, 0)])],
        "| 3.00 |  | at most 1/2 of Rust |  |",
    );
    check(
        &[sse, long],
        "| 8.00 |  | as `sse`, within 1.15x | missed |",
    );
}

#[test]
fn more_acknowledgements_for_a_commit_are_better() {
    let grouped = line("group-commit", &[(Peer::Ours, 31.5, 0)]);
    check(&[grouped], "| 31.5 |  | at least 16 | met |");
    let single = line("group-commit", &[(Peer::Ours, 1.0, 0)]);
    check(&[single], "| 1.00 |  | at least 16 | missed |");
}
