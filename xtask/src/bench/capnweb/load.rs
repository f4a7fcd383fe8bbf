//! The raw load generator: one scenario against one server, in a process of its own.
//!
//! It speaks frames, not calls, so that no client library stands between the server and its
//! figure. Whatever has arrived is answered in one write, so a faster server gets more load and
//! never waits for us; both servers are driven by the same code.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use super::ACCEPTED;
use crate::bench::load::{self, BenchTarget, WARM_UP};
use crate::bench::options::Options;
use crate::bench::rounds::round;
use crate::bench::server::Server;
use crate::bench::usage::ProcessorTime;
use crate::error::Result;
use crate::process;
use call::Writes;

mod active;
mod batch;
mod bytes;
mod call;
mod callbacks;
mod idle;
mod map;
mod message;
mod socket;

/// Work that can be kept up for as long as wanted.
trait Load {
    /// Keeps the server busy until `end`, waits for the answers still due, and returns how many
    /// operations were done.
    fn run(&mut self, end: Instant) -> Result<u64>;
}

/// The command that measures one server. It opens many connections.
pub(super) fn command(
    program: &Path,
    scenario: &str,
    server: &Server,
    options: &Options,
) -> Command {
    let mut command = process::with_many_files(program);
    load::tell(&mut command, "capnweb", scenario, server, options.seconds);
    command.args(["--sessions", &options.sessions.to_string()]);
    command
}

/// Runs one scenario and prints its figures as one line of JSON.
pub(crate) fn run(scenario: &str, url: &str, words: &[&str]) -> Result<()> {
    let options = Options::parse(words, ACCEPTED)?;
    let BenchTarget { address, pid } = BenchTarget::new(url, options.pid)?;
    let mut load: Box<dyn Load> = match scenario {
        "call" => Box::new(call::Calls::open(&address, Writes::Together)?),
        "frames" => Box::new(call::Calls::open(&address, Writes::FrameByFrame)?),
        "batch" => Box::new(batch::Batches::open(&address)?),
        "callbacks" => Box::new(callbacks::Callbacks::open(&address)?),
        "bytes" => Box::new(bytes::Echoes::open(&address)?),
        "map" => Box::new(map::Maps::open(&address)?),
        "active" => Box::new(active::Turns::open(&address)?),
        "idle" => return idle::measure(&address, pid, options.sessions),
        "crowd" => return idle::measure(&address, pid, idle::CROWD),
        other => return Err(load::unknown(other)),
    };
    load.run(Instant::now() + WARM_UP)?;
    let me = std::process::id();
    let (server_before, load_before) = (ProcessorTime::read(pid)?, ProcessorTime::read(me)?);
    let started = Instant::now();
    let operations = load.run(started + Duration::from_secs_f64(options.seconds))?;
    let seconds = started.elapsed().as_secs_f64();
    let server = ProcessorTime::read(pid)?.since(&server_before);
    let load = ProcessorTime::read(me)?.since(&load_before);
    let micros_per_operation = |nanos: u64| round(nanos as f64 / 1e3 / operations as f64);
    println!(
        "{}",
        json!({
            "operations": operations,
            "operations_per_s": round(operations as f64 / seconds),
            "server_cpu_us_per_op": micros_per_operation(server),
            "load_cpu_us_per_op": micros_per_operation(load),
            "server_cores": round(server as f64 / 1e9 / seconds),
        })
    );
    Ok(())
}
