//! A writer that waits to be told: for tests that go through every order of events.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::Error;
use crate::batch::{Batch, Change};
use crate::group_commit::GroupCommit;

type Answer = Result<(), Error>;

/// The batches that wait in a store made by [`Store::with_manual_writer`](crate::Store::with_manual_writer), and the one who decides what
/// becomes of them. Clones are the same.
#[derive(Clone)]
pub struct ManualWriter(Arc<Mutex<Waiting>>);

struct Waiting {
    /// None when the store is closed.
    group_commit: Option<GroupCommit>,
    batches: VecDeque<(Batch, oneshot::Sender<Answer>)>,
}

impl ManualWriter {
    pub(crate) fn new(group_commit: GroupCommit) -> Self {
        Self(Arc::new(Mutex::new(Waiting {
            group_commit: Some(group_commit),
            batches: VecDeque::new(),
        })))
    }

    /// How many events each batch that waits would append, the oldest first.
    pub fn waiting(&self) -> Vec<usize> {
        let appended = |(batch, _): &(Batch, _)| {
            let events = batch.changes().iter().map(|change| match change {
                Change::Append { events, .. } => events.len(),
                _ => 0,
            });
            events.sum()
        };
        self.lock().batches.iter().map(appended).collect()
    }

    /// Commits the oldest batch and answers whoever handed it in.
    pub fn commit(&self) {
        if let Some((sender, answer)) = self.apply() {
            // Those who have gone away do not want to know.
            let _ = sender.send(answer);
        }
    }

    /// Commits the oldest batch, and nobody learns of it: the process ends between the two.
    pub fn commit_unanswered(&self) {
        drop(self.apply());
    }

    /// Keeps nothing of what waits: the process ends before.
    pub fn lose(&self) {
        let lost = std::mem::take(&mut self.lock().batches);
        drop(lost);
    }

    fn apply(&self) -> Option<(oneshot::Sender<Answer>, Answer)> {
        let mut waiting = self.lock();
        let (batch, sender) = waiting.batches.pop_front()?;
        let (answers, wake) = waiting.group_commit.as_mut()?.commit(vec![batch]);
        // Followers are woken when the next batch can come.
        drop(waiting);
        drop(wake);
        let answer = answers.into_iter().next();
        Some((sender, answer.expect("every batch is answered")))
    }

    pub(crate) fn push(&self, batch: Batch) -> Option<oneshot::Receiver<Answer>> {
        let mut waiting = self.lock();
        waiting.group_commit.as_ref()?;
        let (sender, answer) = oneshot::channel();
        waiting.batches.push_back((batch, sender));
        Some(answer)
    }

    pub(crate) fn close(&self) {
        while !self.lock().batches.is_empty() {
            self.commit();
        }
        let group_commit = self.lock().group_commit.take();
        group_commit.into_iter().for_each(GroupCommit::close);
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ManualWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ManualWriter")
            .field(&self.waiting())
            .finish()
    }
}
