//! A group's way: into the engine, out to the followers, into the statistics.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Error;
use crate::batch::{Batch, Change};
use crate::engine::{Engine, Views};
use crate::tail::{Tails, Wake};

#[cfg(test)]
#[path = "group_commit_tests.rs"]
mod tests;

/// The engine together with those who are to hear of its changes. Whoever has it is the writer.
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

    /// Commits a group and shows it to followers, whom the second value wakes. One answer for each batch.
    pub(crate) fn commit(&mut self, group: Vec<Batch>) -> (Vec<Result<(), Error>>, Wake) {
        let answers = match self.engine.apply(&group) {
            Ok(answers) => answers,
            // Together they need too much, but one of them may be what makes room.
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

    /// To be called when everybody has been answered.
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

    /// Ends reading, writing and following.
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

/// What has been committed since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Transactions.
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
}

impl Counters {
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
