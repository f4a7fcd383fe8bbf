//! The result as a table.

use std::fmt::Write;

use super::peer::Peer;
use super::scenario::{Scenario, Target};
use crate::bench::rounds::{Rounds, show_ratio};

/// All measurements of one scenario.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) scenario: &'static Scenario,
    pub(super) rounds: Rounds<Peer>,
}

/// One row for each scenario, one column for each peer.
pub(super) fn markdown(lines: &[Line]) -> String {
    let mut text = String::from("| measured | unit |");
    for peer in Peer::ALL {
        write!(text, " {peer} |").expect("writing to a String");
    }
    text.push_str(" ratio | target | verdict |\n|---|---|");
    text.push_str(&"---:|".repeat(Peer::ALL.len()));
    text.push_str("---:|---|---|\n");
    for line in lines {
        let Scenario {
            title,
            figure,
            target,
            ..
        } = line.scenario;
        write!(text, "| {title} | {} |", figure.unit()).expect("writing to a String");
        for peer in Peer::ALL {
            write!(text, " {} |", line.rounds.cell(peer)).expect("writing to a String");
        }
        let target = target.as_ref().map(Target::to_string);
        let ratio = ratio(line, lines);
        let verdict = match ratio.and_then(|ratio| meets(line, ratio)) {
            None => "",
            Some(true) => "met",
            Some(false) => "missed",
        };
        let ratio = ratio.map_or(String::new(), show_ratio);
        let target = target.unwrap_or_default();
        writeln!(text, " {ratio} | {target} | {verdict} |").expect("writing to a String");
    }
    text
}

/// Our figure over what it is held against; nothing if that was not measured.
fn ratio(line: &Line, lines: &[Line]) -> Option<f64> {
    let ours = line.rounds.median(Peer::Ours)?;
    let other = match line.scenario.target {
        Some(Target::Of(row, _)) => {
            let row = lines.iter().find(|line| line.scenario.name == row)?;
            row.rounds.median(Peer::Ours)?
        }
        _ => line.rounds.median(Peer::Rmcp)?,
    };
    Some(ours / other)
}

/// Whether we reach what we aim at. With a call that failed no target is met.
fn meets(line: &Line, ratio: f64) -> Option<bool> {
    let (Target::OfRmcp(most) | Target::Of(_, most)) = line.scenario.target?;
    let (failed, _) = line.rounds.failures(Peer::Ours);
    Some(ratio <= most && failed == 0)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
