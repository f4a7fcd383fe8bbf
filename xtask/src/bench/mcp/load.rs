//! The load generator: one scenario against one server, in a process of its own.
//!
//! All its clients live on one thread. A thread for each would have to be woken for each answer,
//! by the server and at its cost.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::ACCEPTED;
use super::scenario::{BENCH, Setup, Work};
use crate::bench::load::{self, BenchTarget, WARM_UP};
use crate::bench::options::Options;
use crate::bench::rounds::{median_us, round};
use crate::bench::usage::ProcessorTime;
use crate::error::Result;
use caller::Caller;

mod caller;

/// Runs one scenario and prints its figures as one line of JSON.
pub(crate) fn run(scenario: &str, url: &str, words: &[&str]) -> Result<()> {
    let options = Options::parse(words, ACCEPTED)?;
    let known = BENCH.scenario(scenario);
    let scenario = known.ok_or_else(|| load::unknown(scenario))?;
    let place = BenchTarget::new(url, options.pid)?;
    load::print(measure(&scenario.work, &place, options.seconds))
}

/// What came of all calls.
#[derive(Debug, Default)]
struct Totals {
    times: Vec<Duration>,
    failed: u64,
    /// Why the first one failed.
    failure: Option<String>,
}

/// Keeps the server busy and tells what that cost it.
async fn measure(setup: &Setup, place: &BenchTarget, seconds: f64) -> Result<Value> {
    let BenchTarget { address, pid } = place;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let run = now.unwrap_or_default().as_nanos();
    let mut callers = Vec::new();
    for number in 0..setup.connections {
        callers.push(Caller::open(address, format!("{run:x}-{number}"), setup.work).await?);
    }
    let (callers, _) = keep_calling(callers, Instant::now() + WARM_UP).await;
    let before = ProcessorTime::read(*pid)?;
    let started = Instant::now();
    let end = started + Duration::from_secs_f64(seconds);
    let (_, totals) = keep_calling(callers, end).await;
    let seconds = started.elapsed().as_secs_f64();
    let server = ProcessorTime::read(*pid)?.since(&before) as f64;
    let done = totals.times.len();
    Ok(json!({
        "done": done,
        "failed": totals.failed,
        "failure": totals.failure,
        "calls_per_s": round(done as f64 / seconds),
        "call_p50_us": median_us(totals.times),
        "server_cpu_us_per_call": round(server / 1e3 / done as f64),
        "server_cores": round(server / 1e9 / seconds),
    }))
}

/// Lets every client call, one call after the other. Answers that are due at the end are still waited for.
async fn keep_calling(callers: Vec<Caller>, end: Instant) -> (Vec<Caller>, Totals) {
    let mut jobs = JoinSet::new();
    for mut caller in callers {
        jobs.spawn(async move {
            let mut totals = Totals::default();
            while Instant::now() < end {
                let started = Instant::now();
                match caller.call().await {
                    Ok(()) => totals.times.push(started.elapsed()),
                    Err(error) => {
                        totals.failed += 1;
                        totals.failure.get_or_insert_with(|| error.to_string());
                    }
                }
            }
            (caller, totals)
        });
    }
    let (mut callers, mut sum) = (Vec::new(), Totals::default());
    for (caller, mut totals) in jobs.join_all().await {
        callers.push(caller);
        sum.times.append(&mut totals.times);
        sum.failed += totals.failed;
        sum.failure = sum.failure.or(totals.failure);
    }
    (callers, sum)
}
