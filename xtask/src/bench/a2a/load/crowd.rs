//! Many clients at once, each with a connection of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::task::JoinSet;

use super::super::scenario::Work;
use super::caller::{Caller, Done};
use crate::bench::address::Address;
use crate::error::Result;

#[derive(Debug)]
pub(super) struct Crowd {
    callers: Vec<Caller>,
}

/// When the crowd stops asking. Answers that are due by then are still waited for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Until {
    Time(Instant),
    /// So many requests have been made.
    Requests(u64),
}

/// What came of all requests.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub(super) done: u64,
    pub(super) failed: u64,
    /// Why the first one failed.
    pub(super) failure: Option<String>,
    /// Streamed events, also of streams that failed.
    pub(super) events: u64,
    pub(super) times: Vec<Duration>,
    pub(super) first_events: Vec<Duration>,
    /// The tasks that came of it, in the order in which each client made them.
    pub(super) tasks: Vec<String>,
}

impl Crowd {
    pub(super) fn open(address: &Address, connections: usize) -> Result<Crowd> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let run = now.unwrap_or_default().as_nanos();
        let callers = (0..connections)
            .map(|number| Caller::open(address, format!("{run:x}-{number}")))
            .collect::<Result<_>>()?;
        Ok(Crowd { callers })
    }

    /// Lets every client ask, one request after the other.
    pub(super) async fn run(&mut self, work: Work, until: Until) -> Totals {
        let asked = Arc::new(AtomicU64::new(0));
        self.together(|_, mut caller| {
            let asked = Arc::clone(&asked);
            async move {
                let mut totals = Totals::default();
                while until.wants_more(&asked) {
                    let started = Instant::now();
                    totals.add(caller.ask(work).await, started);
                }
                (caller, totals)
            }
        })
        .await
    }

    /// Lets the clients read these tasks, each its share.
    pub(super) async fn read(&mut self, tasks: &[&str]) -> Totals {
        let clients = self.callers.len();
        self.together(|number, mut caller| {
            let share = tasks.iter().skip(number).step_by(clients);
            let share: Vec<String> = share.map(|task| (*task).to_owned()).collect();
            async move {
                let mut totals = Totals::default();
                for task in share {
                    let started = Instant::now();
                    let read = caller.read(&task).await;
                    totals.add(read.map(|()| Done::default()), started);
                }
                (caller, totals)
            }
        })
        .await
    }

    /// Lets every client do a job at the same time.
    async fn together<F>(&mut self, job: impl Fn(usize, Caller) -> F) -> Totals
    where
        F: Future<Output = (Caller, Totals)> + Send + 'static,
    {
        let before: u64 = self.callers.iter().map(|caller| caller.events).sum();
        let mut jobs = JoinSet::new();
        for (number, caller) in self.callers.drain(..).enumerate() {
            jobs.spawn(job(number, caller));
        }
        let mut sum = Totals::default();
        for (caller, totals) in jobs.join_all().await {
            self.callers.push(caller);
            sum.join(totals);
        }
        let after: u64 = self.callers.iter().map(|caller| caller.events).sum();
        sum.events = after - before;
        sum
    }
}

impl Until {
    fn wants_more(self, asked: &AtomicU64) -> bool {
        match self {
            Until::Time(end) => Instant::now() < end,
            Until::Requests(wanted) => asked.fetch_add(1, Ordering::Relaxed) < wanted,
        }
    }
}

impl Totals {
    fn add(&mut self, answer: Result<Done>, started: Instant) {
        match answer {
            Ok(done) => {
                self.done += 1;
                self.times.push(started.elapsed());
                self.first_events.extend(done.first_event);
                self.tasks.extend(done.task);
            }
            Err(error) => {
                self.failed += 1;
                self.failure.get_or_insert_with(|| error.to_string());
            }
        }
    }

    fn join(&mut self, mut other: Totals) {
        self.done += other.done;
        self.failed += other.failed;
        self.failure = self.failure.take().or(other.failure);
        self.times.append(&mut other.times);
        self.first_events.append(&mut other.first_events);
        self.tasks.append(&mut other.tasks);
    }
}
