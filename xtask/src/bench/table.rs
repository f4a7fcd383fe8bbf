//! The result of a bench as a table: a row for each scenario, a column for each peer.

use std::fmt::Write as _;

use super::frame::OURS;
use super::rounds::{Counted, Rounds, show_ratio};

/// Everything that one run measured.
#[derive(Debug)]
pub(crate) struct Table {
    /// Names of peers, ours last.
    pub(crate) columns: Vec<&'static str>,
    /// The peer that targets are relative to.
    pub(crate) reference: &'static str,
    pub(crate) counted: Counted,
    pub(crate) lines: Vec<Line>,
}

/// All measurements of one scenario.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) target: Option<Target>,
    pub(crate) rounds: Rounds,
}

/// What our figure is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target {
    /// At most one part in so many of the reference's figure.
    OneIn(f64),
    /// At most so many times the reference's figure.
    Times(f64),
    AtMost(f64),
    AtLeast(f64),
    /// At most so many times our own figure in another row.
    TimesRow(&'static str, f64),
}

impl Target {
    fn show(self, reference: &str) -> String {
        match self {
            Target::OneIn(parts) => format!("at most 1/{parts} of {reference}"),
            Target::Times(factor) => format!("at most {factor}x {reference}"),
            Target::AtMost(most) => format!("at most {most}"),
            Target::AtLeast(least) => format!("at least {least}"),
            Target::TimesRow(row, factor) => format!("at most {factor}x `{row}`"),
        }
    }
}

impl Table {
    pub(crate) fn markdown(&self) -> String {
        let measured = |peer: &&&str| self.lines.iter().any(|line| line.rounds.has(peer));
        let columns: Vec<&str> = self.columns.iter().filter(measured).copied().collect();
        let mut text = format!(
            "| measured | unit | {} | ratio | target | verdict |\n|---|---|{}---:|---|---|\n",
            columns.join(" | "),
            "---:|".repeat(columns.len())
        );
        for line in &self.lines {
            let cells = columns
                .iter()
                .map(|peer| line.rounds.cell(peer, self.counted));
            let cells: Vec<String> = cells.collect();
            let target = line.target.map(|target| target.show(self.reference));
            let verdict = match self.meets(line) {
                None => "",
                Some(true) => "met",
                Some(false) => "missed",
            };
            writeln!(
                text,
                "| {} | {} | {} | {} | {} | {verdict} |",
                line.title,
                line.unit,
                cells.join(" | "),
                self.ratio(line).map_or_else(String::new, show_ratio),
                target.unwrap_or_default(),
            )
            .expect("writing to a String");
        }
        text
    }

    /// Our figure over the one that it is compared with: the reference's, or our own in another row.
    fn ratio(&self, line: &Line) -> Option<f64> {
        let ours = self.figure(line, OURS)?;
        let other = match line.target {
            Some(Target::TimesRow(row, _)) => {
                let row = self.lines.iter().find(|line| line.name == row)?;
                self.figure(row, OURS)?
            }
            _ => self.figure(line, self.reference)?,
        };
        Some(ours / other)
    }

    /// Whether we reach what we aim at; nothing if what we compare with was not measured. With a request that failed no
    /// target is met.
    fn meets(&self, line: &Line) -> Option<bool> {
        let ours = self.figure(line, OURS)?;
        let reached = match line.target? {
            Target::OneIn(parts) => self.ratio(line)? <= 1.0 / parts,
            Target::Times(factor) | Target::TimesRow(_, factor) => self.ratio(line)? <= factor,
            Target::AtMost(most) => ours <= most,
            Target::AtLeast(least) => ours >= least,
        };
        let (failed, _) = line.rounds.failures(OURS);
        Some(reached && failed == 0)
    }

    fn figure(&self, line: &Line, peer: &str) -> Option<f64> {
        line.rounds.figure(peer, self.counted)
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
