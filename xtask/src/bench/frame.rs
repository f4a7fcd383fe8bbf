//! The frame of the benches that hold our server against others: scenarios, peers, rounds by turns.
//!
//! Each scenario gets fresh servers. The peers take turns, so that a busy moment of the machine hits all of them. A
//! bench says what is measured ([`Scenario`]), what is measured beside us ([`Peer`]), and how its load generator is
//! called; everything else is here, in [`table`](super::table) and in [`options`](super::options).

use std::path::Path;
use std::process::Command;

use super::document;
use super::options::Options;
use super::rounds::{Counted, Round, Rounds};
use super::server::Server;
use super::table::{Line, Table, Target};
use crate::error::Result;
use crate::process;

/// The name of our own column.
pub(crate) const OURS: &str = "ours";

/// A bench that compares servers. `W` is what its load generator and its servers have to know of a scenario.
#[derive(Debug)]
pub(crate) struct Bench<W: 'static> {
    pub(crate) name: &'static str,
    /// The peer that targets are relative to.
    pub(crate) reference: &'static str,
    pub(crate) counted: Counted,
    pub(crate) scenarios: &'static [Scenario<W>],
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Scenario<W> {
    /// The word for `--only`.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// The field of the load generator's answer that holds the figure.
    pub(crate) field: &'static str,
    pub(crate) unit: &'static str,
    /// The columns: peers that are measured in this scenario.
    pub(crate) peers: &'static [&'static str],
    pub(crate) target: Option<Target>,
    pub(crate) repeat: Repeat,
    pub(crate) work: W,
}

/// The names of scenarios, for `--only`.
pub(crate) const fn names<W, const N: usize>(scenarios: &[Scenario<W>; N]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = scenarios[at].name;
        at += 1;
    }
    names
}

/// How a scenario is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// On the same servers, as often as `--rounds` says.
    SameServer,
    /// On fresh servers each time: what the first round left in memory would hide what the second takes.
    FreshServer,
    /// Once. It takes long, and one result of so many requests says enough.
    Never,
}

/// A server that is measured: a column of the table.
pub(crate) struct Peer<W> {
    pub(crate) name: &'static str,
    /// What was measured, with its version. Ours needs none.
    pub(crate) version: Option<String>,
    pub(crate) start: Start<W>,
}

/// Starts a server for a scenario.
type Start<W> = Box<dyn Fn(&W) -> Result<Server>>;

impl<W> Bench<W> {
    pub(crate) fn scenario(&self, name: &str) -> Option<&'static Scenario<W>> {
        self.scenarios.iter().find(|scenario| scenario.name == name)
    }

    /// Measures every wanted scenario on every peer that takes part. `load` is the command that measures one server.
    pub(crate) fn run(
        &self,
        options: &Options,
        peers: &[Peer<W>],
        load: impl Fn(&Scenario<W>, &Peer<W>, &Server) -> Command,
    ) -> Result<Table> {
        let mut lines = Vec::new();
        for scenario in self.scenarios {
            if !options.wants(scenario.name) {
                continue;
            }
            eprintln!("measuring {}: {}", scenario.name, scenario.title);
            lines.push(Line {
                name: scenario.name,
                title: scenario.title,
                unit: scenario.unit,
                target: scenario.target,
                rounds: measure(scenario, options, peers, &load)?,
            });
        }
        Ok(Table {
            columns: peers.iter().map(|peer| peer.name).collect(),
            reference: self.reference,
            counted: self.counted,
            lines,
        })
    }

    /// Prints a table; `--write` puts it into `docs/benchmarks.md` as well, with the command that measured it.
    pub(crate) fn publish(
        &self,
        root: &Path,
        words: &[&str],
        options: &Options,
        versions: &str,
        table: &Table,
    ) -> Result<()> {
        let text = table.markdown();
        println!("{text}\n{versions}");
        if !options.write {
            return Ok(());
        }
        let command = format!("cargo xtask bench {} {}", self.name, words.join(" "));
        let command = command.trim_end();
        let section = format!("Measured with `{command}`.\n{versions}\n\n{text}");
        document::write(root, self.name, &section)
    }
}

fn measure<W>(
    scenario: &Scenario<W>,
    options: &Options,
    peers: &[Peer<W>],
    load: &impl Fn(&Scenario<W>, &Peer<W>, &Server) -> Command,
) -> Result<Rounds> {
    let peers = peers.iter();
    let peers: Vec<&Peer<W>> = peers
        .filter(|peer| scenario.peers.contains(&peer.name))
        .collect();
    let start = || -> Result<Vec<Server>> {
        peers
            .iter()
            .map(|peer| (peer.start)(&scenario.work))
            .collect()
    };
    let mut servers = start()?;
    let rounds = match scenario.repeat {
        Repeat::Never => 1,
        Repeat::SameServer | Repeat::FreshServer => options.rounds,
    };
    let mut measured = Vec::new();
    for round in 0..rounds {
        if round > 0 && scenario.repeat == Repeat::FreshServer {
            servers = start()?;
        }
        for (peer, server) in peers.iter().zip(&servers) {
            let mut load = load(scenario, peer, server);
            measured.push(Round::measure(peer.name, &mut load, scenario.field)?);
        }
    }
    Ok(Rounds(measured))
}

/// One line that says what was measured: versions of the peers, how ours was built, the machine.
pub(crate) fn versions<W>(peers: &[Peer<W>]) -> String {
    let versions = peers.iter().filter_map(|peer| {
        let version = peer.version.as_ref()?;
        Some(format!("{}: {version}", peer.name))
    });
    versions.chain([machine()]).collect::<Vec<_>>().join("; ") + "."
}

/// How our programs were built, and on how many cores they run.
pub(crate) fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let profile = process::MEASURED_PROFILE;
    format!("ours: built with --profile {profile}; {cores} cores")
}
