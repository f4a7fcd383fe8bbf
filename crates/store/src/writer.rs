//! The one writer: it takes all queued batches, commits them in one transaction, and answers their callers.
//!
//! While a transaction is on its way to the disk further batches queue up, and the next transaction takes
//! them all (group commit). There is no timer: an idle store commits a batch at once.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};

use parking_lot::{Condvar, Mutex};
use tokio::sync::{oneshot, watch};

use crate::Error;
use crate::batch::Batch;
use crate::group_commit::GroupCommit;
use crate::limits::GROUP_BATCHES;
use crate::manual_writer::ManualWriter;

pub(crate) type CommitResult = Result<(), Error>;

/// The result of a queued batch: ready when the batch is committed or refused. Dropping it does not cancel
/// the batch.
#[derive(Debug)]
#[must_use = "await it to learn whether the batch was committed"]
pub struct Commit(Receipt);

#[derive(Debug)]
enum Receipt {
    /// Answered at once; taken by the poll that returns it.
    Known(Option<CommitResult>),
    Awaited(oneshot::Receiver<CommitResult>),
}

impl Commit {
    fn known(answer: CommitResult) -> Self {
        Self(Receipt::Known(Some(answer)))
    }
}

impl Future for Commit {
    type Output = CommitResult;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<CommitResult> {
        match &mut self.0 {
            Receipt::Known(answer) => Poll::Ready(
                answer
                    .take()
                    .expect("a future is not polled once it is ready"),
            ),
            // A sender dropped without an answer means that the writer ended before it committed the batch.
            Receipt::Awaited(answer) => {
                let answer = Pin::new(answer).poll(cx);
                answer.map(|answer| answer.unwrap_or(Err(Error::Closed)))
            }
        }
    }
}

/// The single place where batches enter the store, and so the order in which they are applied.
///
/// It owns the [`GroupCommit`] and through it the engine. There is exactly one, so an engine needs no
/// locking for writes and the states that it caches are never stale.
///
/// A batch goes through these steps, and their order is the contract:
///
/// 1. [`Writer::commit`] queues it. From here on its position is fixed, and dropping the [`Commit`] does not
///    take it back.
/// 2. The writer thread takes all queued batches, up to `GROUP_BATCHES`, and applies them in one transaction.
/// 3. After the transaction is committed the followers' tails get the events, and followers are woken.
///    Before the commit nothing is published, so no follower sees an event that a crash could take back.
/// 4. Each caller gets its own answer. A batch that breaks a rule is refused alone; a transaction that fails
///    as a whole answers every batch of the group with the same error.
/// 5. The engine does its upkeep (SQLite's checkpoint) while no caller waits for it.
///
/// Closing refuses new batches, commits the queued ones, then ends readers and followers. Dropping the last
/// handle does the same and joins the thread, so the folder's lock is free when `drop` returns. A panic of the
/// thread closes the queue and drops the unanswered senders ([`EndGuard`]), which callers see as `Closed`.
///
/// Why a thread and a condition variable, not a task: SQLite blocks, and a task of a runtime that is being
/// shut down would never be polled again, while the thread still commits what was acknowledged as queued.
/// Why not a commit for each batch: a durable commit costs one `fsync`, a group shares it.
#[derive(Debug)]
pub(crate) enum Writer {
    /// For an engine that never blocks: the caller of `commit` applies its batch itself.
    Inline(Mutex<Option<GroupCommit>>),
    /// For an engine that blocks on the disk: a thread of its own.
    Threaded(Threaded),
    /// For a test that decides when a batch is committed.
    Manual(ManualWriter),
}

impl Writer {
    pub(crate) fn inline(group_commit: GroupCommit) -> Self {
        Self::Inline(Mutex::new(Some(group_commit)))
    }

    pub(crate) fn threaded(group_commit: GroupCommit) -> Result<Self, Error> {
        Threaded::start(group_commit).map(Self::Threaded)
    }

    /// Queues a batch. Its place in the order is fixed now.
    pub(crate) fn commit(&self, batch: Batch) -> Commit {
        match self {
            Self::Inline(group_commit) => {
                let mut held = group_commit.lock();
                let Some(group_commit) = held.as_mut() else {
                    return Commit::known(Err(Error::Closed));
                };
                let (answers, wake) = group_commit.commit(vec![batch]);
                // Wake followers after the lock is released: a woken follower may commit at once.
                drop(held);
                drop(wake);
                let answer = answers.into_iter().next();
                Commit::known(answer.expect("every batch is answered"))
            }
            Self::Threaded(threaded) => threaded.queue.push(batch),
            Self::Manual(steps) => match steps.push(batch) {
                Some(answer) => Commit(Receipt::Awaited(answer)),
                None => Commit::known(Err(Error::Closed)),
            },
        }
    }

    /// Refuses batches from now on, and returns when all earlier ones are answered.
    pub(crate) async fn close(&self) {
        match self {
            Self::Inline(group_commit) => {
                let group_commit = group_commit.lock().take();
                group_commit.into_iter().for_each(GroupCommit::close);
            }
            Self::Manual(steps) => steps.close(),
            Self::Threaded(threaded) => {
                threaded.queue.close();
                let mut ended = threaded.ended.clone();
                // An error means that the sender was dropped, and then the thread has ended too.
                let _ = ended.wait_for(|ended| *ended).await;
            }
        }
    }
}

/// The writer thread and the queue of batches before it.
pub(crate) struct Threaded {
    queue: Arc<Queue>,
    ended: watch::Receiver<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Threaded {
    fn start(group_commit: GroupCommit) -> Result<Self, Error> {
        let queue = Arc::new(Queue::default());
        let (sender, ended) = watch::channel(false);
        let end = EndGuard {
            queue: Arc::clone(&queue),
            ended: sender,
        };
        let run = move || {
            let end = end;
            end.queue.serve(group_commit);
        };
        let thread = thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(run);
        let thread = Some(thread.map_err(Error::io("start a thread for", "the store"))?);
        Ok(Self {
            queue,
            ended,
            thread,
        })
    }
}

impl Drop for Threaded {
    /// Commits the queued batches and joins the thread, so that the folder can be opened again right after.
    /// The thread itself may drop the last handle, by waking a follower; it must not join itself.
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // An error is a panic of the thread, which the panic hook has reported.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Threaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threaded").finish_non_exhaustive()
    }
}

/// Dropped by the thread as its last act, also when it panics, so that no caller waits for an answer forever.
struct EndGuard {
    queue: Arc<Queue>,
    ended: watch::Sender<bool>,
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.queue.close();
        // Dropping the senders tells their callers that the batches were not committed.
        self.queue.waiting.lock().jobs.clear();
        self.ended.send_replace(true);
    }
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

/// The queue has no bound of its own: each entry has a caller that holds its `Commit`.
#[derive(Default)]
struct Waiting {
    jobs: Vec<Job>,
    closed: bool,
    /// Whether the writer has to be woken.
    asleep: bool,
}

type Job = (Batch, oneshot::Sender<CommitResult>);

impl Queue {
    fn push(&self, batch: Batch) -> Commit {
        let mut waiting = self.waiting.lock();
        if waiting.closed {
            return Commit::known(Err(Error::Closed));
        }
        let (sender, answer) = oneshot::channel();
        waiting.jobs.push((batch, sender));
        let asleep = std::mem::take(&mut waiting.asleep);
        drop(waiting);
        if asleep {
            self.arrived.notify_one();
        }
        Commit(Receipt::Awaited(answer))
    }

    fn close(&self) {
        self.waiting.lock().closed = true;
        self.arrived.notify_one();
    }

    /// Commits group after group until the queue is closed and empty.
    fn serve(&self, mut group_commit: GroupCommit) {
        while let Some(jobs) = self.take() {
            let (batches, senders): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
            let (answers, wake) = group_commit.commit(batches);
            drop(wake);
            for (sender, answer) in senders.into_iter().zip(answers) {
                // An error means that the caller dropped its `Commit`.
                let _ = sender.send(answer);
            }
            group_commit.tidy();
        }
        group_commit.close();
    }

    /// Waits for batches and takes all of them, up to `GROUP_BATCHES`. None when the queue is closed and empty.
    fn take(&self) -> Option<Vec<Job>> {
        let mut waiting = self.waiting.lock();
        while waiting.jobs.is_empty() && !waiting.closed {
            waiting.asleep = true;
            self.arrived.wait(&mut waiting);
        }
        if waiting.jobs.len() < GROUP_BATCHES && !waiting.closed {
            drop(waiting);
            // Let tasks that wait for this processor queue their batches first: on a busy machine more
            // batches share the commit, on an idle one yielding costs nothing.
            thread::yield_now();
            waiting = self.waiting.lock();
        }
        let count = waiting.jobs.len().min(GROUP_BATCHES);
        let jobs: Vec<_> = waiting.jobs.drain(..count).collect();
        (!jobs.is_empty()).then_some(jobs)
    }
}
