//! One message in one text frame of a WebSocket.
//!
//! A session that moves frames is a task, with the buffers of a WebSocket. One that has been idle for a while
//! is parked: what is left is its session and its stream, which one task watches together with all others
//! (`lot`). Neither its objects nor the peer notice.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::connection::{Connection, Shared};

mod boundary;
mod drive;
mod frames;
pub(crate) mod lot;
mod witnessed;

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;

#[cfg(feature = "client")]
pub use client::{connect, over};
#[cfg(feature = "server")]
pub use server::{Refused, Upgrade};

/// How a WebSocket is kept alive, and how slow it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A ping is sent when nothing was heard for so long. One to a parked session may be late by an eighth,
    /// so that many are sent together.
    pub ping_after: Duration,
    /// The session ends when nothing was heard for so long, pongs included.
    pub idle_limit: Duration,
    /// The session ends when a peer takes nothing for so long while frames wait for it. Meanwhile
    /// nothing more is read from it, and [`Limits::max_queued_bytes`](crate::Limits) bounds what waits.
    pub write_limit: Duration,
    /// A session is parked when no message came or went for so long: until one does, it has no task, no
    /// timer and no buffers. `None` parks none.
    pub park_after: Option<Duration>,
    /// How much is read from the socket at once. It is allocated for each session that is not parked.
    pub read_buffer: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ping_after: Duration::from_secs(30),
            idle_limit: Duration::from_secs(90),
            write_limit: Duration::from_secs(30),
            park_after: Some(Duration::from_secs(2)),
            read_buffer: 1536,
        }
    }
}

/// A stream of bytes both ways: a TCP connection, TLS over one, what an HTTP server upgraded.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// A session and the stream it goes over, between two messages. Whoever holds it serves it.
pub(crate) struct Served {
    stream: Box<dyn Duplex>,
    /// What was read from the stream and not looked at yet.
    read: Vec<u8>,
    seat: Seat,
}

/// What a session over a WebSocket has, parked or not.
pub(crate) struct Seat {
    session: Arc<Shared>,
    /// Set on a server, where the session lasts as long as its socket rather than as its handles.
    _held: Option<Connection>,
    settings: Arc<Settings>,
    role: Role,
    /// When something was last heard.
    heard: Instant,
    /// When it was last asked for a sign of life.
    asked: Instant,
    /// When a message last came or went.
    moved: Instant,
    /// Counts the session among what is running.
    _counted: TaskTrackerToken,
}

impl Served {
    fn new(
        stream: Box<dyn Duplex>,
        read: Vec<u8>,
        session: &Arc<Shared>,
        held: Option<Connection>,
        settings: Arc<Settings>,
        role: Role,
    ) -> Self {
        let now = Instant::now();
        let seat = Seat {
            session: session.clone(),
            _held: held,
            settings,
            role,
            heard: now,
            asked: now,
            moved: now,
            _counted: session.tasks().token(),
        };
        Self { stream, read, seat }
    }

    /// Serves the session until it ends, as a task for as long as it is not parked. Counts among
    /// [`Options::tasks`](crate::Options) all the while, and says good-bye when those are drained or stopped.
    fn spawn(self) {
        tokio::spawn(async move {
            if let Some(idle) = drive::drive(self).await {
                idle.park();
            }
        });
    }

    fn park(self) {
        let tasks = self.seat.session.tasks().clone();
        tasks.lot().park(self, &tasks);
    }
}

impl Seat {
    /// When to ask for a sign of life, or to give up waiting for one.
    fn ask_at(&self) -> Instant {
        let ask = self.heard.max(self.asked) + self.settings.ping_after;
        ask.min(self.give_up_at())
    }

    fn give_up_at(&self) -> Instant {
        self.heard + self.settings.idle_limit
    }

    /// When to park it, unless something moves before.
    fn rest_at(&self) -> Option<Instant> {
        Some(self.moved + self.settings.park_after?)
    }

    fn rests(&self, now: Instant) -> bool {
        self.rest_at().is_some_and(|at| at <= now)
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served")
            .field("role", &self.seat.role)
            .finish_non_exhaustive()
    }
}
