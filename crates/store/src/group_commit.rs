//! Committing a group of batches: the engine first, then followers and statistics.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::Error;
use crate::batch::{Batch, Change};
use crate::engine::{Engine, Views};
use crate::tail::{Tails, Wake};

#[cfg(test)]
#[path = "group_commit_tests.rs"]
mod tests;

/// The engine and everything that is told about a commit: followers' tails and counters.
///
/// The [`Writer`](crate::writer::Writer) owns it; owning it is what makes it the only writer. It knows
/// nothing of queues, threads and waiting callers, so the same code serves the inline, the threaded and the
/// manual writer.
///
/// The order within [`commit`](GroupCommit::commit) is fixed:
///
/// 1. `engine.apply` commits the group in one transaction. When it returns, the group is durable.
/// 2. The events of the accepted batches go into the tails of followed streams, in commit order. Publishing
///    before the commit would show a follower an event that a crash can still take back; publishing in
///    another order would give it a gap.
/// 3. Counters are raised, so statistics never run ahead of the data.
/// 4. The wakers are returned, not called. The writer calls them after it has released its lock, since a woken
///    follower may commit or drop the last handle at once.
///
/// A group that does not fit (`Error::Full`) is tried again batch by batch: one of its batches may be the
/// truncation that makes room. Any other error of the transaction is the answer to every batch of the group,
/// and nothing of the group was kept. Closing ends readers before it drops the engine, so the engine's
/// connection is the last one and SQLite can remove its log files.
pub(crate) struct GroupCommit {
    engine: Box<dyn Engine>,
    views: Arc<dyn Views>,
    tails: Arc<Tails>,
    counters: Arc<Counters>,
}

impl GroupCommit {
    pub(crate) fn new(
        engine: Box<dyn Engine>,
        views: Arc<dyn Views>,
        tails: Arc<Tails>,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            engine,
            views,
            tails,
            counters,
        }
    }

    /// Commits a group and publishes it. Returns one answer for each batch, and the wakers of the followers.
    pub(crate) fn commit(&mut self, group: Vec<Batch>) -> (Vec<Result<(), Error>>, Wake) {
        let applied = self.engine.apply(&group);
        let full = matches!(applied, Err(Error::Full));
        self.counters.full.store(full, Ordering::Relaxed);
        self.counters
            .failing
            .store(applied.is_err(), Ordering::Relaxed);
        let answers = match applied {
            Ok(answers) => answers,
            // Together they need too much space, but one of the batches may be the truncation that makes room.
            Err(Error::Full) if group.len() > 1 => return self.commit_each(group),
            Err(error) => return (vec![Err(error); group.len()], Wake::default()),
        };
        let kept = group.into_iter().zip(&answers);
        let kept = kept.filter_map(|(batch, answer)| answer.is_ok().then_some(batch));
        let kept = kept.inspect(|batch| self.counters.batch(batch));
        let wake = self.tails.publish(kept);
        if answers.iter().any(Result::is_ok) {
            self.counters.commits.fetch_add(1, Ordering::Relaxed);
        }
        (answers, wake)
    }

    /// Runs the engine's upkeep. Call it after all batches of the group are answered.
    pub(crate) fn tidy(&mut self) {
        self.engine.tidy();
    }

    fn commit_each(&mut self, group: Vec<Batch>) -> (Vec<Result<(), Error>>, Wake) {
        let mut all = (Vec::new(), Wake::default());
        for batch in group {
            let (answers, wake) = self.commit(vec![batch]);
            all.0.extend(answers);
            all.1.merge(wake);
        }
        all
    }

    /// Ends reading, then writing, then following.
    pub(crate) fn close(self) {
        self.views.close();
        drop(self.engine);
        drop(self.tails.close());
    }
}

impl fmt::Debug for GroupCommit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupCommit").finish_non_exhaustive()
    }
}

/// Counts of what has been committed since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Transactions that committed at least one batch.
    pub commits: u64,
    /// Batches that were acknowledged. Several share a transaction when they arrive together.
    pub batches: u64,
    /// Events that were appended.
    pub events: u64,
}

/// [`Stats`] while they change.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    commits: AtomicU64,
    batches: AtomicU64,
    events: AtomicU64,
    /// Whether the last transaction failed because no space is left.
    full: AtomicBool,
    /// Whether the last transaction failed, for whatever reason.
    failing: AtomicBool,
}

impl Counters {
    pub(crate) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    pub(crate) fn is_failing(&self) -> bool {
        self.failing.load(Ordering::Relaxed)
    }

    pub(crate) fn stats(&self) -> Stats {
        Stats {
            commits: self.commits.load(Ordering::Relaxed),
            batches: self.batches.load(Ordering::Relaxed),
            events: self.events.load(Ordering::Relaxed),
        }
    }

    fn batch(&self, batch: &Batch) {
        let appended = batch.changes().iter().map(|change| match change {
            Change::Append { events, .. } => events.len() as u64,
            _ => 0,
        });
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.events.fetch_add(appended.sum(), Ordering::Relaxed);
    }
}
