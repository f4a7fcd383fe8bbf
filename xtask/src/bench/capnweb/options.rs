//! The options of `bench capnweb` and `bench-load`.

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
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (flag, given) = match word.split_once('=') {
                Some((flag, value)) => (flag, Some(value)),
                None => (*word, None),
            };
            let mut value = || {
                given
                    .or_else(|| words.next().copied())
                    .ok_or_else(|| Error::Usage(format!("{flag} needs a value")))
            };
            match flag {
                "--seconds" => options.seconds = number(flag, value()?)?,
                "--rounds" => options.rounds = number(flag, value()?)?,
                "--sessions" => options.sessions = number(flag, value()?)?,
                "--pid" => options.pid = Some(number(flag, value()?)?),
                "--only" => options.only = names(value()?)?,
                "--peers" => options.peers = peers(value()?)?,
                "--write" => options.write = true,
                _ => return Err(Error::Usage(format!("{word} is not an option"))),
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

fn number<T: std::str::FromStr>(flag: &str, text: &str) -> Result<T> {
    text.parse()
        .map_err(|_| Error::Usage(format!("{flag} {text}: not a number")))
}

fn names(text: &str) -> Result<Vec<String>> {
    let known = |name: &str| SCENARIOS.iter().any(|scenario| scenario.name == name);
    text.split(',')
        .map(|name| match known(name) {
            true => Ok(name.to_owned()),
            false => Err(Error::Usage(format!("--only {name}: not a scenario"))),
        })
        .collect()
}

fn peers(text: &str) -> Result<Vec<Peer>> {
    text.split(',')
        .map(|name| {
            let found = Peer::ALL.into_iter().find(|peer| peer.to_string() == name);
            found.ok_or_else(|| Error::Usage(format!("--peers {name}: npm or ours")))
        })
        .collect()
}
