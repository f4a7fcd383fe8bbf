//! Serving one session: moving frames between its socket and the session.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::Instant;

use super::frames::{Frames, Gone, Incoming, Outgoing};
use super::gather::Gather;
use super::{Served, SocketState};
use crate::beside::beside;
use crate::connection::{Close, Due, Shared};
use crate::error::Error;
use crate::weight;

/// The time the peer has to answer a close.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// The most frames processed before their answers are sent, so that one write serves many.
const BURST: usize = 256;

/// The number of queued bytes at which they are written before more frames are processed.
const ENOUGH: usize = 256 << 10;

/// The time a session may work before it yields to other tasks of its thread.
const TURN: Duration = Duration::from_millis(10);

/// The time releases wait for another frame to leave with; a call then costs its server one read, not two.
const MOMENT: Duration = Duration::from_millis(10);

/// Moves frames between the socket and the session until either ends. Returns the session when it is to be
/// parked.
pub(super) async fn drive(served: Served) -> Option<Served> {
    let Served {
        stream,
        read,
        mut state,
    } = served;
    let session = state.session.clone();
    let opening = Frames::open(stream, read, state.role, &session, &state.settings);
    // Boxed, as are all awaits that an idle session is not in: otherwise each would enlarge this future, which
    // every session has.
    let mut frames = Box::new(Box::pin(opening).await);
    let timer = tokio::time::sleep_until(state.ask_at());
    // First draining, then stopping: an idle session waits for one signal at a time.
    let leaving = session.tasks().draining();
    tokio::pin!(timer, leaving);
    let mut drains = false;
    let mut reading = Reading::On;
    // Whether to check for a due ping, time-out or parking.
    let mut look = true;
    // The time until which releases wait for another frame.
    let mut held: Option<Instant> = None;
    let mut gather = Gather::default();
    loop {
        if state.known_by().is_some_and(|by| Instant::now() >= by) {
            session.abort(unknown());
        }
        let late = held.is_some_and(|until| Instant::now() >= until);
        let waits = gather.waits(|| session.progress().answered, Instant::now());
        let mut gathers_until = None;
        match session.take_due(late, waits) {
            Due::Nothing => held = None,
            Due::Gathers => gathers_until = gather.until(),
            Due::Later => _ = held.get_or_insert(state.heard + MOMENT),
            Due::Now(waiting) => {
                held = None;
                state.moved = Instant::now();
                if Box::pin(send(&mut frames, waiting, &state)).await.is_err() {
                    session.end(lost());
                    return None;
                }
                gather.sent(session.progress(), state.moved);
            }
        }
        if drains && session.stats().pending == 0 {
            session.end(shutting_down());
        }
        if let Some(close) = session.close_frame() {
            if gathers_until.is_some() {
                // It ended after the look above: what gathers is sent before the close.
                continue;
            }
            Box::pin(finish(&mut frames, close, reading)).await;
            return None;
        }
        let rest = state.rest_at().filter(|_| !look);
        let next = rest.into_iter().chain(held).chain(gathers_until);
        if let Some(next) = next.min()
            && next < timer.deadline()
        {
            timer.as_mut().reset(next);
        }
        tokio::select! {
            biased;
            incoming = frames.next() => {
                state.heard = Instant::now();
                session.attend();
                look = matches!(incoming, Some(Incoming::Alive));
                reading = take(incoming, &session).await;
                // Frames that have arrived already are processed before anything is written, up to the bounds above.
                for _ in 1..BURST {
                    if reading != Reading::On || session.queued_bytes() >= ENOUGH {
                        break;
                    }
                    if state.heard.elapsed() >= TURN {
                        tokio::task::yield_now().await;
                        break;
                    }
                    let Some(incoming) = frames.next().now_or_never() else { break };
                    look &= matches!(incoming, Some(Incoming::Alive));
                    reading = take(incoming, &session).await;
                }
                if !look {
                    state.moved = state.heard;
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
            // Checked after reading, so no frame that was read is left unprocessed.
            () = std::future::ready(()), if look => {
                look = false;
                let now = Instant::now();
                if state.known_by().is_some_and(|by| now >= by) {
                    continue;
                }
                if now >= state.give_up_at() {
                    session.end(Error::new("the peer was silent for too long"));
                    continue;
                }
                if now >= state.ask_at() {
                    state.asked = now;
                    if Box::pin(ping(&mut frames, &state)).await.is_err() {
                        session.end(lost());
                        continue;
                    }
                }
                if state.rests(now) {
                    if !drains && held.is_none() && frames.is_clear() {
                        return Some(Served { stream: frames.leave(), read: Vec::new(), state });
                    }
                    // Part of a message has arrived or a release is held: not idle.
                    state.moved = now;
                }
                timer.as_mut().reset(state.ask_at());
            }
            () = &mut timer => look = true,
        }
    }
}

/// Whether there is more to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    On,
    /// The session is over.
    Over,
    /// The session is over, and the rest of the peer's bytes cannot be parsed.
    Stuck,
}

async fn take(incoming: Option<Incoming>, session: &Arc<Shared>) -> Reading {
    match incoming {
        Some(Incoming::Text(text)) if text.len() > weight::LARGE => {
            Box::pin(beside(text.len(), || session.receive(&text))).await;
            Reading::On
        }
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

/// Sends the waiting frames. While the peer does not read them, nothing is read from it either.
async fn send(
    frames: &mut Frames,
    waiting: VecDeque<String>,
    state: &SocketState,
) -> Result<(), Gone> {
    let write = async {
        for frame in waiting {
            frames.feed(Outgoing::Text(frame)).await?;
        }
        frames.flush().await
    };
    within(state, write).await
}

async fn ping(frames: &mut Frames, state: &SocketState) -> Result<(), Gone> {
    let write = async {
        frames.feed(Outgoing::Ping).await?;
        frames.flush().await
    };
    within(state, write).await
}

/// Sends a close frame and waits shortly for the answer, so that a reset does not destroy the last frames.
async fn finish(frames: &mut Frames, close: Close, reading: Reading) {
    let farewell = async {
        // Refused when the peer closed first; the library's answer to that still has to be flushed.
        let _ = frames.feed(Outgoing::Close(close)).await;
        frames.flush().await?;
        while frames.next().await.is_some() {}
        if reading == Reading::Stuck {
            // Closing a socket with unread bytes resets the connection, which can destroy the frames just
            // sent; so the peer gets some time to read them.
            std::future::pending().await
        }
        Ok::<(), Gone>(())
    };
    // The session has ended; a failure here has no one to report to.
    let _ = tokio::time::timeout(CLOSE_LIMIT, farewell).await;
}

/// Runs a write. Only a write that does not finish at once gets a timer, and is given up when the owner stops.
async fn within(
    state: &SocketState,
    write: impl Future<Output = Result<(), Gone>>,
) -> Result<(), Gone> {
    futures_util::pin_mut!(write);
    if let Some(result) = write.as_mut().now_or_never() {
        return result;
    }
    let stopped = async {
        state.session.tasks().stopping().await;
        tokio::time::sleep(CLOSE_LIMIT).await;
    };
    tokio::select! {
        biased;
        result = tokio::time::timeout(state.settings.write_limit, write) => result.unwrap_or(Err(Gone)),
        () = stopped => Err(Gone),
    }
}

fn shutting_down() -> Error {
    Error::new("the server is shutting down")
}

fn unknown() -> Error {
    Error::new("the session was not authenticated in time").with_code("unauthenticated")
}

fn lost() -> Error {
    Error::new("the connection was lost")
}
