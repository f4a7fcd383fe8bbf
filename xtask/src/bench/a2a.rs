//! `cargo xtask bench a2a`: official A2A servers and ours, measured in one run.
//!
//! - [`scenario`]: what is measured and what we aim at;
//! - [`peer`]: the servers, and how each is started;
//! - [`install`]: building and installing the official servers;
//! - [`load`]: the load generator, the same for all servers, in a process of its own.

use std::path::Path;

use super::frame;
use super::options::{Accepted, Options, incomplete};
use super::ours;
use crate::error::Result;
use scenario::BENCH;

mod install;
pub(crate) mod load;
mod peer;
mod scenario;

const ACCEPTED: Accepted = Accepted {
    scenarios: &scenario::NAMES,
    flags: &["--peers", "--tasks"],
};

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words, ACCEPTED)?;
    if options.write && options.peers.is_none() {
        return Err(incomplete("with --peers"));
    }
    let peers = peer::prepare(root, options.peers.as_deref().map(Path::new))?;
    let program = ours::build_load(root)?;
    let table = BENCH.run(&options, &peers, |scenario, _, server| {
        load::command(&program, scenario.name, server, &options)
    })?;
    // The folder of the peers is a path of one machine.
    let words: Vec<&str> = words
        .iter()
        .map(|word| match options.peers.as_deref() {
            Some(peers) if word.contains(peers) => "DIR",
            _ => word,
        })
        .collect();
    BENCH.publish(root, &words, &options, &frame::versions(&peers), &table)
}
