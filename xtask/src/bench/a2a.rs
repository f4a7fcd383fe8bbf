//! `cargo xtask bench a2a`: official A2A servers and ours, measured in one run.
//!
//! - [`scenario`]: what is measured and what we aim at;
//! - [`peer`]: who is measured and how each is started;
//! - [`install`]: building and installing the official servers;
//! - [`load`]: the load generator, the same for all servers, in a process of its own;
//! - [`table`]: the result as a table.
//!
//! Each scenario gets fresh servers. They take turns, so that a busy moment of the machine hits
//! all, and the middle round of each counts.

use std::path::Path;

use serde_json::Value;

use super::document;
use super::server::Server;
use crate::error::{Error, Result};
use crate::process;
use options::Options;
use peer::{Peer, Programs};
use scenario::{Figure, SCENARIOS, Scenario};
use table::{Line, Round};

mod install;
pub(crate) mod load;
mod options;
mod peer;
mod scenario;
mod table;

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let programs = Programs::prepare(root, options.peers.as_deref())?;
    let mut lines = Vec::new();
    for scenario in SCENARIOS.iter().filter(|scenario| options.wants(scenario)) {
        eprintln!("measuring {}: {}", scenario.name, scenario.title);
        lines.push(measure(scenario, &programs, &options)?);
    }
    let text = table::markdown(&lines);
    let versions = programs.versions();
    println!("{text}\n{versions}");
    if options.write {
        let Options {
            seconds, rounds, ..
        } = options;
        let command =
            format!("cargo xtask bench a2a --peers DIR --seconds {seconds} --rounds {rounds}");
        let section = format!("Measured with `{command} --write`.\n{versions}\n\n{text}");
        document::write(root, "a2a", &section)?;
    }
    Ok(())
}

/// Measures one scenario on everyone who takes part, by turns.
fn measure(scenario: &'static Scenario, programs: &Programs, options: &Options) -> Result<Line> {
    let mut rounds = Vec::new();
    let servers = programs.start(scenario)?;
    // A second round would find the memory of the first; one of so many tasks says enough.
    let wanted = match scenario.figure {
        Figure::Memory => 1,
        _ => options.rounds,
    };
    for _ in 0..wanted {
        for (peer, server) in &servers {
            rounds.push(measure_once(scenario, *peer, server, programs, options)?);
        }
    }
    Ok(Line { scenario, rounds })
}

fn measure_once(
    scenario: &Scenario,
    peer: Peer,
    server: &Server,
    programs: &Programs,
    options: &Options,
) -> Result<Round> {
    let mut command = load::command(&programs.load, scenario, server, options);
    let answer = process::output(&mut command)?;
    let last = answer.lines().last().unwrap_or_default();
    eprintln!("  {peer}: {last}");
    let figures: Value = serde_json::from_str(last)
        .map_err(|error| Error::Answer(format!("{}: {error}", process::line(&command))))?;
    let missing = |field: &str| Error::Answer(format!("no number {field:?} in {last}"));
    let count = |field: &str| figures[field].as_u64().ok_or_else(|| missing(field));
    let field = scenario.figure.field();
    Ok(Round {
        peer,
        figure: figures[field].as_f64().ok_or_else(|| missing(field))?,
        done: count("done")?,
        failed: count("failed")?,
    })
}
