//! One message in one text frame of a WebSocket.
//!
//! A session that moves frames is a task, with the buffers of a WebSocket. A session that has been idle for a
//! while is parked (`parking`): its session and its stream are left, and one task watches all of them. Neither
//! its objects nor the peer notice.

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
pub(crate) mod gather;
mod observed;
pub(crate) mod parking;

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;

#[cfg(feature = "client")]
pub use client::{connect, over};
#[cfg(feature = "server")]
pub use server::{Refused, Upgrade};

/// Time limits and buffer size of a WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A ping is sent when the peer was silent for this long. A ping to a parked session may be late by an eighth,
    /// so that many are sent together.
    pub ping_after: Duration,
    /// The session ends when the peer was silent for this long, pongs included.
    pub idle_limit: Duration,
    /// The session ends when the peer reads nothing for this long while frames wait for it. Meanwhile nothing
    /// is read from it, and [`Limits::max_queued_bytes`](crate::Limits) bounds the waiting frames.
    pub write_limit: Duration,
    /// A session is parked when no message came or went for this long: until the next one it has no task, no
    /// timer and no buffers. `None` parks none.
    pub park_after: Option<Duration>,
    /// The size of the read buffer, allocated for each session that is not parked.
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

/// A two-way byte stream: a TCP connection, TLS over one, an upgraded HTTP connection.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// A session and its stream, between two messages. The owner of this value serves the session.
pub(crate) struct Served {
    stream: Box<dyn Duplex>,
    /// Bytes read from the stream and not yet parsed.
    read: Vec<u8>,
    state: SocketState,
}

/// The state of a session over a WebSocket that it keeps while it is parked.
pub(crate) struct SocketState {
    session: Arc<Shared>,
    /// Set on a server, where the session lasts as long as its socket, not as its handles.
    _held: Option<Connection>,
    settings: Arc<Settings>,
    role: Role,
    /// The time at which the session began.
    opened: Instant,
    /// The time of the last bytes from the peer.
    heard: Instant,
    /// The time of the last ping.
    asked: Instant,
    /// The time of the last message in either direction.
    moved: Instant,
    /// Counts the session as running at its owner.
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
        let state = SocketState {
            session: session.clone(),
            _held: held,
            settings,
            role,
            opened: now,
            heard: now,
            asked: now,
            moved: now,
            _counted: session.tasks().token(),
        };
        Self {
            stream,
            read,
            state,
        }
    }

    /// Serves the session until it ends, as a task while it is not parked. The state's token counts it at
    /// [`Options::tasks`](crate::Options) all the while, and it closes when those are drained or stopped.
    fn spawn(self) {
        tokio::spawn(async move {
            if let Some(idle) = drive::drive(self).await {
                idle.park();
            }
        });
    }

    fn park(self) {
        let tasks = self.state.session.tasks().clone();
        tasks.parked_sessions().park(self, &tasks);
    }
}

impl SocketState {
    /// The time of the next ping, or of giving up.
    fn ask_at(&self) -> Instant {
        let ask = self.heard.max(self.asked) + self.settings.ping_after;
        ask.min(self.give_up_at())
    }

    fn give_up_at(&self) -> Instant {
        let silent = self.heard + self.settings.idle_limit;
        self.known_by().map_or(silent, |known| silent.min(known))
    }

    /// The time by which a peer that is not known has to be; none for a peer that is.
    fn known_by(&self) -> Option<Instant> {
        self.session.guest().map(|guest| self.opened + guest.time)
    }

    /// The time to park the session, unless a message comes or goes before.
    fn rest_at(&self) -> Option<Instant> {
        Some(self.moved + self.settings.park_after?)
    }

    /// Whether it is to be parked. A peer that is not known is here for a short time, and is read in small steps.
    fn rests(&self, now: Instant) -> bool {
        self.session.guest().is_none() && self.rest_at().is_some_and(|at| at <= now)
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served")
            .field("role", &self.state.role)
            .finish_non_exhaustive()
    }
}
