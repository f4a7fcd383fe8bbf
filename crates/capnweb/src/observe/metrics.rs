//! Counters of sessions and calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use tokio::time::Instant;

use super::labels::{Label, Labels};
use crate::account::Account;
use crate::error::{Error, Result};
use crate::layer::{Call, CallResult, Layer, Next};
use crate::session::Stats;

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;

/// Counts what sessions do, when given to [`Options::metrics`](crate::Options::metrics). Clones count
/// together.
///
/// Numbers are kept here and nowhere else: two servers in one process have two of these, and
/// [`snapshot`](Self::snapshot) reads them without blocking a call.
#[derive(Clone, Debug, Default)]
pub struct Metrics(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    calls: Labels<Counters>,
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    open: FxHashMap<u64, Account>,
    /// How many there have been.
    opened: u64,
}

/// The numbers at one moment. Those of calls that end meanwhile may be of slightly different moments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Sessions that are open.
    pub sessions: usize,
    /// Sessions that have been opened so far.
    pub sessions_opened: u64,
    /// Open sessions that are parked, because they are idle.
    pub sessions_parked: usize,
    /// The sizes of their tables, added up.
    pub tables: Stats,
    /// By what was called, in alphabetical order.
    pub calls: Vec<CallStats>,
}

/// The numbers of calls that bear one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallStats {
    /// The type of the object; `forwarded` when calls were passed on to another session, `other` when there
    /// were too many names to keep.
    pub interface: &'static str,
    /// The method or property; `other` for all that the object's description does not have, and empty when
    /// the object itself was called.
    pub member: String,
    /// Calls that are running.
    pub in_flight: u64,
    /// Calls that gave a result.
    pub succeeded: u64,
    /// Calls that gave an error, refused ones among them.
    pub failed: u64,
    /// Calls that were dropped before they ended.
    pub cancelled: u64,
    /// Roughly the bytes of all arguments.
    pub argument_bytes: u64,
    /// Roughly the bytes of all results.
    pub answer_bytes: u64,
    /// How long all calls took that have ended, one way or another.
    pub time: Duration,
    /// How long the longest of them took.
    pub longest: Duration,
    /// How many took at most so long as [`TIME_BOUNDS`] says, each counted once; the last took longer.
    pub times: [u64; TIME_BOUNDS.len() + 1],
}

/// The bounds by which calls are told apart that took differently long.
pub const TIME_BOUNDS: [Duration; 8] = [
    Duration::from_micros(100),
    Duration::from_millis(1),
    Duration::from_millis(5),
    Duration::from_millis(25),
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_millis(2_500),
    Duration::from_secs(10),
];

#[derive(Debug, Default)]
struct Counters {
    in_flight: AtomicU64,
    succeeded: AtomicU64,
    failed: AtomicU64,
    cancelled: AtomicU64,
    argument_bytes: AtomicU64,
    answer_bytes: AtomicU64,
    nanoseconds: AtomicU64,
    longest: AtomicU64,
    times: [AtomicU64; TIME_BOUNDS.len() + 1],
}

impl Metrics {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn snapshot(&self) -> Snapshot {
        let (open, sessions_opened) = {
            let sessions = self.sessions();
            let open: Vec<_> = sessions.open.values().cloned().collect();
            (open, sessions.opened)
        };
        let open: Vec<_> = open.iter().filter_map(Account::open).collect();
        let mut tables = Stats::default();
        for (stats, _) in &open {
            tables.imports += stats.imports;
            tables.exports += stats.exports;
            tables.pending += stats.pending;
        }
        let labels = self.0.calls.all();
        let mut calls: Vec<_> = labels.iter().map(|label| read(label)).collect();
        calls.retain(|calls| calls.in_flight + calls.ended() > 0);
        calls.sort_by(|one, other| {
            (one.interface, &one.member).cmp(&(other.interface, &other.member))
        });
        Snapshot {
            sessions: open.len(),
            sessions_opened,
            sessions_parked: open.iter().filter(|(_, parked)| *parked).count(),
            tables,
            calls,
        }
    }

    /// Counts a session among the open ones for as long as the answer is held.
    pub(crate) fn register(&self, session: &Account) -> Registered {
        let mut sessions = self.sessions();
        sessions.opened += 1;
        let id = sessions.opened;
        sessions.open.insert(id, session.clone());
        Registered {
            metrics: self.clone(),
            id,
        }
    }

    fn sessions(&self) -> parking_lot::MutexGuard<'_, Sessions> {
        self.0.sessions.lock()
    }
}

impl CallStats {
    /// How many have ended, one way or another.
    pub fn ended(&self) -> u64 {
        self.succeeded + self.failed + self.cancelled
    }
}

/// One open session, until dropped.
#[derive(Debug)]
pub(crate) struct Registered {
    metrics: Metrics,
    id: u64,
}

impl Drop for Registered {
    fn drop(&mut self) {
        let session = self.metrics.sessions().open.remove(&self.id);
        // Dropped without the lock: it may own the last reference to an object of the application.
        drop(session);
    }
}

fn read(label: &Label<Counters>) -> CallStats {
    let counters = &label.kept;
    let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    CallStats {
        interface: label.interface,
        member: label.member.clone(),
        in_flight: number(&counters.in_flight),
        succeeded: number(&counters.succeeded),
        failed: number(&counters.failed),
        cancelled: number(&counters.cancelled),
        argument_bytes: number(&counters.argument_bytes),
        answer_bytes: number(&counters.answer_bytes),
        time: Duration::from_nanos(number(&counters.nanoseconds)),
        longest: Duration::from_nanos(number(&counters.longest)),
        times: counters.times.each_ref().map(number),
    }
}

/// The layer that counts.
#[derive(Debug)]
pub(crate) struct Measuring(pub(crate) Metrics);

impl Layer for Measuring {
    async fn call(&self, call: &Call, next: Next<'_>) -> Result<CallResult> {
        let label = self.0.0.calls.of(call);
        let running = Running::begin(&label.kept, call.argument_bytes());
        let outcome = next.run().await;
        running.end(&outcome);
        outcome
    }
}

/// A call that is being measured. Dropped before its end, it was cancelled.
struct Running<'a> {
    counters: &'a Counters,
    begun: Instant,
    outcome: &'a AtomicU64,
}

impl<'a> Running<'a> {
    fn begin(counters: &'a Counters, argument_bytes: usize) -> Self {
        counters.in_flight.fetch_add(1, Ordering::Relaxed);
        add(&counters.argument_bytes, argument_bytes as u64);
        Self {
            counters,
            begun: Instant::now(),
            outcome: &counters.cancelled,
        }
    }

    fn end(mut self, outcome: &Result<CallResult>) {
        self.outcome = match outcome {
            Ok(answer) => {
                add(&self.counters.answer_bytes, answer.bytes() as u64);
                &self.counters.succeeded
            }
            Err(error) if error.code() == Some(Error::CANCELLED) => &self.counters.cancelled,
            Err(_) => &self.counters.failed,
        };
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let took = self.begun.elapsed();
        let slot = TIME_BOUNDS.partition_point(|bound| *bound < took);
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        add(self.outcome, 1);
        add(&self.counters.times[slot], 1);
        add(&self.counters.nanoseconds, nanoseconds);
        self.counters
            .longest
            .fetch_max(nanoseconds, Ordering::Relaxed);
        self.counters.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Ordering::Relaxed);
}
