//! The one writer: it takes what is waiting, commits it in one transaction, and answers everybody.
//!
//! While a transaction is on its way to the disk further batches gather, and the next one takes them
//! all. So a commit is shared by as many as wait for it, and nobody waits for a timer.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::thread::{self, JoinHandle};

use tokio::sync::{oneshot, watch};

use crate::Error;
use crate::batch::Batch;
use crate::group_commit::GroupCommit;
use crate::limits::GROUP_BATCHES;
use crate::manual_writer::ManualWriter;

type Answer = Result<(), Error>;

/// A batch that has been handed in: ready when it is committed or refused. Dropping this stops nothing.
#[derive(Debug)]
#[must_use = "only by waiting one learns whether it was committed"]
pub struct Commit(Receipt);

#[derive(Debug)]
enum Receipt {
    /// Answered; taken by the poll that gives it out.
    Known(Option<Answer>),
    Awaited(oneshot::Receiver<Answer>),
}

impl Commit {
    fn known(answer: Answer) -> Self {
        Self(Receipt::Known(Some(answer)))
    }
}

impl Future for Commit {
    type Output = Answer;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answer> {
        match &mut self.0 {
            Receipt::Known(answer) => Poll::Ready(
                answer
                    .take()
                    .expect("a future is not polled once it is ready"),
            ),
            // A writer that went away without an answer has not committed the batch.
            Receipt::Awaited(answer) => {
                let answer = Pin::new(answer).poll(cx);
                answer.map(|answer| answer.unwrap_or(Err(Error::Closed)))
            }
        }
    }
}

/// Where batches are handed in.
#[derive(Debug)]
pub(crate) enum Writer {
    /// For an engine that never waits: whoever hands in a batch applies it there and then.
    Inline(Mutex<Option<GroupCommit>>),
    /// For one that does: a thread of its own.
    Threaded(Threaded),
    /// For a test that decides when.
    Manual(ManualWriter),
}

impl Writer {
    pub(crate) fn inline(group_commit: GroupCommit) -> Self {
        Self::Inline(Mutex::new(Some(group_commit)))
    }

    pub(crate) fn threaded(group_commit: GroupCommit) -> Result<Self, Error> {
        Threaded::start(group_commit).map(Self::Threaded)
    }

    /// Hands in a batch. It takes its place among the others now.
    pub(crate) fn commit(&self, batch: Batch) -> Commit {
        match self {
            Self::Inline(group_commit) => {
                let mut held = lock(group_commit);
                let Some(group_commit) = held.as_mut() else {
                    return Commit::known(Err(Error::Closed));
                };
                let (answers, wake) = group_commit.commit(vec![batch]);
                // Followers are woken when the next batch can come.
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

    /// Refuses what comes from now on, and returns when all that came before is answered.
    pub(crate) async fn close(&self) {
        match self {
            Self::Inline(group_commit) => {
                let group_commit = lock(group_commit).take();
                group_commit.into_iter().for_each(GroupCommit::close);
            }
            Self::Manual(steps) => steps.close(),
            Self::Threaded(threaded) => {
                threaded.queue.close();
                let mut ended = threaded.ended.clone();
                // The only other answer is that the sender is gone, and then it has ended too.
                let _ = ended.wait_for(|ended| *ended).await;
            }
        }
    }
}

/// A thread that writes, and the queue before it.
pub(crate) struct Threaded {
    queue: Arc<Queue>,
    ended: watch::Receiver<bool>,
    thread: Option<JoinHandle<()>>,
}

impl Threaded {
    fn start(group_commit: GroupCommit) -> Result<Self, Error> {
        let queue = Arc::new(Queue::default());
        let (sender, ended) = watch::channel(false);
        let end = End {
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
    /// What was handed in is still committed, and the files are free afterwards.
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            // It ended by a panic, which has been reported where it happened.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Threaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Threaded").finish_non_exhaustive()
    }
}

/// The thread's last act, also when it panics: nobody waits for it any more.
struct End {
    queue: Arc<Queue>,
    ended: watch::Sender<bool>,
}

impl Drop for End {
    fn drop(&mut self) {
        self.queue.close();
        // Whoever is still waiting here learns that nobody will answer.
        lock(&self.queue.waiting).jobs.clear();
        self.ended.send_replace(true);
    }
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

/// Its length is bounded by those who wait for their answers.
#[derive(Default)]
struct Waiting {
    jobs: Vec<Job>,
    closed: bool,
    /// Whether the writer has to be woken.
    asleep: bool,
}

type Job = (Batch, oneshot::Sender<Answer>);

impl Queue {
    fn push(&self, batch: Batch) -> Commit {
        let mut waiting = lock(&self.waiting);
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
        lock(&self.waiting).closed = true;
        self.arrived.notify_one();
    }

    /// Commits group after group until the queue is closed and empty.
    fn serve(&self, mut group_commit: GroupCommit) {
        while let Some(jobs) = self.take() {
            let (batches, senders): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
            let (answers, wake) = group_commit.commit(batches);
            drop(wake);
            for (sender, answer) in senders.into_iter().zip(answers) {
                // Those who have gone away do not want to know.
                let _ = sender.send(answer);
            }
            group_commit.tidy();
        }
        group_commit.close();
    }

    /// Waits for batches and takes all of them, up to what fits in a group.
    fn take(&self) -> Option<Vec<Job>> {
        let mut waiting = lock(&self.waiting);
        while waiting.jobs.is_empty() && !waiting.closed {
            waiting.asleep = true;
            waiting = self
                .arrived
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if waiting.jobs.len() < GROUP_BATCHES && !waiting.closed {
            drop(waiting);
            // Whoever is about to hand in a batch and only waits for this processor may do so: on a busy
            // machine a commit is shared by many, on an idle one this costs nothing.
            thread::yield_now();
            waiting = lock(&self.waiting);
        }
        let count = waiting.jobs.len().min(GROUP_BATCHES);
        let jobs: Vec<_> = waiting.jobs.drain(..count).collect();
        (!jobs.is_empty()).then_some(jobs)
    }
}

/// What these locks guard is whole at every moment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
