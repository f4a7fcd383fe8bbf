//! The result as a table.

use std::fmt::Write;

use super::peer::Peer;
use super::scenario::{FLAT, Scenario, Target};
use crate::bench::rounds::{Rounds, show_ratio};

/// All measurements of one scenario.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) scenario: &'static Scenario,
    pub(super) rounds: Rounds<Peer>,
}

/// One row for each scenario, one column for each peer that was measured.
pub(super) fn markdown(lines: &[Line]) -> String {
    let measured = |peer: &Peer| lines.iter().any(|line| line.rounds.has(*peer));
    let peers: Vec<Peer> = Peer::ALL.into_iter().filter(measured).collect();
    let mut text = String::from("| measured | unit |");
    for peer in &peers {
        write!(text, " {peer} |").expect("writing to a String");
    }
    text.push_str(" ours / Rust | target | verdict |\n|---|---|");
    text.push_str(&"---:|".repeat(peers.len()));
    text.push_str("---:|---|---|\n");
    for line in lines {
        let Scenario {
            title,
            figure,
            target,
            ..
        } = line.scenario;
        write!(text, "| {title} | {} |", figure.unit()).expect("writing to a String");
        for peer in &peers {
            write!(text, " {} |", line.rounds.cell(*peer)).expect("writing to a String");
        }
        let ratio = ratio(line).map_or(String::new(), show_ratio);
        let verdict = match meets(line, lines) {
            None => "",
            Some(true) => "met",
            Some(false) => "missed",
        };
        writeln!(text, " {ratio} | {target} | {verdict} |").expect("writing to a String");
    }
    text
}

/// Our figure as a part of official Rust's.
fn ratio(line: &Line) -> Option<f64> {
    Some(line.rounds.median(Peer::Ours)? / line.rounds.median(Peer::Rust)?)
}

/// Whether we reach what we aim at; nothing if what we compare with was not measured. With a
/// request that failed no target is met.
fn meets(line: &Line, lines: &[Line]) -> Option<bool> {
    let ours = line.rounds.median(Peer::Ours)?;
    let reached = match line.scenario.target {
        Target::OneIn(parts) => ratio(line)? <= 1.0 / parts,
        Target::Times(factor) => ratio(line)? <= factor,
        Target::AtMost(most) => ours <= most,
        Target::AtLeast(least) => ours >= least,
        Target::FlatFrom(row) => {
            let row = lines.iter().find(|line| line.scenario.name == row)?;
            ours <= row.rounds.median(Peer::Ours)? * FLAT
        }
    };
    let (failed, _) = line.rounds.failures(Peer::Ours);
    Some(reached && failed == 0)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
