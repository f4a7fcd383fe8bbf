//! The options of a bench and of its load generator: `--flag value` or `--flag=value`.

use super::flags::Flags;
use crate::error::{Error, Result};

/// Flags that every bench accepts. `--pid` is for its load generator.
const COMMON: [&str; 5] = ["--seconds", "--rounds", "--only", "--pid", "--write"];

/// What a bench accepts besides the common flags.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Accepted {
    /// The names that `--only` accepts.
    pub(crate) scenarios: &'static [&'static str],
    /// Some of `--tasks`, `--sessions`, `--clients`, `--peers`.
    pub(crate) flags: &'static [&'static str],
}

#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// How long each timed measurement lasts, after its warm-up.
    pub(crate) seconds: f64,
    /// How many measurements are made of each peer.
    pub(crate) rounds: usize,
    /// How many tasks are made before memory is read.
    pub(crate) tasks: u64,
    /// How many idle sessions are opened.
    pub(crate) sessions: usize,
    /// How many clients follow a task at once.
    pub(crate) clients: usize,
    /// What was said about the peers: a folder for `a2a`, names for `capnweb`.
    pub(crate) peers: Option<String>,
    /// The server's process id, for the load generator.
    pub(crate) pid: Option<u32>,
    /// The table goes into `docs/benchmarks.md`.
    pub(crate) write: bool,
    /// Names of scenarios; empty for all.
    only: Vec<String>,
}

impl Options {
    /// Reads the flags that a bench accepts. `--write` needs a run of all scenarios.
    pub(crate) fn parse(words: &[&str], accepted: Accepted) -> Result<Options> {
        let mut options = Options {
            seconds: 3.0,
            rounds: 3,
            tasks: 100_000,
            sessions: 5000,
            clients: 1000,
            peers: None,
            pid: None,
            write: false,
            only: Vec::new(),
        };
        let known = |name: &str| accepted.scenarios.contains(&name);
        let mut flags = Flags::new(words);
        while let Some(flag) = flags.advance() {
            if !COMMON.contains(&flag) && !accepted.flags.contains(&flag) {
                return Err(flags.unknown());
            }
            match flag {
                "--seconds" => options.seconds = flags.number()?,
                "--rounds" => options.rounds = flags.number()?,
                "--only" => options.only = flags.names(known)?,
                "--pid" => options.pid = Some(flags.number()?),
                "--write" => options.write = true,
                "--tasks" => options.tasks = flags.number()?,
                "--sessions" => options.sessions = flags.number()?,
                "--clients" => options.clients = flags.number()?,
                "--peers" => options.peers = Some(flags.value()?.to_owned()),
                _ => return Err(flags.unknown()),
            }
        }
        match options.write && !options.only.is_empty() {
            true => Err(incomplete("without --only")),
            false => Ok(options),
        }
    }

    /// Whether a scenario is to be measured.
    pub(crate) fn wants(&self, scenario: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == scenario)
    }
}

/// The error for a `--write` that would write a table with gaps.
pub(crate) fn incomplete(how: &str) -> Error {
    Error::Usage(format!("--write takes a whole run: {how}"))
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
