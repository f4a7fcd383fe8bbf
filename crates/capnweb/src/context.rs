//! Under whose account an operation runs: which limits bound it, which layers stand around it, and where
//! its handlers go on running.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tokio_util::task::TaskTracker;
#[cfg(any(feature = "client", feature = "server"))]
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::connection::Shared;
use crate::error::Error;
use crate::layer::Layers;
use crate::limits::Limits;
use crate::session::Stats;
use crate::trampoline::{self, Job};
#[cfg(any(feature = "client", feature = "server"))]
use crate::transport::websocket::lot::Lot;

/// The handlers that are still running, owned together.
///
/// A handler outlives the call that started it and even its session, as the protocol wants, but not
/// its owner: a server keeps one `Tasks` for all its sessions and ends it when it stops.
#[derive(Clone, Debug, Default)]
pub struct Tasks(Arc<TasksInner>);

#[derive(Debug, Default)]
struct TasksInner {
    running: TaskTracker,
    /// Sessions are to end as soon as they owe nothing. Cancelled no later than `stop`.
    drain: CancellationToken,
    stop: CancellationToken,
    /// Where its idle sessions wait.
    #[cfg(any(feature = "client", feature = "server"))]
    lot: Arc<Lot>,
}

impl Tasks {
    /// An owner with nothing running.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many are running.
    pub fn len(&self) -> usize {
        self.0.running.len()
    }

    /// Whether none is running.
    pub fn is_empty(&self) -> bool {
        self.0.running.is_empty()
    }

    /// Ends gracefully: sessions end as soon as they owe their peers no answer, handlers run to their end.
    /// What is left after `limit` is [stopped](Self::stop). Gives how much that was; [`Tasks::len`] says it
    /// meanwhile.
    pub async fn drain(&self, limit: Duration) -> usize {
        self.0.drain.cancel();
        self.0.running.close();
        tracing::info!(sessions_and_calls = self.len(), "draining");
        // Whether all have ended or the time is over is told by how many are left.
        let _ = tokio::time::timeout(limit, self.0.running.wait()).await;
        let left = self.len();
        if left > 0 {
            tracing::warn!(sessions_and_calls = left, "stopped before they had ended");
        }
        self.stop().await;
        left
    }

    /// Stops everything at its next wait and returns when nothing is left. Peers have two seconds to take
    /// what is on its way to them.
    pub async fn stop(&self) {
        self.0.end();
        self.0.running.close();
        self.0.running.wait().await;
    }

    /// Counts `work` among what is running. It is for `work` to end when [`Tasks::stopping`] does.
    pub fn track<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        self.0.running.track_future(work)
    }

    /// Counts as one that is running until it is dropped.
    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn token(&self) -> TaskTrackerToken {
        self.0.running.token()
    }

    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn lot(&self) -> &Arc<Lot> {
        &self.0.lot
    }

    /// Ends when the owner drains or stops.
    pub fn draining(&self) -> WaitForCancellationFutureOwned {
        self.0.drain.clone().cancelled_owned()
    }

    /// Ends when the owner stops.
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

/// Something known about a peer.
type Fact = Arc<dyn Any + Send + Sync>;

/// Cheap to clone; every operation carries one.
#[derive(Clone)]
pub(crate) struct Context(Arc<ContextInner>);

struct ContextInner {
    limits: Limits,
    tasks: Tasks,
    /// What stands around the calls of the peer.
    layers: Layers,
    /// What is known about the peer, one thing of each type.
    facts: Mutex<Vec<Fact>>,
    calls_in_flight: AtomicUsize,
    /// Promises inside values that are waited for.
    awaited_promises: AtomicUsize,
    /// Bytes that wait in streams to be read.
    unread_bytes: AtomicUsize,
    /// Bytes of results that are kept until the peer releases them, and of Blobs that are arriving.
    held_bytes: AtomicUsize,
    /// The session this is the account of, once there is one.
    session: OnceLock<Weak<Shared>>,
}

impl Context {
    pub(crate) fn new(limits: Limits, tasks: Tasks, layers: Layers) -> Self {
        Self(Arc::new(ContextInner {
            limits,
            tasks,
            layers,
            facts: Mutex::default(),
            calls_in_flight: AtomicUsize::new(0),
            awaited_promises: AtomicUsize::new(0),
            unread_bytes: AtomicUsize::new(0),
            held_bytes: AtomicUsize::new(0),
            session: OnceLock::new(),
        }))
    }

    /// Makes this the account of a session, which then ends when it is overdrawn.
    pub(crate) fn belongs_to(&self, session: &Arc<Shared>) {
        // Set once, when the session is made.
        let _ = self.0.session.set(Arc::downgrade(session));
    }

    /// Something exceeded a limit: the session that asked for it ends, as soon as its lock is free.
    pub(crate) fn exceed(&self, error: &Error) {
        if let Some(session) = self.session() {
            let error = error.clone();
            trampoline::run(Job::Run(Box::new(move || session.abort(error))));
        }
    }

    fn session(&self) -> Option<Arc<Shared>> {
        self.0.session.get().and_then(Weak::upgrade)
    }

    /// How large the tables of its session are; nothing when there is none.
    pub(crate) fn stats(&self) -> Stats {
        self.session()
            .map_or_else(Stats::default, |session| session.stats())
    }

    /// How large the tables of its session are and whether that is parked, while it is open.
    pub(crate) fn open(&self) -> Option<(Stats, bool)> {
        let session = self.session()?;
        Some((session.open()?, session.is_parked()))
    }

    /// Returns when its session has ended. Never, when there is none.
    pub(crate) async fn ended(&self) {
        match self.0.session.get().map(Weak::upgrade) {
            Some(Some(session)) => drop(session.closed().await),
            Some(None) => {}
            None => std::future::pending().await,
        }
    }

    /// What is known about the peer.
    pub(crate) fn facts(&self) -> MutexGuard<'_, Vec<Fact>> {
        // Plain data, whole at every step.
        self.0.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    #[cfg(any(feature = "client", feature = "server"))]
    pub(crate) fn tasks(&self) -> &Tasks {
        &self.0.tasks
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.tasks.spawn(work);
    }

    /// Counts one more call in flight, unless there are already as many as allowed.
    pub(crate) fn permit(&self) -> Option<CallPermit> {
        let before = self.0.calls_in_flight.fetch_add(1, Ordering::Relaxed);
        let permit = CallPermit(self.clone());
        (before < self.0.limits.max_calls_in_flight).then_some(permit)
    }

    /// Counts promises inside a value that are waited for, unless there are already as many as allowed.
    pub(crate) fn await_promises(&self, count: usize) -> Option<Awaiting> {
        let before = self.0.awaited_promises.fetch_add(count, Ordering::Relaxed);
        let awaiting = Awaiting {
            context: self.clone(),
            count,
        };
        (before.saturating_add(count) <= self.0.limits.max_awaited_promises).then_some(awaiting)
    }

    /// Counts bytes that are kept for the peer; when there are more than allowed its session ends.
    pub(crate) fn hold(&self, bytes: usize) -> Result<Held, Error> {
        let before = self.0.held_bytes.fetch_add(bytes, Ordering::Relaxed);
        let held = Held {
            context: self.clone(),
            bytes,
        };
        if before.saturating_add(bytes) <= self.0.limits.max_held_bytes {
            return Ok(held);
        }
        let error = Error::range_error("the session makes us hold too many bytes");
        self.exceed(&error);
        Err(error)
    }

    /// Counts bytes that wait to be read, unless there are already as many as allowed.
    pub(crate) fn keep_unread(&self, bytes: usize) -> Option<Unread> {
        let before = self.0.unread_bytes.fetch_add(bytes, Ordering::Relaxed);
        let unread = Unread {
            context: self.clone(),
            bytes,
        };
        (before.saturating_add(bytes) <= self.0.limits.max_queued_bytes).then_some(unread)
    }

    pub(crate) fn calls_in_flight(&self) -> usize {
        self.0.calls_in_flight.load(Ordering::Relaxed)
    }
}

impl Default for Context {
    fn default() -> Self {
        Self::new(Limits::default(), Tasks::new(), Layers::default())
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("calls_in_flight", &self.calls_in_flight())
            .finish_non_exhaustive()
    }
}

/// One call in flight, until dropped.
#[derive(Debug)]
pub(crate) struct CallPermit(Context);

impl CallPermit {
    /// What stands around the call, if anything does. Only calls of a peer have a permit, so our own
    /// never meet the layers.
    pub(crate) fn layers(&self) -> Option<&Layers> {
        Some(&self.0.0.layers).filter(|layers| !layers.is_empty())
    }

    /// How long the call may take, if that is bounded.
    pub(crate) fn time_limit(&self) -> Option<Duration> {
        self.0.limits().max_call_time
    }
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        self.0.0.calls_in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Promises that are waited for, until dropped.
#[derive(Debug)]
pub(crate) struct Awaiting {
    context: Context,
    count: usize,
}

impl Drop for Awaiting {
    fn drop(&mut self) {
        self.context
            .0
            .awaited_promises
            .fetch_sub(self.count, Ordering::Relaxed);
    }
}

/// Bytes that wait to be read, until dropped.
#[derive(Debug)]
pub(crate) struct Unread {
    context: Context,
    bytes: usize,
}

impl Drop for Unread {
    fn drop(&mut self) {
        self.context
            .0
            .unread_bytes
            .fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Bytes that are kept for the peer, until dropped.
#[derive(Debug)]
pub(crate) struct Held {
    context: Context,
    bytes: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.context
            .0
            .held_bytes
            .fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
