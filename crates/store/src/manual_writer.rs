//! A writer that commits a batch when a test says so, for tests that explore every order of events.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use crate::batch::{Batch, Change};
use crate::group_commit::GroupCommit;
use crate::writer::CommitResult;

/// The queued batches of a store made by [`Store::with_manual_writer`](crate::Store::with_manual_writer). The
/// holder commits or loses them one at a time. Clones are handles to the same queue.
#[derive(Clone)]
pub struct ManualWriter(Arc<Mutex<Waiting>>);

struct Waiting {
    /// None when the store is closed.
    group_commit: Option<GroupCommit>,
    batches: VecDeque<(Batch, oneshot::Sender<CommitResult>)>,
}

impl ManualWriter {
    pub(crate) fn new(group_commit: GroupCommit) -> Self {
        Self(Arc::new(Mutex::new(Waiting {
            group_commit: Some(group_commit),
            batches: VecDeque::new(),
        })))
    }

    /// The number of events that each queued batch would append, the oldest batch first.
    pub fn waiting(&self) -> Vec<usize> {
        let appended = |(batch, _): &(Batch, _)| {
            let events = batch.changes().iter().map(|change| match change {
                Change::Append { events, .. } => events.len(),
                _ => 0,
            });
            events.sum()
        };
        self.0.lock().batches.iter().map(appended).collect()
    }

    /// Commits the oldest batch and answers its caller.
    pub fn commit(&self) {
        if let Some((sender, answer)) = self.apply() {
            // An error means that the caller dropped its `Commit`.
            let _ = sender.send(answer);
        }
    }

    /// Commits the oldest batch without an answer, as when the process ends between the commit and the answer.
    pub fn commit_unanswered(&self) {
        drop(self.apply());
    }

    /// Drops all queued batches uncommitted, as when the process ends before the commit.
    pub fn lose(&self) {
        let lost = std::mem::take(&mut self.0.lock().batches);
        drop(lost);
    }

    fn apply(&self) -> Option<(oneshot::Sender<CommitResult>, CommitResult)> {
        let mut waiting = self.0.lock();
        let (batch, sender) = waiting.batches.pop_front()?;
        let (answers, wake) = waiting.group_commit.as_mut()?.commit(vec![batch]);
        // Wake followers after the lock is released: a woken follower may commit at once.
        drop(waiting);
        drop(wake);
        let answer = answers.into_iter().next();
        Some((sender, answer.expect("every batch is answered")))
    }

    pub(crate) fn push(&self, batch: Batch) -> Option<oneshot::Receiver<CommitResult>> {
        let mut waiting = self.0.lock();
        waiting.group_commit.as_ref()?;
        let (sender, answer) = oneshot::channel();
        waiting.batches.push_back((batch, sender));
        Some(answer)
    }

    pub(crate) fn close(&self) {
        while !self.0.lock().batches.is_empty() {
            self.commit();
        }
        let group_commit = self.0.lock().group_commit.take();
        group_commit.into_iter().for_each(GroupCommit::close);
    }
}

impl fmt::Debug for ManualWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualWriter")
            .field(&self.waiting())
            .finish()
    }
}
