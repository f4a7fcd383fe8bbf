//! Results of measurements, round by round, and which round counts.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::process;

/// What one measurement of one peer gave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Round {
    pub(crate) peer: &'static str,
    pub(crate) figure: f64,
    pub(crate) done: u64,
    pub(crate) failed: u64,
}

impl Round {
    /// Runs the load generator, which prints its figures as one line of JSON, and takes this one. A generator that
    /// stops at the first failure counts none.
    pub(crate) fn measure(peer: &'static str, load: &mut Command, field: &str) -> Result<Round> {
        let answer = process::output(load)?;
        let last = answer.lines().last().unwrap_or_default();
        eprintln!("  {peer}: {last}");
        let figures: Value = serde_json::from_str(last)
            .map_err(|error| Error::Answer(format!("{}: {error}", process::line(load))))?;
        let missing = || Error::Answer(format!("no number {field:?} in {last}"));
        let count = |field: &str| figures[field].as_u64().unwrap_or(0);
        Ok(Round {
            peer,
            figure: figures[field].as_f64().ok_or_else(missing)?,
            done: count("done"),
            failed: count("failed"),
        })
    }
}

/// Which round of a peer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    Middle,
    /// The one with the lowest figure.
    Best,
}

/// All measurements of one scenario.
#[derive(Debug)]
pub(crate) struct Rounds(pub(crate) Vec<Round>);

impl Rounds {
    /// Whether this peer was measured.
    pub(crate) fn has(&self, peer: &str) -> bool {
        self.of(peer).next().is_some()
    }

    /// The figure of a peer that counts.
    pub(crate) fn figure(&self, peer: &str, counted: Counted) -> Option<f64> {
        let figures = self.of(peer).map(|round| round.figure);
        match counted {
            Counted::Middle => median(figures.collect()),
            Counted::Best => figures.min_by(f64::total_cmp),
        }
    }

    /// How many requests failed, of how many.
    pub(crate) fn failures(&self, peer: &str) -> (u64, u64) {
        let failed = self.of(peer).map(|round| round.failed).sum();
        let done: u64 = self.of(peer).map(|round| round.done).sum();
        (failed, failed + done)
    }

    /// The figure as a table shows it.
    pub(crate) fn cell(&self, peer: &str, counted: Counted) -> String {
        let Some(figure) = self.figure(peer, counted) else {
            return String::new();
        };
        match self.failures(peer) {
            (0, _) => show(figure),
            (failed, all) => format!("{} ({failed} of {all} failed)", show(figure)),
        }
    }

    fn of(&self, peer: &str) -> impl Iterator<Item = &Round> {
        self.0.iter().filter(move |round| round.peer == peer)
    }
}

/// The middle one of these figures.
pub(crate) fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

/// A figure as a table shows it. Three digits are what such a measurement can tell.
pub(crate) fn show(figure: f64) -> String {
    match figure {
        figure if figure >= 100.0 => format!("{figure:.0}"),
        figure if figure >= 10.0 => format!("{figure:.1}"),
        figure => format!("{figure:.2}"),
    }
}

/// A ratio: less than one as a part, more as a multiple.
pub(crate) fn show_ratio(ratio: f64) -> String {
    match ratio > 0.0 && ratio < 0.9 {
        true => format!("1/{:.1}", 1.0 / ratio),
        false => format!("{ratio:.2}x"),
    }
}

/// The middle one of these times, in microseconds.
pub(crate) fn median_us(mut times: Vec<Duration>) -> Option<f64> {
    times.sort_unstable();
    let median = times.get(times.len() / 2)?;
    Some(round(median.as_secs_f64() * 1e6))
}

pub(crate) fn round(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}
