//! The result as a table.

use std::fmt::Write;

use super::peer::Peer;
use super::scenario::Scenario;

/// The best figure of each peer in one scenario.
#[derive(Debug)]
pub(super) struct Line {
    scenario: &'static Scenario,
    npm: Option<f64>,
    ours: Option<f64>,
}

impl Line {
    pub(super) fn new(scenario: &'static Scenario) -> Line {
        Line {
            scenario,
            npm: None,
            ours: None,
        }
    }

    /// Adds a round. Lower is better in every scenario.
    pub(super) fn add(&mut self, peer: Peer, figure: f64) {
        let best = match peer {
            Peer::Npm => &mut self.npm,
            Peer::Ours => &mut self.ours,
        };
        *best = Some(best.map_or(figure, |best| best.min(figure)));
    }
}

pub(super) fn markdown(lines: &[Line]) -> String {
    let mut text = String::from(
        "| measured | unit | npm | ours | ratio | target | verdict |\n\
         |---|---|---:|---:|---:|---|---|\n",
    );
    for line in lines {
        let Scenario {
            title,
            unit,
            target,
            ..
        } = line.scenario;
        let (ratio, verdict) = match (line.npm, line.ours) {
            (Some(npm), Some(ours)) => {
                let ratio = ours / npm;
                let met = ratio <= target.most();
                (target.show(ratio), if met { "met" } else { "missed" })
            }
            _ => ("".to_owned(), ""),
        };
        let (npm, ours) = (figure(line.npm), figure(line.ours));
        writeln!(
            text,
            "| {title} | {unit} | {npm} | {ours} | {ratio} | {target} | {verdict} |"
        )
        .expect("writing to a String");
    }
    text
}

/// Three digits are what such a measurement can tell.
fn figure(figure: Option<f64>) -> String {
    match figure {
        None => String::new(),
        Some(figure) if figure >= 100.0 => format!("{figure:.0}"),
        Some(figure) if figure >= 10.0 => format!("{figure:.1}"),
        Some(figure) => format!("{figure:.2}"),
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
