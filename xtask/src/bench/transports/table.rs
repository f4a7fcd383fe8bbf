//! The result as a table, and whether it is what we aim at.

use std::fmt::Write;

use super::scenario::Figure;
use super::wire::{Binding, Wire};
use crate::bench::plot::Bar;
use crate::bench::rounds;

/// What the measurements told, one after the other.
#[derive(Debug, Default)]
pub(super) struct Results(Vec<(Wire, Figure, f64)>);

impl Results {
    pub(super) fn add(&mut self, wire: Wire, figure: Figure, told: f64) {
        self.0.push((wire, figure, told));
    }

    /// The middle one of the rounds.
    fn median(&self, wire: Wire, figure: Figure) -> Option<f64> {
        let told = self
            .0
            .iter()
            .filter(|(at, what, _)| *at == wire && *what == figure);
        rounds::median(told.map(|(_, _, told)| *told).collect())
    }

    fn plain(&self, binding: Binding, figure: Figure) -> Option<f64> {
        let encrypted = false;
        self.median(Wire { binding, encrypted }, figure)
    }

    fn all(&self, figure: Figure) -> impl Iterator<Item = f64> {
        Wire::all().filter_map(move |wire| self.median(wire, figure))
    }

    /// One bar for each wire.
    pub(super) fn bars(&self, figure: Figure) -> Vec<Bar> {
        let bar = |wire: Wire| {
            let length = self.median(wire, figure)?;
            Some(Bar {
                name: wire.to_string(),
                length,
                text: show(length),
                pale: wire.encrypted,
            })
        };
        Wire::all().filter_map(bar).collect()
    }
}

/// One row for each wire, one column for each figure that was measured.
pub(super) fn markdown(results: &Results) -> String {
    let measured = |figure: &Figure| results.all(*figure).next().is_some();
    let figures: Vec<Figure> = Figure::ALL.into_iter().filter(measured).collect();
    let mut text = String::from("| wire |");
    for figure in &figures {
        write!(text, " {} |", figure.title()).expect("writing to a String");
    }
    text.push_str("\n|---|");
    text.push_str(&"---:|".repeat(figures.len()));
    text.push('\n');
    for wire in Wire::all() {
        write!(text, "| {wire} |").expect("writing to a String");
        for figure in &figures {
            let cell = results.median(wire, *figure).map_or_else(String::new, show);
            write!(text, " {cell} |").expect("writing to a String");
        }
        text.push('\n');
    }
    text
}

/// What we aim at, each with its figures.
pub(super) fn verdicts(results: &Results) -> String {
    let mut text = String::new();
    let met = |met: bool| if met { "met" } else { "missed" };
    let loads = [
        (
            Figure::SharedProcessor,
            1.0,
            "one client with 16 calls at a time",
        ),
        (Figure::Processor, 0.9, "16 connections with one call each"),
    ];
    for (figure, most, load) in loads {
        let processor = |binding| results.plain(binding, figure);
        let both = (processor(Binding::CapnWeb), processor(Binding::JsonRpc));
        if let (Some(ours), Some(other)) = both {
            let ratio = show(ours / other);
            let met = met(ours <= most * other);
            writeln!(
                text,
                "- CPU a call over Cap'n Web, at most {most:.1} of JSON-RPC's, {load}: {ratio} of it, {met}."
            )
            .expect("writing to a String");
        }
    }
    let trips = |binding| results.plain(binding, Figure::RoundTrips);
    if let Some(ours) = trips(Binding::CapnWeb) {
        let others = Binding::ALL
            .into_iter()
            .filter(|binding| *binding != Binding::CapnWeb);
        let two = others.filter_map(trips).all(|trips| trips >= 2.0);
        let met = met(ours <= 1.0 && two);
        writeln!(
            text,
            "- One round trip to send a message and get its task, where the others need two: {met}."
        )
        .expect("writing to a String");
    }
    if let Some(events) = results.all(Figure::Events).reduce(|a, b| a + b) {
        let met = met(is_whole(results));
        writeln!(
            text,
            "- Of {events} events none is lost or doubled when followers are cut off: {met}."
        )
        .expect("writing to a String");
    }
    text
}

/// Whether every follower got every event once.
pub(super) fn is_whole(results: &Results) -> bool {
    let wrong = results
        .all(Figure::Lost)
        .chain(results.all(Figure::Doubled));
    wrong.into_iter().all(|count| count == 0.0)
}

/// A figure as the table shows it; what is counted is shown whole.
fn show(figure: f64) -> String {
    match figure.fract() == 0.0 {
        true => format!("{figure:.0}"),
        false => rounds::show(figure),
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
