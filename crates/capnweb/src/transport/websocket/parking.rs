//! Idle sessions: one task and one timer watch all of them.

use std::fmt;
use std::future::Future;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Served, SocketState};
use crate::tasks::Tasks;

#[cfg(test)]
#[path = "parking_tests.rs"]
mod tests;

/// The bytes read at once from the stream of a parked session when it becomes readable.
const FIRST: usize = 1024;

/// The parked sessions of one [`Tasks`].
///
/// A served session costs a task, a timer and the buffers of its WebSocket. Most sessions of a server are idle
/// most of the time, so a session without a message for `park_after` is parked: its buffers are freed, and
/// what is left is its `Session`, its stream and a [`SocketState`], owned by one watching task for all parked
/// sessions. Neither the peer nor the application can tell.
///
/// A session can be parked only between two messages, with nothing left in any buffer: `drive` checks that all
/// frames are written, and `boundary` that no part of a frame was read. Otherwise bytes would be lost with the
/// buffers.
///
/// Any event makes a parked session a task again: bytes or an end from its stream, a message to send, a due
/// ping, the owner draining. The watcher does not interpret the event. The first bytes it has read are handed
/// over in `Served::read`, and the task finds out the rest, so no code here knows frames.
///
/// The order matters in two places. `park` enters the session before it looks whether a watcher runs, under
/// one lock, so a watcher that is about to end either takes it or has cleared `watched`, and a new watcher is
/// started. When the owner drains, the watcher resumes all sessions, also those that arrive later, because only
/// a served session can say good-bye to its peer.
///
/// The watcher ends with the last parked session, and the next one starts a new watcher, also when the runtime
/// of the old one is gone. Sessions keep their token of the owner's `Tasks`, so draining waits for parked ones
/// too. Pings are up to an eighth late, so that one look at the timer serves many sessions.
#[derive(Default)]
pub(crate) struct ParkedSessions {
    arrivals: Mutex<Arrivals>,
    arrived: Notify,
}

#[derive(Default)]
struct Arrivals {
    waiting: Vec<Served>,
    /// Whether a watching task runs.
    watched: bool,
}

impl ParkedSessions {
    /// Keeps a session until something happens to it. Must be called on a runtime.
    pub(super) fn park(self: &Arc<Self>, served: Served, tasks: &Tasks) {
        served.state.session.set_parked(true);
        let mut entry = self.arrivals.lock();
        entry.waiting.push(served);
        let watched = std::mem::replace(&mut entry.watched, true);
        drop(entry);
        if watched {
            self.arrived.notify_one();
        } else {
            // Ends with the last parked session. The sessions count as running at their owner and are resumed
            // when it drains, so the watcher needs no further owner.
            tokio::spawn(watch(Watcher(self.clone()), tasks.draining()));
        }
    }
}

impl fmt::Debug for ParkedSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParkedSessions").finish_non_exhaustive()
    }
}

/// Clears `watched` when the watching task ends, also when its runtime is shut down.
struct Watcher(Arc<ParkedSessions>);

impl Watcher {
    /// The newly parked sessions; `None`, after clearing `watched`, when there are none and `alone` says that no
    /// other is parked.
    fn arrivals(&self, alone: bool) -> Option<Vec<Served>> {
        let mut entry = self.0.arrivals.lock();
        entry.watched = !(alone && entry.waiting.is_empty());
        entry.watched.then(|| std::mem::take(&mut entry.waiting))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let mut entry = self.0.arrivals.lock();
        let lost = if entry.watched {
            std::mem::take(&mut entry.waiting)
        } else {
            Vec::new()
        };
        entry.watched = false;
        drop(entry);
        // Dropped without the lock: it may own the last reference to an object of the application.
        drop(lost);
    }
}

async fn watch(watcher: Watcher, draining: impl Future<Output = ()>) {
    let mut parked = FuturesUnordered::new();
    let timer = tokio::time::sleep_until(Instant::now());
    tokio::pin!(timer, draining);
    let mut drains = false;
    while let Some(arrivals) = watcher.arrivals(parked.is_empty()) {
        for served in arrivals {
            if drains {
                resume(served);
                continue;
            }
            let look = look_at(&served.state);
            if parked.is_empty() || timer.deadline() > look {
                timer.as_mut().reset(look);
            }
            parked.push(Parked::new(served));
        }
        tokio::select! {
            biased;
            () = &mut draining, if !drains => {
                drains = true;
                let all = std::mem::take(&mut parked);
                all.into_iter().filter_map(|parked| parked.served).for_each(resume);
            }
            () = watcher.0.arrived.notified() => {}
            Some(served) = parked.next() => resume(served),
            () = &mut timer => {
                let now = Instant::now();
                if let Some(next) = parked.iter_mut().filter_map(|parked| parked.look(now)).min() {
                    timer.as_mut().reset(next);
                }
            }
        }
    }
}

/// The time to check a parked session for a due ping: a little late, so that one check serves several sessions.
fn look_at(state: &SocketState) -> Instant {
    state.ask_at() + state.settings.ping_after / 8
}

fn resume(served: Served) {
    served.state.session.set_parked(false);
    served.spawn();
}

/// A parked session; ready when any event resumes it.
struct Parked {
    /// `None` once it is resumed.
    served: Option<Served>,
    /// Whether its ping is due.
    called: bool,
    waker: Option<Waker>,
}

impl Parked {
    fn new(served: Served) -> Self {
        Self {
            served: Some(served),
            called: false,
            waker: None,
        }
    }

    /// Resumes it if its ping is due, and returns the next time to check.
    fn look(&mut self, now: Instant) -> Option<Instant> {
        let state = &self.served.as_ref()?.state;
        if state.ask_at() > now {
            return Some(look_at(state));
        }
        self.called = true;
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        Some(now + state.settings.ping_after)
    }
}

impl Future for Parked {
    type Output = Served;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Served> {
        let this = &mut *self;
        let Some(served) = &mut this.served else {
            return Poll::Pending;
        };
        let stirs = this.called
            || served.state.session.poll_outgoing(context).is_ready()
            || read(served, context).is_ready();
        match this.served.take_if(|_| stirs) {
            Some(served) => Poll::Ready(served),
            None => {
                this.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

/// Reads the first bytes that arrive. An end or a failure is found again by the resumed task.
fn read(served: &mut Served, context: &mut Context<'_>) -> Poll<()> {
    let mut space = [MaybeUninit::uninit(); FIRST];
    let mut buffer = ReadBuf::uninit(&mut space);
    let stream = Pin::new(&mut served.stream);
    let came = stream.poll_read(context, &mut buffer).map(drop);
    served.read.extend_from_slice(buffer.filled());
    came
}
