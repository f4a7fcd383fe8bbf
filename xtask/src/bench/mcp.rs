//! `cargo xtask bench mcp`: MCP servers and ours, measured in one run; then ours over ACP beside ours over A2A.
//!
//! - [`scenario`]: what is measured and what we aim at;
//! - [`peer`]: who is measured, and how each is got and started;
//! - [`load`]: the load generator, the same for all servers, in a process of its own;
//! - [`table`]: the result as a table.
//!
//! Each scenario gets fresh servers. They take turns, so that a busy moment of the machine hits
//! all, and the middle round of each counts.

use std::path::Path;

use super::document;
use super::rounds::{Round, Rounds};
use crate::error::Result;
use options::Options;
use peer::Programs;
use scenario::{SCENARIOS, Scenario};
use table::Line;

pub(crate) mod load;
mod options;
mod peer;
mod scenario;
mod table;

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let programs = Programs::prepare(root)?;
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
        let command = format!("cargo xtask bench mcp --seconds {seconds} --rounds {rounds}");
        let section = format!("Measured with `{command} --write`.\n{versions}\n\n{text}");
        document::write(root, "mcp", &section)?;
    }
    Ok(())
}

/// Measures one scenario on everyone who takes part, by turns.
fn measure(scenario: &'static Scenario, programs: &Programs, options: &Options) -> Result<Line> {
    let mut rounds = Vec::new();
    let servers = programs.start(scenario)?;
    for _ in 0..options.rounds {
        for (peer, server) in &servers {
            let mut load = load::command(&programs.load, scenario, server, options);
            rounds.push(Round::measure(*peer, &mut load, scenario.figure.field())?);
        }
    }
    let rounds = Rounds(rounds);
    Ok(Line { scenario, rounds })
}
