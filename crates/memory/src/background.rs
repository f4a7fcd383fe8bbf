//! Background work on records that are written: vectors (`embedding`) and entities found by a model (`reading`).
//!
//! A write never waits for a model, which takes from milliseconds to minutes and may be down. So a record is committed and
//! can be recalled by its words at once; its vector follows. There is one task for each kind of work. It wakes when the
//! writer has changed something, asks each loaded space for records that lack the derived data, makes it for a batch of
//! them, and hands it to the writer as an ordinary write. In this way the writer stays the only task that changes spaces, and
//! derived data of a record that was forgotten meanwhile is dropped there.
//!
//! Nothing about pending work is stored. What lacks a vector is found by looking, so that a crash, a new embedder or an
//! import need no bookkeeping: the work is found again after the next start. A failure is logged and tried again after
//! `PAUSE`, or earlier if something new is written.
//!
//! The task holds a weak sender of the writer's mailbox: a strong one would keep the writer alive, and `close` would wait
//! for ever. It is aborted when its [`Worker`] is dropped or stopped; derived data that is lost can be made again.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::error::Error;
use crate::memory::SpaceName;
use crate::record::RecordId;
use crate::space::Derived;
use crate::writer::{Request, Shared, Spaces, Write};

/// Pause after a failure, unless a change comes earlier.
const PAUSE: Duration = Duration::from_secs(30);

/// Counts changes of spaces and loaded spaces. A worker that has seen the count has looked at everything before it.
pub(crate) type Changes = watch::Sender<u64>;

/// Why work on a batch of records failed. All kinds are tried again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Model(#[from] model::Error),
    #[error("{found} vectors for {expected} texts")]
    Vectors { expected: usize, found: usize },
    #[error(transparent)]
    Memory(#[from] Error),
}

/// A kind of background work. Its `Display` names it in log lines.
pub(crate) trait Work: fmt::Display + Send + Sync + 'static {
    /// Makes derived data for a batch of records that were not handed out before; empty if there are none.
    fn some(
        &self,
        space: &Shared,
    ) -> impl Future<Output = Result<Vec<(RecordId, Derived)>, Failure>> + Send;

    /// Hands out the records without derived data again, after a failure.
    fn again(&self, space: &Shared);
}

/// The handle of the task that does one kind of work in all spaces. Dropping it aborts the task.
#[derive(Debug)]
pub(crate) struct Worker {
    changes: Changes,
    /// The count of changes up to which all work is done.
    done: watch::Receiver<u64>,
    task: JoinHandle<()>,
}

impl Worker {
    pub(crate) fn start(
        work: impl Work,
        spaces: Spaces,
        changes: Changes,
        writer: mpsc::WeakSender<Request>,
    ) -> Self {
        let (sender, done) = watch::channel(0);
        let task = tokio::spawn(run(work, spaces, writer, changes.subscribe(), sender));
        Self {
            changes,
            done,
            task,
        }
    }

    /// Waits until every record that is written now was worked on, or its work has failed.
    pub(crate) async fn idle(&self) {
        let told = *self.changes.borrow();
        let mut done = self.done.clone();
        // An error means that the task has ended, and no work is left to wait for.
        drop(done.wait_for(|done| *done >= told).await);
    }

    pub(crate) fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn run(
    work: impl Work,
    spaces: Spaces,
    writer: mpsc::WeakSender<Request>,
    mut changes: watch::Receiver<u64>,
    done: watch::Sender<u64>,
) {
    loop {
        let told = *changes.borrow_and_update();
        let whole = round(&work, &spaces, &writer).await;
        done.send_replace(told);
        let more = if whole {
            changes.changed().await
        } else {
            timeout(PAUSE, changes.changed()).await.unwrap_or(Ok(()))
        };
        if more.is_err() {
            return;
        }
    }
}

/// Works on all spaces until no record lacks its data. Returns false if a batch failed.
async fn round(work: &impl Work, spaces: &Spaces, writer: &mpsc::WeakSender<Request>) -> bool {
    let spaces: Vec<(SpaceName, Shared)> = {
        let spaces = spaces.read();
        let spaces = spaces.iter();
        spaces
            .map(|(name, space)| (name.clone(), Arc::clone(space)))
            .collect()
    };
    let mut whole = true;
    for (name, space) in spaces {
        loop {
            let made = match work.some(&space).await {
                Ok(made) if made.is_empty() => break,
                Ok(made) => hand_over(writer, name.clone(), made).await,
                Err(failure) => Err(failure),
            };
            if let Err(error) = made {
                tracing::warn!(%error, space = %name, "{work} failed, will retry");
                work.again(&space);
                whole = false;
                break;
            }
        }
    }
    whole
}

/// Has the writer store the derived data, and waits until it is committed.
async fn hand_over(
    writer: &mpsc::WeakSender<Request>,
    space: SpaceName,
    made: Vec<(RecordId, Derived)>,
) -> Result<(), Failure> {
    let writer = writer.upgrade().ok_or(Error::Closed)?;
    let (reply, written) = oneshot::channel();
    let request = Request {
        space,
        write: Write::Derive(made),
        reply,
    };
    writer.send(request).await.map_err(|_| Error::Closed)?;
    written.await.map_err(|_| Error::Closed)??;
    Ok(())
}
