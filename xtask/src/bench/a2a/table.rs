//! The result as a table.

use std::fmt::Write;

use super::peer::Peer;
use super::scenario::{FLAT, Scenario, Target};

/// What one measurement of one peer gave.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round {
    pub(super) peer: Peer,
    pub(super) figure: f64,
    pub(super) done: u64,
    pub(super) failed: u64,
}

/// All measurements of one scenario.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) scenario: &'static Scenario,
    pub(super) rounds: Vec<Round>,
}

impl Line {
    /// The middle one of a peer's figures.
    fn median(&self, peer: Peer) -> Option<f64> {
        let mut figures: Vec<f64> = self.of(peer).map(|round| round.figure).collect();
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied()
    }

    /// How many requests failed, of how many.
    fn failures(&self, peer: Peer) -> (u64, u64) {
        let failed = self.of(peer).map(|round| round.failed).sum();
        let done: u64 = self.of(peer).map(|round| round.done).sum();
        (failed, failed + done)
    }

    fn of(&self, peer: Peer) -> impl Iterator<Item = &Round> {
        self.rounds.iter().filter(move |round| round.peer == peer)
    }

    /// Three digits are what such a measurement can tell.
    fn cell(&self, peer: Peer) -> String {
        let mut text = match self.median(peer) {
            None => return String::new(),
            Some(figure) if figure >= 100.0 => format!("{figure:.0}"),
            Some(figure) if figure >= 10.0 => format!("{figure:.1}"),
            Some(figure) => format!("{figure:.2}"),
        };
        if let (failed @ 1.., all) = self.failures(peer) {
            write!(text, " ({failed} of {all} failed)").expect("writing to a String");
        }
        text
    }
}

/// One row for each scenario, one column for each peer that was measured.
pub(super) fn markdown(lines: &[Line]) -> String {
    let measured = |peer: &Peer| lines.iter().any(|line| line.of(*peer).next().is_some());
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
            write!(text, " {} |", line.cell(*peer)).expect("writing to a String");
        }
        let ratio = ratio(line).map_or(String::new(), show);
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
    Some(line.median(Peer::Ours)? / line.median(Peer::Rust)?)
}

fn show(ratio: f64) -> String {
    match ratio > 0.0 && ratio < 0.9 {
        true => format!("1/{:.1}", 1.0 / ratio),
        false => format!("{ratio:.2}x"),
    }
}

/// Whether we reach what we aim at; nothing if what we compare with was not measured. With a
/// request that failed no target is met.
fn meets(line: &Line, lines: &[Line]) -> Option<bool> {
    let ours = line.median(Peer::Ours)?;
    let reached = match line.scenario.target {
        Target::OneIn(parts) => ratio(line)? <= 1.0 / parts,
        Target::Times(factor) => ratio(line)? <= factor,
        Target::AtMost(most) => ours <= most,
        Target::AtLeast(least) => ours >= least,
        Target::FlatFrom(row) => {
            let row = lines.iter().find(|line| line.scenario.name == row)?;
            ours <= row.median(Peer::Ours)? * FLAT
        }
    };
    let (failed, _) = line.failures(Peer::Ours);
    Some(reached && failed == 0)
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
