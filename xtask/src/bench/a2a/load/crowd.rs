//! Many clients at once, each with a connection of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

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
    pub(super) fn run(&mut self, work: Work, until: Until) -> Totals {
        let asked = AtomicU64::new(0);
        self.together(|_, caller, totals| {
            while until.wants_more(&asked) {
                totals.add(|| caller.ask(work));
            }
        })
    }

    /// Lets the clients read these tasks, each its share.
    pub(super) fn read(&mut self, tasks: &[&str]) -> Totals {
        let clients = self.callers.len();
        self.together(|number, caller, totals| {
            for task in tasks.iter().skip(number).step_by(clients) {
                totals.add(|| caller.read(task).map(|()| Done::default()));
            }
        })
    }

    /// Gives every client a thread, in which it does its job and counts.
    fn together(&mut self, job: impl Fn(usize, &mut Caller, &mut Totals) + Sync) -> Totals {
        let job = &job;
        thread::scope(|scope| {
            let callers = self.callers.iter_mut().enumerate();
            let threads: Vec<_> = callers
                .map(|(number, caller)| {
                    scope.spawn(move || {
                        let mut totals = Totals::default();
                        let before = caller.events;
                        job(number, caller, &mut totals);
                        totals.events = caller.events - before;
                        totals
                    })
                })
                .collect();
            let mut sum = Totals::default();
            for thread in threads {
                sum.join(thread.join().expect("a client does not panic"));
            }
            sum
        })
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
    fn add(&mut self, ask: impl FnOnce() -> Result<Done>) {
        let started = Instant::now();
        match ask() {
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
        self.events += other.events;
        self.times.append(&mut other.times);
        self.first_events.append(&mut other.first_events);
        self.tasks.append(&mut other.tasks);
    }
}
