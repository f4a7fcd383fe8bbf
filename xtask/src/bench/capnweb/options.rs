//! The options of `bench capnweb` and `bench-load`.

use super::super::flags::Flags;
use super::peer::Peer;
use super::scenario::{SCENARIOS, Scenario};
use crate::error::{Error, Result};

#[derive(Debug, Clone)]
pub(super) struct Options {
    /// How long each measurement lasts, after its warm-up.
    pub(super) seconds: f64,
    pub(super) rounds: usize,
    /// How many idle sessions to open.
    pub(super) sessions: usize,
    /// Names of scenarios; empty for all.
    pub(super) only: Vec<String>,
    pub(super) peers: Vec<Peer>,
    /// The server's process id, for the load generator.
    pub(super) pid: Option<u32>,
    pub(super) write: bool,
}

impl Options {
    pub(super) fn parse(words: &[&str]) -> Result<Options> {
        let mut options = Options {
            seconds: 3.0,
            rounds: 3,
            sessions: 5000,
            only: Vec::new(),
            peers: Peer::ALL.to_vec(),
            pid: None,
            write: false,
        };
        let mut flags = Flags::new(words);
        while let Some(flag) = flags.advance() {
            match flag {
                "--seconds" => options.seconds = flags.number()?,
                "--rounds" => options.rounds = flags.number()?,
                "--sessions" => options.sessions = flags.number()?,
                "--pid" => options.pid = Some(flags.number()?),
                "--only" => options.only = flags.names(known)?,
                "--peers" => options.peers = peers(flags.value()?)?,
                "--write" => options.write = true,
                _ => return Err(flags.unknown()),
            }
        }
        let partial = !options.only.is_empty() || options.peers.len() < Peer::ALL.len();
        if options.write && partial {
            let text = "--write takes a whole run, without --only and --peers";
            return Err(Error::Usage(text.to_owned()));
        }
        Ok(options)
    }

    pub(super) fn wants(&self, scenario: &Scenario) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == scenario.name)
    }
}

fn known(name: &str) -> bool {
    SCENARIOS.iter().any(|scenario| scenario.name == name)
}

fn peers(text: &str) -> Result<Vec<Peer>> {
    text.split(',')
        .map(|name| {
            let found = Peer::ALL.into_iter().find(|peer| peer.to_string() == name);
            found.ok_or_else(|| Error::Usage(format!("--peers {name}: npm or ours")))
        })
        .collect()
}
