//! The options of `bench transports`.

use super::scenario::Scenario;
use crate::bench::flags::Flags;
use crate::error::{Error, Result};

#[derive(Debug, Clone)]
pub(super) struct Options {
    /// How long each timed measurement lasts, after its warm-up.
    pub(super) seconds: f64,
    pub(super) rounds: usize,
    /// How many follow a task at once.
    pub(super) clients: usize,
    /// Names of scenarios; empty for all.
    only: Vec<String>,
    pub(super) write: bool,
}

impl Options {
    pub(super) fn parse(words: &[&str]) -> Result<Options> {
        let mut options = Options {
            seconds: 3.0,
            rounds: 3,
            clients: 1000,
            only: Vec::new(),
            write: false,
        };
        let known = |name: &str| Scenario::ALL.iter().any(|scenario| scenario.name() == name);
        let mut flags = Flags::new(words);
        while let Some(flag) = flags.advance() {
            match flag {
                "--seconds" => options.seconds = flags.number()?,
                "--rounds" => options.rounds = flags.number()?,
                "--clients" => options.clients = flags.number()?,
                "--only" => options.only = flags.names(known)?,
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

    pub(super) fn wants(&self, scenario: Scenario) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == scenario.name())
    }
}
