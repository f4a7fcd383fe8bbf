//! The load generator: one scenario against one server, in a process of its own.
//!
//! All its clients live on one thread. A thread for each would have to be woken for each answer,
//! by the server and at its cost.
//!
//! - [`caller`]: one client, which checks every answer;
//! - [`crowd`]: many of them, each with one request in flight;
//! - [`counters`]: what our server has committed.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::ACCEPTED;
use super::scenario::{BENCH, Figure, Setup};
use crate::bench::address::Address;
use crate::bench::load::{self, BenchTarget, WARM_UP};
use crate::bench::options::Options;
use crate::bench::rounds::{median_us, round};
use crate::bench::server::Server;
use crate::bench::usage::{ProcessorTime, resident_kb};
use crate::error::Result;
use counters::Counters;
use crowd::{Crowd, Totals, Until};

mod caller;
mod counters;
mod crowd;

/// How long the server may tidy up before its memory is read.
const SETTLE: Duration = Duration::from_millis(1500);

/// How many of the tasks are read again.
const SAMPLE: usize = 5000;

/// The command that measures one server.
pub(super) fn command(
    program: &Path,
    scenario: &str,
    server: &Server,
    options: &Options,
) -> Command {
    let mut command = load::command(program, "a2a", scenario, server, options.seconds);
    command.args(["--tasks", &options.tasks.to_string()]);
    command
}

/// Runs one scenario and prints its figures as one line of JSON.
pub(crate) fn run(scenario: &str, url: &str, words: &[&str]) -> Result<()> {
    let options = Options::parse(words, ACCEPTED)?;
    let known = BENCH.scenario(scenario);
    let scenario = known.ok_or_else(|| load::unknown(scenario))?;
    let place = BenchTarget::new(url, options.pid)?;
    load::print(measure(&scenario.work, &place, &options))
}

async fn measure(setup: &Setup, place: &BenchTarget, options: &Options) -> Result<Value> {
    let BenchTarget { address, pid } = place;
    match setup.figure {
        Figure::Memory => memory(setup, address, *pid, options.tasks).await,
        Figure::RequestsPerCommit | Figure::CommitsPerRequest => {
            commits(setup, address, options.seconds).await
        }
        Figure::ProcessorPerRequest | Figure::ProcessorPerEvent | Figure::FirstEvent => {
            speed(setup, address, *pid, options.seconds).await
        }
    }
}

/// Keeps the server busy and tells what that cost it.
async fn speed(setup: &Setup, address: &Address, pid: u32, seconds: f64) -> Result<Value> {
    let mut crowd = Crowd::open(address, setup.connections)?;
    crowd
        .run(setup.work, Until::Time(Instant::now() + WARM_UP))
        .await;
    let before = ProcessorTime::read(pid)?;
    let started = Instant::now();
    let end = started + Duration::from_secs_f64(seconds);
    let totals = crowd.run(setup.work, Until::Time(end)).await;
    let seconds = started.elapsed().as_secs_f64();
    let server = ProcessorTime::read(pid)?.since(&before);
    let micros = |count: u64| json!(round(server as f64 / 1e3 / count as f64));
    let mut figures = counts(&totals);
    figures["requests_per_s"] = json!(round(totals.done as f64 / seconds));
    figures["request_p50_us"] = json!(median_us(totals.times));
    figures["first_event_p50_us"] = json!(median_us(totals.first_events));
    figures["server_cpu_us_per_request"] = micros(totals.done);
    figures["server_cpu_us_per_event"] = micros(totals.events);
    figures["server_cores"] = json!(round(server as f64 / 1e9 / seconds));
    Ok(figures)
}

/// Keeps the server busy and tells how often it committed.
async fn commits(setup: &Setup, address: &Address, seconds: f64) -> Result<Value> {
    let mut crowd = Crowd::open(address, setup.connections)?;
    crowd
        .run(setup.work, Until::Time(Instant::now() + WARM_UP))
        .await;
    let before = Counters::read(address).await?;
    let started = Instant::now();
    let end = started + Duration::from_secs_f64(seconds);
    let totals = crowd.run(setup.work, Until::Time(end)).await;
    let seconds = started.elapsed().as_secs_f64();
    let counted = Counters::read(address).await?.since(&before);
    let done = totals.done as f64;
    let mut figures = counts(&totals);
    figures["requests_per_s"] = json!(round(done / seconds));
    figures["request_p50_us"] = json!(median_us(totals.times));
    figures["commits"] = json!(counted.commits);
    figures["batches_per_commit"] = json!(round(counted.batches as f64 / counted.commits as f64));
    figures["events_per_commit"] = json!(round(counted.events as f64 / counted.commits as f64));
    figures["requests_per_commit"] = json!(round(done / counted.commits as f64));
    figures["commits_per_request"] = json!(round(counted.commits as f64 / done));
    Ok(figures)
}

/// Makes many tasks, reads some of them again, and tells how much memory the server has taken.
async fn memory(setup: &Setup, address: &Address, pid: u32, tasks: u64) -> Result<Value> {
    let mut crowd = Crowd::open(address, setup.connections)?;
    let before = resident_kb(pid)?;
    let started = Instant::now();
    let mut totals = crowd.run(setup.work, Until::Requests(tasks)).await;
    let seconds = started.elapsed().as_secs_f64();
    let step = totals.tasks.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<&str> = totals
        .tasks
        .iter()
        .step_by(step)
        .map(String::as_str)
        .collect();
    let read = crowd.read(&sample).await;
    sleep(SETTLE).await;
    let after = resident_kb(pid)?;
    // A task that cannot be read again is as bad as one that could not be made.
    totals.failed += read.failed;
    totals.failure = totals.failure.or(read.failure);
    let mut figures = counts(&totals);
    figures["requests_per_s"] = json!(round(totals.done as f64 / seconds));
    figures["read_again"] = json!(read.done);
    figures["resident_mb_before"] = json!(round(before / 1024.0));
    figures["resident_mb"] = json!(round(after / 1024.0));
    Ok(figures)
}

/// What every kind of figure comes with.
fn counts(totals: &Totals) -> Value {
    json!({
        "done": totals.done,
        "failed": totals.failed,
        "failure": totals.failure,
        "events": totals.events,
    })
}
