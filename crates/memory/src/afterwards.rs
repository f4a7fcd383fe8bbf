//! What is done with records after they were written, in the background: a write never waits for it.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::error::Error;
use crate::keeper::{Request, Shared, Spaces, Write};
use crate::record::RecordId;
use crate::space::Derived;

/// How long it takes until something that failed is tried again, if nothing new comes before.
const PAUSE: Duration = Duration::from_secs(30);

/// Counts what there is to look at: every change to a space, and every space that is read from the store.
pub(crate) type News = watch::Sender<u64>;

/// Something that is made of records.
pub(crate) trait Work: fmt::Debug + Send + Sync + 'static {
    /// Makes something of records that were not taken up before; nothing, if there are none.
    fn some(
        &self,
        space: &Shared,
    ) -> impl Future<Output = Result<Vec<(RecordId, Derived)>, String>> + Send;

    /// What was taken up and failed is to be taken up again.
    fn again(&self, space: &Shared);
}

/// The task that does some work in all spaces. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Worker {
    news: News,
    /// How much of the news is worked on.
    done: watch::Receiver<u64>,
    task: JoinHandle<()>,
}

impl Worker {
    /// Starts it. What it makes is handed to the keeper.
    pub(crate) fn start(
        work: impl Work,
        spaces: Spaces,
        news: News,
        keeper: mpsc::WeakSender<Request>,
    ) -> Self {
        let (sender, done) = watch::channel(0);
        let task = tokio::spawn(run(work, spaces, keeper, news.subscribe(), sender));
        Self { news, done, task }
    }

    /// Waits until everything that is written by now was worked on, or failed.
    pub(crate) async fn idle(&self) {
        let told = *self.news.borrow();
        let mut done = self.done.clone();
        // A task that ended works on nothing more.
        drop(done.wait_for(|done| *done >= told).await);
    }

    /// Ends the task, wherever it is: what it makes can be made again.
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
    keeper: mpsc::WeakSender<Request>,
    mut news: watch::Receiver<u64>,
    done: watch::Sender<u64>,
) {
    loop {
        let told = *news.borrow_and_update();
        let whole = round(&work, &spaces, &keeper).await;
        done.send_replace(told);
        let more = if whole {
            news.changed().await
        } else {
            timeout(PAUSE, news.changed()).await.unwrap_or(Ok(()))
        };
        if more.is_err() {
            return;
        }
    }
}

/// Does all there is to do; says whether it could be done.
async fn round(work: &impl Work, spaces: &Spaces, keeper: &mpsc::WeakSender<Request>) -> bool {
    let spaces: Vec<(String, Shared)> = {
        let spaces = spaces.read().unwrap_or_else(PoisonError::into_inner);
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
                Ok(made) => hand(keeper, &name, made).await,
                Err(problem) => Err(problem),
            };
            if let Err(problem) = made {
                tracing::warn!(%problem, space = name, ?work, "to be tried again");
                work.again(&space);
                whole = false;
                break;
            }
        }
    }
    whole
}

/// Has the keeper write down what was made.
async fn hand(
    keeper: &mpsc::WeakSender<Request>,
    space: &str,
    made: Vec<(RecordId, Derived)>,
) -> Result<(), String> {
    let closed = |_| Error::Closed.to_string();
    let keeper = keeper.upgrade().ok_or_else(|| closed(()))?;
    let (reply, written) = oneshot::channel();
    let request = Request {
        space: space.to_owned(),
        write: Write::Derive(made),
        reply,
    };
    keeper.send(request).await.map_err(|_| closed(()))?;
    let written = written.await.map_err(|_| closed(()))?;
    written.map(drop).map_err(|problem| problem.to_string())
}
