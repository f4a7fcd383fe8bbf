//! Live tails: the newest committed events of each followed stream.
//!
//! A tail exists while its stream has followers. The writer puts committed events into it and wakes the
//! followers; it never waits for one. A follower that does not keep up finds that the tail has dropped the
//! events it needs and reads the log instead.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::batch::{Batch, Change};
use crate::entry::{Entry, StreamId};
use crate::limits::{PAGE_EVENTS, TAIL_BYTES, TAIL_ENTRIES};

#[cfg(test)]
#[path = "tail_tests.rs"]
mod tests;

/// The tails of all followed streams.
///
/// It connects the writer with any number of followers, without a queue for each. A [`Tail`] is a bounded ring
/// (`TAIL_ENTRIES`, `TAIL_BYTES`) of shared entries: the writer pushes each event once, and a follower copies
/// what lies after its cursor. So a slow follower costs no memory and never delays a commit; a broadcast
/// channel would either block the writer or lose events silently.
///
/// Two orders carry the guarantee that a follower sees every event once, without a gap:
///
/// 1. A follower joins its tail before it reads the log. An event committed in between is in the tail. The
///    other order would lose an event that is committed after the read and before joining.
/// 2. The writer publishes after the commit, in commit order. A follower that reads the log then finds at least
///    what the tail has dropped.
///
/// A follower asks [`Tail::poll`] with its cursor and gets entries, `Behind` (read the log), `Ended`, or it is
/// registered to be woken. The first follower of a stream creates the tail, the last one that leaves removes
/// it. Forgetting a stream and closing the store end tails; a stream created later under the same name gets a
/// new tail, which is why `leave` compares pointers.
///
/// Lock order: the map first, then one tail. Wakers and entries are dropped after the locks are released,
/// because dropping a waker may drop a task that holds another follower, which leaves through the same lock.
#[derive(Debug, Default)]
pub(crate) struct Tails(Mutex<Followed>);

#[derive(Debug, Default)]
struct Followed {
    tails: HashMap<StreamId, Arc<Tail>>,
    closed: bool,
}

/// The newest events of one stream, and the wakers of its followers.
#[derive(Debug, Default)]
pub(crate) struct Tail(Mutex<Recent>);

#[derive(Debug, Default)]
struct Recent {
    /// Consecutive events, the newest last.
    entries: VecDeque<Arc<Entry>>,
    bytes: usize,
    /// The sequence number of the newest event published to this tail; 0 before the first.
    published: u64,
    /// The stream was forgotten or the store closed; no event follows.
    ended: bool,
    /// One slot for each follower; it holds a waker while the follower waits.
    wakers: Vec<WakerSlot>,
    followers: usize,
}

#[derive(Debug)]
enum WakerSlot {
    Free,
    Taken(Option<Waker>),
}

/// The answer of a tail to a follower.
pub(crate) enum TailRead {
    /// The entries right after its cursor.
    Live(Vec<Arc<Entry>>),
    /// The tail has dropped events that the follower needs, or cannot know them: read the log.
    Behind,
    /// The stream was forgotten or the store closed.
    Ended,
}

/// Wakes followers when it is dropped. Drop it without holding a lock.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct Wake(Vec<Waker>);

impl Wake {
    pub(crate) fn merge(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }
}

impl Drop for Wake {
    fn drop(&mut self) {
        self.0.drain(..).for_each(Waker::wake);
    }
}

impl Tails {
    /// Begins to follow: every event published from now on reaches the tail. Returns the tail and the number of
    /// the follower's waker slot.
    pub(crate) fn join(&self, stream: &StreamId) -> (Arc<Tail>, usize) {
        let mut followed = self.0.lock();
        let tail = match followed.tails.get(stream) {
            Some(tail) => Arc::clone(tail),
            None => {
                let tail = Arc::new(Tail::default());
                tail.0.lock().ended = followed.closed;
                followed.tails.insert(stream.clone(), Arc::clone(&tail));
                tail
            }
        };
        let slot = tail.0.lock().take_slot();
        (tail, slot)
    }

    /// Ends following. The last follower that leaves removes the tail.
    pub(crate) fn leave(&self, stream: &StreamId, tail: &Arc<Tail>, slot: usize) {
        let _waker;
        let mut followed = self.0.lock();
        let mut recent = tail.0.lock();
        // Dropped last, after both locks: it may own a task that owns another follower.
        _waker = std::mem::replace(&mut recent.wakers[slot], WakerSlot::Free);
        recent.followers -= 1;
        // Forgetting the stream has removed this tail already; the name may have a new one.
        let current = followed
            .tails
            .get(stream)
            .is_some_and(|current| Arc::ptr_eq(current, tail));
        if recent.followers == 0 && current {
            drop(recent);
            followed.tails.remove(stream);
        }
    }

    /// Puts the events of committed batches into the tails of their streams, in commit order.
    pub(crate) fn publish(&self, batches: impl Iterator<Item = Batch>) -> Wake {
        let mut wake = Wake::default();
        let mut followed = self.0.lock();
        for change in batches.flat_map(Batch::into_changes) {
            match change {
                Change::Append {
                    stream,
                    after,
                    events,
                } => {
                    if let Some(tail) = followed.tails.get(&stream) {
                        let entries = events.into_iter().zip(after + 1..);
                        let entries = entries.map(|(event, sequence)| event.into_entry(sequence));
                        tail.0.lock().push(entries.map(Arc::new), &mut wake);
                    }
                }
                Change::Forget { stream } => {
                    if let Some(tail) = followed.tails.remove(&stream) {
                        tail.0.lock().end(&mut wake);
                    }
                }
                Change::Replace {
                    stream,
                    sequence,
                    payload,
                } => {
                    if let Some(tail) = followed.tails.get(&stream) {
                        tail.0.lock().replace(sequence, payload);
                    }
                }
                _ => {}
            }
        }
        wake
    }

    /// Ends all followers, and every follower that joins later.
    pub(crate) fn close(&self) -> Wake {
        let mut wake = Wake::default();
        let mut followed = self.0.lock();
        followed.closed = true;
        for (_, tail) in followed.tails.drain() {
            tail.0.lock().end(&mut wake);
        }
        wake
    }
}

impl Tail {
    /// The events after a cursor. When there are none, the next event wakes the follower.
    ///
    /// `exhausted` says that the follower has read the log to its end since it joined. Without that a tail that
    /// has seen no event cannot tell an empty stream from one with older events.
    pub(crate) fn poll(
        &self,
        cursor: u64,
        exhausted: bool,
        slot: usize,
        cx: &Context<'_>,
    ) -> Poll<TailRead> {
        let mut recent = self.0.lock();
        if recent.ended {
            return Poll::Ready(TailRead::Ended);
        }
        if let Some(oldest) = recent.entries.front().map(|entry| entry.sequence())
            && oldest <= cursor.saturating_add(1)
            && cursor < recent.published
        {
            let skip = usize::try_from(cursor + 1 - oldest).expect("a tail is short");
            let entries = recent.entries.iter().skip(skip).take(PAGE_EVENTS);
            return Poll::Ready(TailRead::Live(entries.cloned().collect()));
        }
        if cursor < recent.published || !(exhausted || recent.published > 0) {
            return Poll::Ready(TailRead::Behind);
        }
        recent.wait(slot, cx);
        Poll::Pending
    }
}

impl Recent {
    fn take_slot(&mut self) -> usize {
        self.followers += 1;
        let free = self
            .wakers
            .iter()
            .position(|slot| matches!(slot, WakerSlot::Free));
        let slot = free.unwrap_or(self.wakers.len());
        if slot == self.wakers.len() {
            self.wakers.push(WakerSlot::Free);
        }
        self.wakers[slot] = WakerSlot::Taken(None);
        slot
    }

    fn wait(&mut self, slot: usize, cx: &Context<'_>) {
        match &mut self.wakers[slot] {
            WakerSlot::Taken(Some(waker)) => waker.clone_from(cx.waker()),
            slot => *slot = WakerSlot::Taken(Some(cx.waker().clone())),
        }
    }

    fn push(&mut self, entries: impl Iterator<Item = Arc<Entry>>, wake: &mut Wake) {
        for entry in entries {
            self.published = entry.sequence();
            self.bytes += entry.payload().len();
            self.entries.push_back(entry);
            while self.entries.len() > TAIL_ENTRIES
                || (self.bytes > TAIL_BYTES && self.entries.len() > 1)
            {
                let oldest = self.entries.pop_front();
                self.bytes -= oldest.map_or(0, |entry| entry.payload().len());
            }
        }
        self.wake(wake);
    }

    fn replace(&mut self, sequence: u64, payload: Bytes) {
        let mut entries = self.entries.iter_mut();
        if let Some(entry) = entries.find(|entry| entry.sequence() == sequence) {
            self.bytes = self.bytes + payload.len() - entry.payload().len();
            *entry = Arc::new(Entry::new(sequence, payload, None));
        }
    }

    fn end(&mut self, wake: &mut Wake) {
        self.ended = true;
        self.entries.clear();
        self.wake(wake);
    }

    fn wake(&mut self, wake: &mut Wake) {
        let waiting = self.wakers.iter_mut().filter_map(|slot| match slot {
            WakerSlot::Taken(waker) => waker.take(),
            WakerSlot::Free => None,
        });
        wake.0.extend(waiting);
    }
}
