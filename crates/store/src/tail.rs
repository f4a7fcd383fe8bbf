//! Live tails: the newest events of the streams that someone follows.
//!
//! A tail exists while its stream has followers. The writer puts committed events into it and wakes
//! them; it never waits for one. A follower that does not keep up finds that the tail has moved on and
//! reads the log instead.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use crate::batch::{Batch, Change};
use crate::entry::{Entry, StreamId};
use crate::limits::{PAGE_EVENTS, TAIL_BYTES, TAIL_ENTRIES};

#[cfg(test)]
#[path = "tail_tests.rs"]
mod tests;

/// The tails of all streams that are followed.
#[derive(Debug, Default)]
pub(crate) struct Tails(Mutex<Followed>);

#[derive(Debug, Default)]
struct Followed {
    tails: HashMap<StreamId, Arc<Tail>>,
    closed: bool,
}

/// The tail of one stream.
#[derive(Debug, Default)]
pub(crate) struct Tail(Mutex<Recent>);

#[derive(Debug, Default)]
struct Recent {
    /// Without a gap, the newest last.
    entries: VecDeque<Arc<Entry>>,
    bytes: usize,
    /// The newest event published since this tail exists; 0 before there is one.
    published: u64,
    /// No more will come: the stream is forgotten or the store is closed.
    ended: bool,
    /// One for each follower, set while it waits.
    wakers: Vec<WakerSlot>,
    followers: usize,
}

#[derive(Debug)]
enum WakerSlot {
    Free,
    Taken(Option<Waker>),
}

/// What a tail has for a follower.
pub(crate) enum TailRead {
    /// The entries right after its cursor.
    Live(Vec<Arc<Entry>>),
    /// There are newer events, but they are no longer here.
    Behind,
    /// There is no more to come.
    Ended,
}

/// Wakes followers when it is dropped, which is to be done without holding a lock.
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
    /// Begins to follow. What is published from now on reaches the tail.
    pub(crate) fn join(&self, stream: &StreamId) -> (Arc<Tail>, usize) {
        let mut followed = self.lock();
        let tail = match followed.tails.get(stream) {
            Some(tail) => Arc::clone(tail),
            None => {
                let tail = Arc::new(Tail::default());
                tail.lock().ended = followed.closed;
                followed.tails.insert(stream.clone(), Arc::clone(&tail));
                tail
            }
        };
        let slot = tail.lock().take_slot();
        (tail, slot)
    }

    /// Ceases to follow. The last one to leave takes the tail with it.
    pub(crate) fn leave(&self, stream: &StreamId, tail: &Arc<Tail>, slot: usize) {
        let _waker;
        let mut followed = self.lock();
        let mut recent = tail.lock();
        // Dropped at the very end: it may hold a task, and that another follower.
        _waker = std::mem::replace(&mut recent.wakers[slot], WakerSlot::Free);
        recent.followers -= 1;
        // A tail whose stream was forgotten has left already, and another may be in its place.
        let current = followed
            .tails
            .get(stream)
            .is_some_and(|current| Arc::ptr_eq(current, tail));
        if recent.followers == 0 && current {
            drop(recent);
            followed.tails.remove(stream);
        }
    }

    /// Hands committed batches to those who follow their streams, in the order of the commits.
    pub(crate) fn publish(&self, batches: impl Iterator<Item = Batch>) -> Wake {
        let mut wake = Wake::default();
        let mut followed = self.lock();
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
                        tail.lock().push(entries.map(Arc::new), &mut wake);
                    }
                }
                Change::Forget { stream } => {
                    if let Some(tail) = followed.tails.remove(&stream) {
                        tail.lock().end(&mut wake);
                    }
                }
                _ => {}
            }
        }
        wake
    }

    /// Ends all followers, those to come included.
    pub(crate) fn close(&self) -> Wake {
        let mut wake = Wake::default();
        let mut followed = self.lock();
        followed.closed = true;
        for (_, tail) in followed.tails.drain() {
            tail.lock().end(&mut wake);
        }
        wake
    }

    fn lock(&self) -> MutexGuard<'_, Followed> {
        self.0.lock().expect("tails are changed without panic")
    }
}

impl Tail {
    /// What follows a cursor. When nothing does, the follower is woken by the next change.
    ///
    /// `exhausted` says that the follower has read the log to its end since it joined: a tail that has seen
    /// no event yet cannot know what was there before it.
    pub(crate) fn poll(
        &self,
        cursor: u64,
        exhausted: bool,
        slot: usize,
        cx: &Context<'_>,
    ) -> Poll<TailRead> {
        let mut recent = self.lock();
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

    fn lock(&self) -> MutexGuard<'_, Recent> {
        self.0.lock().expect("a tail is changed without panic")
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
