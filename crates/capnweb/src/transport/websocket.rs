//! One message in one text frame of a WebSocket.

use std::collections::VecDeque;
use std::future::Future;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite;

use crate::connection::{Close, Shared};
use crate::context::Tasks;
use crate::error::Error;

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;

#[cfg(feature = "client")]
pub use client::{connect, over};
#[cfg(feature = "server")]
pub use server::serve;

/// How a WebSocket is kept alive, and how slow it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// A ping is sent when nothing was heard for so long.
    pub ping_after: Duration,
    /// The session ends when nothing was heard for so long, pongs included.
    pub idle_limit: Duration,
    /// The session ends when a peer takes nothing for so long while frames wait for it. Meanwhile
    /// nothing more is read from it, and [`Limits::max_queued_bytes`](crate::Limits) bounds what waits.
    pub write_limit: Duration,
    /// How much is read from the socket at once. It is allocated for each session, busy or not.
    pub read_buffer: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            ping_after: Duration::from_secs(30),
            idle_limit: Duration::from_secs(90),
            write_limit: Duration::from_secs(30),
            read_buffer: 1536,
        }
    }
}

/// How long the other side may take to answer a close.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// How many frames are taken before what they caused is sent, so that one write serves many.
const BURST: usize = 256;

/// How many bytes are worth a write of their own. More is not queued for a peer that may well read it.
const ENOUGH: usize = 256 << 10;

/// How long one session may work before others on its thread have their turn.
const TURN: Duration = Duration::from_millis(10);

/// A WebSocket, whichever library holds it.
pub(crate) trait Socket: Send {
    /// The text of a frame, known to be UTF-8 by the library that read it.
    type Text: Deref<Target = str> + Send;

    /// The next frame; `None` at the end. May be dropped and called again.
    fn next(&mut self) -> impl Future<Output = Option<Incoming<Self::Text>>> + Send;
    /// Puts a frame in the write buffer.
    fn feed(&mut self, frame: Outgoing) -> impl Future<Output = Result<(), Gone>> + Send;
    /// Writes out the buffer. May be dropped and called again.
    fn flush(&mut self) -> impl Future<Output = Result<(), Gone>> + Send;
}

/// What arrives.
pub(crate) enum Incoming<T> {
    Text(T),
    /// Ping or pong: the peer is there.
    Alive,
    /// What cannot be part of a session; it ends with this error.
    Wrong(Error),
    /// As wrong, and so that nothing behind it can be read either.
    Unreadable(Error),
    /// The peer closes.
    Closed(Option<String>),
}

/// What leaves.
pub(crate) enum Outgoing {
    Text(String),
    Ping,
    Close(Close),
}

/// The connection is no more.
#[derive(Debug)]
pub(crate) struct Gone;

/// Moves frames between the socket and the session until either ends.
///
/// The socket is boxed and the rest is lent because a future holds what it is given more than once on its
/// way down, and there is one such future for each session, busy or not.
pub(crate) async fn drive<S: Socket>(
    mut socket: Box<S>,
    session: &Arc<Shared>,
    settings: &Settings,
) {
    let mut heard = Instant::now();
    let silence = tokio::time::sleep(settings.ping_after);
    // Of draining first, then of stopping: an idle session waits for one thing at a time.
    let leaving = session.tasks().draining();
    tokio::pin!(silence, leaving);
    let mut drains = false;
    let mut reading = Reading::On;
    loop {
        let frames = session.take_outgoing();
        // Boxed, like all that an idle session is not doing: its future stays small.
        if !frames.is_empty()
            && Box::pin(send(&mut *socket, frames, session.tasks(), settings))
                .await
                .is_err()
        {
            return session.end(lost());
        }
        if drains && session.stats().pending == 0 {
            session.end(shutting_down());
        }
        if let Some(close) = session.close_frame() {
            return Box::pin(finish(&mut *socket, close, reading)).await;
        }
        tokio::select! {
            biased;
            incoming = socket.next() => {
                heard = Instant::now();
                reading = take(incoming, session);
                // Whatever else is already here is taken before anything is written, within reason.
                for _ in 1..BURST {
                    if reading != Reading::On || session.queued_bytes() >= ENOUGH {
                        break;
                    }
                    if heard.elapsed() >= TURN {
                        tokio::task::yield_now().await;
                        break;
                    }
                    let Some(incoming) = socket.next().now_or_never() else { break };
                    reading = take(incoming, session);
                }
            }
            () = session.outgoing() => {}
            () = &mut leaving => {
                if drains {
                    session.end(shutting_down());
                }
                drains = true;
                leaving.set(session.tasks().stopping());
            }
            () = &mut silence => {
                if heard.elapsed() >= settings.idle_limit {
                    session.end(Error::new("the peer was silent for too long"));
                } else if heard.elapsed() >= settings.ping_after && Box::pin(ping(&mut *socket, session.tasks(), settings)).await.is_err() {
                    session.end(lost());
                }
                silence.as_mut().reset(Instant::now() + settings.ping_after);
            }
        }
    }
}

/// Whether there is more to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    On,
    /// The session is over.
    Over,
    /// The session is over, and what the peer still sends stays unread.
    Stuck,
}

/// Takes one frame.
fn take<T: Deref<Target = str>>(incoming: Option<Incoming<T>>, session: &Arc<Shared>) -> Reading {
    match incoming {
        Some(Incoming::Text(text)) => {
            session.receive(&text);
            Reading::On
        }
        Some(Incoming::Alive) => Reading::On,
        Some(Incoming::Wrong(error)) => {
            session.abort(error);
            Reading::Over
        }
        Some(Incoming::Unreadable(error)) => {
            session.abort(error);
            Reading::Stuck
        }
        Some(Incoming::Closed(reason)) => {
            let reason = reason.filter(|reason| !reason.is_empty());
            session.end(Error::new(
                reason.unwrap_or_else(|| "the peer closed the connection".to_owned()),
            ));
            Reading::Over
        }
        None => {
            session.end(lost());
            Reading::Over
        }
    }
}

/// Sends what waits. While the peer takes nothing, nothing is read from it either.
async fn send(
    socket: &mut impl Socket,
    frames: VecDeque<String>,
    tasks: &Tasks,
    settings: &Settings,
) -> Result<(), Gone> {
    let write = async {
        for frame in frames {
            socket.feed(Outgoing::Text(frame)).await?;
        }
        socket.flush().await
    };
    within(settings.write_limit, tasks, write).await
}

async fn ping(socket: &mut impl Socket, tasks: &Tasks, settings: &Settings) -> Result<(), Gone> {
    let write = async {
        socket.feed(Outgoing::Ping).await?;
        socket.flush().await
    };
    within(settings.write_limit, tasks, write).await
}

/// Says good-bye and waits a moment for the answer, so that the last frames are not lost to a reset.
async fn finish(socket: &mut impl Socket, close: Close, reading: Reading) {
    let farewell = async {
        // Refused when the peer closed first; then the library's answer to that is still to be written.
        let _ = socket.feed(Outgoing::Close(close)).await;
        socket.flush().await?;
        while socket.next().await.is_some() {}
        if reading == Reading::Stuck {
            // To close with something unread is to reset the connection, which can overtake what was
            // just sent; so the peer gets a moment to read it.
            std::future::pending().await
        }
        Ok::<(), Gone>(())
    };
    // Too late to tell anyone.
    let _ = tokio::time::timeout(CLOSE_LIMIT, farewell).await;
}

/// Runs a write. Only one that does not finish at once gets a timer, and is given up when all stops.
async fn within(
    limit: Duration,
    tasks: &Tasks,
    write: impl Future<Output = Result<(), Gone>>,
) -> Result<(), Gone> {
    futures_util::pin_mut!(write);
    if let Some(result) = write.as_mut().now_or_never() {
        return result;
    }
    let stopped = async {
        tasks.stopping().await;
        tokio::time::sleep(CLOSE_LIMIT).await;
    };
    tokio::select! {
        biased;
        result = tokio::time::timeout(limit, write) => result.unwrap_or(Err(Gone)),
        () = stopped => Err(Gone),
    }
}

fn shutting_down() -> Error {
    Error::new("the server is shutting down")
}

fn lost() -> Error {
    Error::new("the connection was lost")
}

/// What a failed read means: the frame was wrong, or (`None`) the connection is gone.
fn failed<T>(error: &tungstenite::Error) -> Option<Incoming<T>> {
    match error {
        tungstenite::Error::Capacity(tungstenite::error::CapacityError::MessageTooLong {
            max_size,
            ..
        }) => Some(Incoming::Unreadable(Error::range_error(format!(
            "Incoming message exceeds maximum size of {max_size} bytes."
        )))),
        tungstenite::Error::Utf8(_) => Some(Incoming::Unreadable(Error::type_error(
            "a text frame is not UTF-8",
        ))),
        _ => None,
    }
}
