//! `cargo xtask bench mcp`: MCP servers and ours, measured in one run; then ours over ACP beside ours over A2A.
//!
//! - [`scenario`]: what is measured and what we aim at;
//! - [`peer`]: the servers, and how each is installed and started;
//! - [`load`]: the load generator, the same for all servers, in a process of its own.

use std::path::Path;

use super::frame;
use super::load::command;
use super::options::{Accepted, Options};
use super::ours;
use crate::error::Result;
use scenario::BENCH;

pub(crate) mod load;
mod peer;
mod scenario;

const ACCEPTED: Accepted = Accepted {
    scenarios: &scenario::NAMES,
    flags: &[],
};

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words, ACCEPTED)?;
    let peers = peer::prepare(root)?;
    let program = ours::build_load(root)?;
    let table = BENCH.run(&options, &peers, |scenario, _, server| {
        command(&program, "mcp", scenario.name, server, options.seconds)
    })?;
    BENCH.publish(root, words, &options, &frame::versions(&peers), &table)
}
