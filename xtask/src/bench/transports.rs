//! `cargo xtask bench transports`: our A2A server over each of its wires, plain and encrypted, measured in one run.
//!
//! - [`scenario`]: what is measured;
//! - [`wire`]: over what, and the servers;
//! - [`load`]: the programs, of which the load generator is one;
//! - [`table`]: the result as a table, and whether it is what we aim at.
//!
//! Every wire has a server of its own. They take turns, so that a busy moment of the machine hits all, and the middle
//! round of each counts. What is counted and not timed is counted once.

use std::path::Path;

use serde_json::Value;

use super::options::{Accepted, Options};
use super::{document, frame, plot};
use crate::error::{Error, Result};
pub(crate) use load::Programs;
use scenario::{Figure, Scenario};
use table::Results;
use wire::{Served, Wire};

mod load;
mod scenario;
mod table;
mod wire;

const ACCEPTED: Accepted = Accepted {
    scenarios: &Scenario::NAMES,
    flags: &["--clients"],
};

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words, ACCEPTED)?;
    let programs = Programs::build(root)?;
    let servers = wire::start_all(&programs)?;
    let mut results = Results::default();
    for scenario in Scenario::ALL {
        if !options.wants(scenario.name()) {
            continue;
        }
        eprintln!("measuring {}: {}", scenario.name(), scenario.title());
        let rounds = if scenario.is_timed() {
            options.rounds
        } else {
            1
        };
        for _ in 0..rounds {
            for Served { wire, server, url } in &servers {
                let (figures, processor) =
                    programs.run(&scenario.words(*wire, url, &options), server)?;
                eprintln!("  {wire}: {figures}");
                note(&mut results, scenario, *wire, &figures, processor)?;
            }
        }
    }
    let machine = frame::machine();
    let text = format!(
        "{}\n{}",
        table::markdown(&results),
        table::verdicts(&results)
    );
    println!("{text}\n{machine}.");
    if options.write {
        let command = format!("cargo xtask bench transports {}", words.join(" "));
        let mut section = format!(
            "Measured with `{}`; {machine}.\n\n{text}\n",
            command.trim_end()
        );
        for figure in Figure::PLOTTED {
            let name = format!("transports-{}.svg", figure.name());
            let picture = plot::bars(figure.title(), &results.bars(figure));
            document::put(root, &format!("plots/{name}"), &picture)?;
            section.push_str(&format!("![{}](plots/{name})\n", figure.title()));
        }
        document::write(root, "transports", &section)?;
    }
    match table::is_whole(&results) {
        true => Ok(()),
        false => Err(Error::Found("events were lost or doubled".to_owned())),
    }
}

/// Keeps what a measurement has told.
fn note(
    results: &mut Results,
    scenario: Scenario,
    wire: Wire,
    told: &Value,
    processor: u64,
) -> Result<()> {
    for figure in scenario.figures() {
        let source = figure.source();
        let (scenario::Source::Field(field) | scenario::Source::ProcessorPer(field)) = source;
        // What says nothing about a wire is left out.
        if told.get(field).is_some_and(Value::is_null) {
            continue;
        }
        let number = told[field].as_f64();
        let number =
            number.ok_or_else(|| Error::Answer(format!("no number {field:?} in {told}")))?;
        let figured = match source {
            scenario::Source::Field(_) => number,
            scenario::Source::ProcessorPer(_) => processor as f64 / 1e3 / number.max(1.0),
        };
        results.add(wire, *figure, figured);
    }
    Ok(())
}
