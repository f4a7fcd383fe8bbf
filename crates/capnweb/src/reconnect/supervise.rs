//! The task that keeps a session open, and the state that it shares with the handles.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use dial::{Backoff, Jitter};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{NOT_CONNECTED, Settings};
use crate::connection::Connection;
use crate::error::{ABANDONED, Error, Result};
use crate::stub::{Any, Capability};
use crate::tasks::Tasks;

/// The time a server that drops its calls has to end the session.
const FAREWELL: Duration = Duration::from_secs(1);

pub(super) type Connect = Box<dyn Fn() -> Attempt + Send + Sync>;
type Attempt = Pin<Box<dyn Future<Output = Result<Connection>> + Send>>;

pub(super) type Probe = Box<dyn Fn(Capability) -> Probing + Send + Sync>;
type Probing = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// Shared by all handles of one connection; dropping it ends the task.
pub(super) struct Core {
    states: watch::Receiver<State>,
    settings: Settings,
    /// Ends the task when the last handle is gone.
    _stop: DropGuard,
    /// Kept, because the task ends with its owner.
    _tasks: Tasks,
}

/// The present session, if there is one.
#[derive(Clone)]
struct State {
    now: Now,
    /// The number of usable sessions so far.
    sessions: u64,
}

#[derive(Clone)]
enum Now {
    /// Not connected, with the error of the last attempt.
    Waiting(Option<Error>),
    Live(Arc<Live>),
}

/// One session, and the capabilities derived in it.
pub(super) struct Live {
    connection: Connection,
    root: Capability,
    /// By the id of their handle. They end with the session.
    derived: Mutex<HashMap<u64, Derived>>,
}

/// A derived capability, set by the first call that needs it.
pub(super) type Derived = Arc<OnceLock<Capability>>;

impl Core {
    pub(super) fn start(
        connect: Connect,
        probe: Probe,
        settings: Settings,
        tasks: Tasks,
    ) -> Arc<Self> {
        let (publish, states) = watch::channel(State {
            now: Now::Waiting(None),
            sessions: 0,
        });
        let stop = CancellationToken::new();
        let supervisor = Supervisor {
            connect,
            probe,
            settings,
            publish,
        };
        let stopped = stop.clone();
        tasks.spawn(async move {
            stopped.run_until_cancelled(supervisor.run()).await;
        });
        Arc::new(Self {
            states,
            settings,
            _stop: stop.drop_guard(),
            _tasks: tasks,
        })
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn is_live(&self) -> bool {
        self.states.borrow().live().is_some()
    }

    pub(super) fn sessions(&self) -> u64 {
        self.states.borrow().sessions
    }

    pub(super) fn present(&self) -> Option<Arc<Live>> {
        self.states.borrow().live()
    }

    /// The present session, or the next one within `patience`.
    pub(super) async fn live(&self) -> Result<Arc<Live>> {
        match timeout(self.settings.patience, self.next_live()).await {
            Ok(live) => live,
            Err(_) => Err(self.not_connected("there is no connection")),
        }
    }

    /// The present session, or the next one, without a time limit.
    pub(super) async fn next_live(&self) -> Result<Arc<Live>> {
        let mut states = self.states.clone();
        loop {
            // When the task was stopped, the transport was too, and the session may never notice its end.
            let stopped = states.has_changed().is_err();
            if let Some(live) = states.borrow_and_update().live().filter(|_| !stopped) {
                return Ok(live);
            }
            if stopped || states.changed().await.is_err() {
                return Err(self.not_connected("connecting was stopped"));
            }
        }
    }

    fn not_connected(&self, why: &str) -> Error {
        let error = Error::new(why).with_code(NOT_CONNECTED);
        match &self.states.borrow().now {
            Now::Waiting(Some(cause)) => error.with_cause(cause.clone()),
            _ => error,
        }
    }
}

impl State {
    /// The session, unless it has ended and the task has not noticed yet.
    fn live(&self) -> Option<Arc<Live>> {
        match &self.now {
            Now::Live(live) if live.connection.shared().ended().is_none() => Some(live.clone()),
            _ => None,
        }
    }
}

impl Live {
    fn new(connection: Connection) -> Self {
        let root = connection.remote::<Any>().capability().clone();
        Self {
            connection,
            root,
            derived: Mutex::default(),
        }
    }

    pub(super) fn root(&self) -> &Capability {
        &self.root
    }

    /// Whether an error leaves it unknown if the call was done: it is the error of the session's end, or the
    /// server dropped the call because it is stopping. In that case the session's end is near, and this waits
    /// for it, so that the next call goes to another server.
    pub(super) async fn lost(&self, error: &Error) -> bool {
        let ended = self.connection.shared().ended();
        if ended.is_some_and(|ended| ended.is(error)) {
            return true;
        }
        if error.code() != Some(ABANDONED) {
            return false;
        }
        // It may also not come.
        let _ = timeout(FAREWELL, self.connection.closed()).await;
        true
    }

    pub(super) fn derived(&self) -> MutexGuard<'_, HashMap<u64, Derived>> {
        self.derived.lock()
    }
}

struct Supervisor {
    connect: Connect,
    probe: Probe,
    settings: Settings,
    publish: watch::Sender<State>,
}

impl Supervisor {
    async fn run(self) {
        let Settings {
            first_wait,
            longest_wait,
            steady_after,
            seed,
            ..
        } = self.settings;
        let mut backoff = Backoff::new(first_wait, longest_wait, Jitter::Full);
        if let Some(seed) = seed {
            backoff = backoff.with_seed(seed);
        }
        loop {
            let error = match self.attempt().await {
                Ok(live) => {
                    let begun = Instant::now();
                    let connection = live.connection.clone();
                    self.publish.send_modify(|state| {
                        state.sessions += 1;
                        state.now = Now::Live(Arc::new(live));
                    });
                    let error = connection.closed().await;
                    if begun.elapsed() >= steady_after {
                        backoff.reset();
                    }
                    error
                }
                Err(error) => error,
            };
            self.publish
                .send_modify(|state| state.now = Now::Waiting(Some(error)));
            sleep(backoff.next_pause()).await;
        }
    }

    /// Connects and probes; a session that does not answer is not used.
    async fn attempt(&self) -> Result<Live> {
        let attempt = async {
            let live = Live::new((self.connect)().await?);
            (self.probe)(live.root.clone()).await?;
            Ok(live)
        };
        match timeout(self.settings.attempt_limit, attempt).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Error::new("the server did not answer in time")),
        }
    }
}
