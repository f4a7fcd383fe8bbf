//! What measurements gave, round by round, and what is told of it.

use std::fmt;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::process;

/// What one measurement of one peer gave.
#[derive(Debug, Clone, Copy)]
pub(super) struct Round<P> {
    pub(super) peer: P,
    pub(super) figure: f64,
    pub(super) done: u64,
    pub(super) failed: u64,
}

impl<P: fmt::Display> Round<P> {
    /// Runs the load generator, which prints its figures as one line of JSON, and takes this one.
    pub(super) fn measure(peer: P, load: &mut Command, field: &str) -> Result<Round<P>> {
        let answer = process::output(load)?;
        let last = answer.lines().last().unwrap_or_default();
        eprintln!("  {peer}: {last}");
        let figures: Value = serde_json::from_str(last)
            .map_err(|error| Error::Answer(format!("{}: {error}", process::line(load))))?;
        let missing = |field: &str| Error::Answer(format!("no number {field:?} in {last}"));
        let count = |field: &str| figures[field].as_u64().ok_or_else(|| missing(field));
        Ok(Round {
            peer,
            figure: figures[field].as_f64().ok_or_else(|| missing(field))?,
            done: count("done")?,
            failed: count("failed")?,
        })
    }
}

/// All measurements of one scenario.
#[derive(Debug)]
pub(super) struct Rounds<P>(pub(super) Vec<Round<P>>);

impl<P: Copy + PartialEq> Rounds<P> {
    /// Whether this peer was measured.
    pub(super) fn has(&self, peer: P) -> bool {
        self.of(peer).next().is_some()
    }

    /// The middle one of a peer's figures.
    pub(super) fn median(&self, peer: P) -> Option<f64> {
        let mut figures: Vec<f64> = self.of(peer).map(|round| round.figure).collect();
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied()
    }

    /// How many requests failed, of how many.
    pub(super) fn failures(&self, peer: P) -> (u64, u64) {
        let failed = self.of(peer).map(|round| round.failed).sum();
        let done: u64 = self.of(peer).map(|round| round.done).sum();
        (failed, failed + done)
    }

    /// The middle figure as a table shows it. Three digits are what such a measurement can tell.
    pub(super) fn cell(&self, peer: P) -> String {
        let text = match self.median(peer) {
            None => return String::new(),
            Some(figure) if figure >= 100.0 => format!("{figure:.0}"),
            Some(figure) if figure >= 10.0 => format!("{figure:.1}"),
            Some(figure) => format!("{figure:.2}"),
        };
        match self.failures(peer) {
            (0, _) => text,
            (failed, all) => format!("{text} ({failed} of {all} failed)"),
        }
    }

    fn of(&self, peer: P) -> impl Iterator<Item = &Round<P>> {
        self.0.iter().filter(move |round| round.peer == peer)
    }
}

/// A ratio: a part of something as such, anything else as how often it is that.
pub(super) fn show_ratio(ratio: f64) -> String {
    match ratio > 0.0 && ratio < 0.9 {
        true => format!("1/{:.1}", 1.0 / ratio),
        false => format!("{ratio:.2}x"),
    }
}

/// The middle one of these times, in microseconds.
pub(super) fn median_us(mut times: Vec<Duration>) -> Option<f64> {
    times.sort_unstable();
    let median = times.get(times.len() / 2)?;
    Some(round(median.as_secs_f64() * 1e6))
}

pub(super) fn round(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}
