//! `cargo xtask bench capnweb`: npm capnweb and our crate, measured in one run.
//!
//! - [`scenario`]: what is measured and which ratio we aim at;
//! - [`peer`]: the two servers and the two clients;
//! - [`load`]: the raw load generator, the same for both servers, in a process of its own.

use std::path::Path;

use super::frame::{self, OURS};
use super::options::{Accepted, Options, incomplete};
use super::ours;
use crate::error::{Error, Result};
use scenario::{BENCH, Measure, NPM};

pub(crate) mod load;
mod peer;
mod scenario;

const ACCEPTED: Accepted = Accepted {
    scenarios: &scenario::NAMES,
    flags: &["--peers", "--sessions"],
};

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words, ACCEPTED)?;
    let wanted: Vec<&str> = match &options.peers {
        None => vec![NPM, OURS],
        Some(_) if options.write => return Err(incomplete("without --peers")),
        Some(names) => names.split(',').collect(),
    };
    if let Some(name) = wanted.iter().find(|name| ![NPM, OURS].contains(name)) {
        return Err(Error::Usage(format!("--peers {name}: npm or ours")));
    }
    let clients = peer::Clients::prepare(root)?;
    let mut peers = peer::prepare(root, &clients)?;
    peers.retain(|peer| wanted.contains(&peer.name));
    let program = ours::build_load(root)?;
    let table = BENCH.run(&options, &peers, |scenario, peer, server| {
        match scenario.work {
            Measure::Latency => clients.command(peer.name, server, options.seconds),
            Measure::Processor | Measure::Memory => {
                load::command(&program, scenario.name, server, &options)
            }
        }
    })?;
    BENCH.publish(root, words, &options, &frame::versions(&peers), &table)
}
