//! Where idle sessions wait: one task and one timer for all of them.

use std::fmt;
use std::future::Future;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::{Seat, Served};
use crate::context::Tasks;

#[cfg(test)]
#[path = "lot_tests.rs"]
mod tests;

/// How much is read from the stream of a parked session to find out that there is something.
const FIRST: usize = 1024;

/// The parked sessions of one owner.
///
/// Whatever happens to one, bytes or an end from its stream, something to send, a ping that is due, the owner
/// stopping, makes it a task again; what that means is for the task to find out. So nothing is known here
/// of frames.
#[derive(Default)]
pub(crate) struct Lot {
    door: Mutex<Door>,
    arrived: Notify,
}

#[derive(Default)]
struct Door {
    arrivals: Vec<Served>,
    /// Whether there is a task that watches.
    watched: bool,
}

impl Lot {
    /// Keeps a session until something happens to it. Must be called on a runtime.
    pub(super) fn park(self: &Arc<Self>, served: Served, tasks: &Tasks) {
        served.seat.session.set_parked(true);
        let mut door = self.door();
        door.arrivals.push(served);
        let watched = std::mem::replace(&mut door.watched, true);
        drop(door);
        if watched {
            self.arrived.notify_one();
        } else {
            // Ends with the last that is parked. Those count among what its owner waits for, and are let go
            // when the owner drains; so it needs no owner of its own.
            tokio::spawn(watch(Watcher(self.clone()), tasks.draining()));
        }
    }

    fn door(&self) -> MutexGuard<'_, Door> {
        // Plain data, whole at every step.
        self.door.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Lot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lot").finish_non_exhaustive()
    }
}

/// The one that watches. The next to park gets a new one when it is gone, even if its runtime was.
struct Watcher(Arc<Lot>);

impl Watcher {
    /// Those who have come; `None`, and nobody watches any more, when `alone` and nobody has.
    fn arrivals(&self, alone: bool) -> Option<Vec<Served>> {
        let mut door = self.0.door();
        door.watched = !(alone && door.arrivals.is_empty());
        door.watched.then(|| std::mem::take(&mut door.arrivals))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let mut door = self.0.door();
        let lost = if door.watched {
            std::mem::take(&mut door.arrivals)
        } else {
            Vec::new()
        };
        door.watched = false;
        drop(door);
        // Outside of the lock: it may be the last to hold things of the application's.
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
            let look = look_at(&served.seat);
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

/// When to look whether it is time to ask a parked session for a sign of life: a little later than it is, for
/// then it may be time for others too.
fn look_at(seat: &Seat) -> Instant {
    seat.ask_at() + seat.settings.ping_after / 8
}

fn resume(served: Served) {
    served.seat.session.set_parked(false);
    served.spawn();
}

/// A session that waits until something happens to it.
struct Parked {
    /// Gone once something has.
    served: Option<Served>,
    /// It is time.
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

    /// Calls it when it is time, and says when to look again at those that are left.
    fn look(&mut self, now: Instant) -> Option<Instant> {
        let seat = &self.served.as_ref()?.seat;
        if seat.ask_at() > now {
            return Some(look_at(seat));
        }
        self.called = true;
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        Some(now + seat.settings.ping_after)
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
            || served.seat.session.poll_outgoing(context).is_ready()
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

/// Reads the first bytes that come. That there was an end or a failure is found out again by who resumes.
fn read(served: &mut Served, context: &mut Context<'_>) -> Poll<()> {
    let mut space = [MaybeUninit::uninit(); FIRST];
    let mut buffer = ReadBuf::uninit(&mut space);
    let stream = Pin::new(&mut served.stream);
    let came = stream.poll_read(context, &mut buffer).map(drop);
    served.read.extend_from_slice(buffer.filled());
    came
}
