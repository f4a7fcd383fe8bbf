//! The options of `bench mcp` and of its load generator.

use super::super::flags::Flags;
use super::scenario::Scenario;
use crate::error::{Error, Result};

#[derive(Debug, Clone)]
pub(super) struct Options {
    /// How long each measurement lasts, after its warm-up.
    pub(super) seconds: f64,
    pub(super) rounds: usize,
    /// Names of scenarios; empty for all.
    only: Vec<String>,
    /// The server's process id, for the load generator.
    pub(super) pid: Option<u32>,
    pub(super) write: bool,
}

impl Options {
    pub(super) fn parse(words: &[&str]) -> Result<Options> {
        let mut options = Options {
            seconds: 3.0,
            rounds: 3,
            only: Vec::new(),
            pid: None,
            write: false,
        };
        let mut flags = Flags::new(words);
        while let Some(flag) = flags.advance() {
            match flag {
                "--seconds" => options.seconds = flags.number()?,
                "--rounds" => options.rounds = flags.number()?,
                "--only" => options.only = flags.names(|name| Scenario::named(name).is_some())?,
                "--pid" => options.pid = Some(flags.number()?),
                "--write" => options.write = true,
                _ => return Err(flags.unknown()),
            }
        }
        if options.write && !options.only.is_empty() {
            let text = "--write takes a whole run: without --only";
            return Err(Error::Usage(text.to_owned()));
        }
        Ok(options)
    }

    pub(super) fn wants(&self, scenario: &Scenario) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == scenario.name)
    }
}
