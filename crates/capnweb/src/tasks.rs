//! The running handlers and sessions of one owner, and how they are drained and stopped.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tokio_util::task::TaskTracker;
#[cfg(any(feature = "client", feature = "server"))]
use tokio_util::task::task_tracker::TaskTrackerToken;

#[cfg(any(feature = "client", feature = "server"))]
use crate::transport::websocket::parking::ParkedSessions;

/// The owner of running handlers and sessions. Clones are the same owner.
///
/// A handler outlives the call that started it and even its session, as the protocol demands, but not its
/// owner: a server keeps one `Tasks` for all of its sessions and stops it when the server stops. A session
/// counts as running while it is served and also while it is parked, so that draining waits for both.
///
/// It ends in two steps. [`Tasks::drain`] tells sessions to end as soon as they owe their peers no answer, and
/// waits for handlers; [`Tasks::stop`] drops every future at its next wait. Draining always ends in stopping,
/// so a caller needs only one of them. Dropping the last clone stops too, without waiting.
///
/// There is one owner for many sessions, not one for each: a server has to stop all of them together, and to
/// say how many are left.
#[derive(Clone, Debug, Default)]
pub struct Tasks(Arc<TasksInner>);

#[derive(Debug, Default)]
struct TasksInner {
    running: TaskTracker,
    /// Cancelled when sessions shall end as soon as they owe no answer; at the latest together with `stop`.
    drain: CancellationToken,
    stop: CancellationToken,
    #[cfg(any(feature = "client", feature = "server"))]
    parked: Arc<ParkedSessions>,
}

impl Tasks {
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of running handlers and sessions.
    pub fn len(&self) -> usize {
        self.0.running.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.running.is_empty()
    }

    /// Ends gracefully: sessions end as soon as they owe their peers no answer, handlers run to their end.
    /// Those left after `limit` are [stopped](Self::stop); their number is returned. Meanwhile [`Tasks::len`]
    /// gives the number still running.
    pub async fn drain(&self, limit: Duration) -> usize {
        self.0.drain.cancel();
        self.0.running.close();
        tracing::info!(sessions_and_calls = self.len(), "draining");
        // The number left tells whether all have ended or the time is over.
        let _ = tokio::time::timeout(limit, self.0.running.wait()).await;
        let left = self.len();
        if left > 0 {
            tracing::warn!(
                sessions_and_calls = left,
                "drain time is over; stopping the rest"
            );
        }
        self.stop().await;
        left
    }

    /// Stops all handlers and sessions at their next wait, and returns when none is left. Peers have two
    /// seconds to read the frames already on their way.
    pub async fn stop(&self) {
        self.0.end();
        self.0.running.close();
        self.0.running.wait().await;
    }

    /// Counts `work` as running. `work` itself must end when [`Tasks::stopping`] is ready.
    pub fn track<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        self.0.running.track_future(work)
    }

    /// Counts as one running session until the token is dropped.
    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn token(&self) -> TaskTrackerToken {
        self.0.running.token()
    }

    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn parked_sessions(&self) -> &Arc<ParkedSessions> {
        &self.0.parked
    }

    /// Ready when the owner drains or stops.
    pub fn draining(&self) -> WaitForCancellationFutureOwned {
        self.0.drain.clone().cancelled_owned()
    }

    /// Ready when the owner stops.
    pub fn stopping(&self) -> WaitForCancellationFutureOwned {
        self.0.stop.clone().cancelled_owned()
    }

    /// Runs `work` on the current runtime until it ends or the owner stops.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let stop = self.0.stop.clone();
        self.0.running.spawn(async move {
            stop.run_until_cancelled(work).await;
        });
    }
}

impl TasksInner {
    fn end(&self) {
        self.drain.cancel();
        self.stop.cancel();
    }
}

impl Drop for TasksInner {
    fn drop(&mut self) {
        self.end();
    }
}
