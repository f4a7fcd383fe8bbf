//! `cargo xtask bench capnweb`: npm capnweb and our crate, measured in one run.
//!
//! - [`scenario`]: what is measured and which ratio we aim at;
//! - [`peer`]: the two servers and the two clients;
//! - [`load`]: the raw load generator, the same for both servers, in a process of its own;
//! - [`table`]: the result as a table.
//!
//! Each scenario gets fresh servers. The peers take turns, so that a busy moment of the machine
//! hits both, and the best round of each counts.

use std::path::Path;

use serde_json::Value;

use super::document;
use crate::error::{Error, Result};
use crate::process;
use options::Options;
use peer::{Peer, Programs, Server};
use scenario::{Measure, SCENARIOS, Scenario};
use table::Line;

pub(crate) mod load;
mod options;
mod peer;
mod scenario;
mod table;

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let programs = Programs::prepare(root, &options.peers)?;
    let mut lines = Vec::new();
    for scenario in SCENARIOS.iter().filter(|scenario| options.wants(scenario)) {
        eprintln!("measuring {}: {}", scenario.name, scenario.title);
        lines.push(measure(scenario, &programs, &options)?);
    }
    let text = table::markdown(&lines);
    let versions = programs.versions();
    println!("{text}\n{versions}");
    if options.write {
        let command = format!("cargo xtask bench capnweb {}", words.join(" "));
        let command = command.trim_end();
        let section = format!("Measured with `{command}`.\n{versions}\n\n{text}");
        document::write(root, "capnweb", &section)?;
    }
    Ok(())
}

/// Measures one scenario on every wanted peer, by turns, and keeps the best of each.
fn measure(scenario: &'static Scenario, programs: &Programs, options: &Options) -> Result<Line> {
    let mut line = Line::new(scenario);
    let mut servers = Vec::new();
    for peer in &options.peers {
        servers.push((*peer, programs.start_server(*peer)?));
    }
    for round in 0..options.rounds {
        for (peer, server) in &mut servers {
            // Memory that a first round left behind would hide what the second one takes.
            if scenario.measure == Measure::Memory && round > 0 {
                *server = programs.start_server(*peer)?;
            }
            let figure = measure_once(scenario, *peer, server, programs, options)?;
            eprintln!("  {peer}: {figure:.2} {}", scenario.unit);
            line.add(*peer, figure);
        }
    }
    Ok(line)
}

fn measure_once(
    scenario: &Scenario,
    peer: Peer,
    server: &Server,
    programs: &Programs,
    options: &Options,
) -> Result<f64> {
    let mut command = match scenario.measure {
        Measure::Latency => programs.client(peer, server, options.seconds),
        Measure::Processor | Measure::Memory => {
            load::command(programs.load(), scenario.name, server, options)
        }
    };
    let answer = process::output(&mut command)?;
    let last = answer.lines().last().unwrap_or_default();
    let figures: Value = serde_json::from_str(last)
        .map_err(|error| Error::Answer(format!("{}: {error}", process::line(&command))))?;
    let field = scenario.measure.field();
    figures[field]
        .as_f64()
        .ok_or_else(|| Error::Answer(format!("no number {field:?} in {last}")))
}
