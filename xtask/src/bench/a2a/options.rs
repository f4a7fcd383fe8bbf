//! The options of `bench a2a` and of its load generator.

use std::path::PathBuf;

use super::super::flags::Flags;
use super::scenario::Scenario;
use crate::error::{Error, Result};

#[derive(Debug, Clone)]
pub(super) struct Options {
    /// The folder with the peers; without it only we are measured.
    pub(super) peers: Option<PathBuf>,
    /// How long each measurement lasts, after its warm-up.
    pub(super) seconds: f64,
    pub(super) rounds: usize,
    /// How many tasks are made before memory is read.
    pub(super) tasks: u64,
    /// Names of scenarios; empty for all.
    pub(super) only: Vec<String>,
    /// The server's process id, for the load generator.
    pub(super) pid: Option<u32>,
    pub(super) write: bool,
}

impl Options {
    pub(super) fn parse(words: &[&str]) -> Result<Options> {
        let mut options = Options {
            peers: None,
            seconds: 3.0,
            rounds: 3,
            tasks: 100_000,
            only: Vec::new(),
            pid: None,
            write: false,
        };
        let mut flags = Flags::new(words);
        while let Some(flag) = flags.advance() {
            match flag {
                "--peers" => options.peers = Some(flags.value()?.into()),
                "--seconds" => options.seconds = flags.number()?,
                "--rounds" => options.rounds = flags.number()?,
                "--tasks" => options.tasks = flags.number()?,
                "--only" => {
                    options.only = flags.names(|name| Scenario::named(name).is_some())?;
                }
                "--pid" => options.pid = Some(flags.number()?),
                "--write" => options.write = true,
                _ => return Err(flags.unknown()),
            }
        }
        if options.write && (!options.only.is_empty() || options.peers.is_none()) {
            let text = "--write takes a whole run: with --peers, without --only";
            return Err(Error::Usage(text.to_owned()));
        }
        Ok(options)
    }

    pub(super) fn wants(&self, scenario: &Scenario) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == scenario.name)
    }
}
