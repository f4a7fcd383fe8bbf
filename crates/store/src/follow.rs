//! Following a stream: committed and future events as one sequence.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use crate::Error;
use crate::entry::{Entry, StreamId};
use crate::limits::{PAGE_BYTES, PAGE_EVENTS};
use crate::store::Store;
use crate::tail::{Tail, TailRead};

/// A follower of one stream: it gives every event after a cursor once, in order, without a gap.
///
/// It may start before the stream exists, and it does not end when the stream is finished. It ends when the
/// stream is forgotten or the store is closed. After an error the next call tries again, except that
/// [`Error::Compacted`] stays: the events it needs have been dropped. It is also a
/// [`Stream`](futures_core::Stream).
///
/// It reads from two places. While it is behind it reads pages of the log; once it has caught up, events come
/// from the live tail, which the writer fills after each commit. It joins the tail first and reads the log
/// afterwards, so no event falls between the two; the cursor removes what both of them have. The writer never
/// waits for it: when the tail has dropped what it needs, it reads the log again until it has caught up.
///
/// It holds a handle to the store, so the store stays open while it lives, and a waker slot in the tail, which
/// it gives back when it is dropped. Every future it returns may be dropped without losing an event: events
/// move from `taken` to the caller, and the cursor advances, in the same poll.
pub struct Follow {
    store: Store,
    stream: StreamId,
    tail: Arc<Tail>,
    /// The number of this follower's waker in the tail.
    slot: usize,
    /// The sequence number of the last event given to the caller.
    cursor: u64,
    /// Events after the cursor that were read but not yet given to the caller.
    taken: VecDeque<Arc<Entry>>,
    reading: Option<Reading>,
    /// Whether the last read of the log, made after joining the tail, reached the end of the stream.
    exhausted: bool,
}

type Page = Result<Vec<Arc<Entry>>, Error>;
type Reading = Pin<Box<dyn Future<Output = Page> + Send>>;

impl Follow {
    /// Joins the tail before anything is read, so that no event falls between the log and the tail.
    pub(crate) fn new(store: Store, stream: &StreamId, after: u64) -> Self {
        let (tail, slot) = store.tails().join(stream);
        Self {
            store,
            stream: stream.clone(),
            tail,
            slot,
            cursor: after,
            taken: VecDeque::new(),
            reading: None,
            exhausted: false,
        }
    }

    /// The sequence number of the last event given to the caller, or the cursor it started with.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// Waits for the next event. None when the stream is forgotten or the store closed.
    pub async fn next(&mut self) -> Option<Result<Arc<Entry>, Error>> {
        poll_fn(|cx| self.poll_entry(cx)).await
    }

    /// Waits for one event and returns it with those already available, at most `limit`.
    pub async fn next_many(&mut self, limit: usize) -> Option<Result<Vec<Arc<Entry>>, Error>> {
        let filled = poll_fn(|cx| self.poll_taken(cx)).await;
        if let Some(Ok(())) = filled {
            let count = limit.clamp(1, self.taken.len());
            let entries: Vec<_> = self.taken.drain(..count).collect();
            self.cursor += entries.len() as u64;
            return Some(Ok(entries));
        }
        filled.map(|filled| filled.map(|()| Vec::new()))
    }

    fn poll_entry(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Arc<Entry>, Error>>> {
        let filled = ready!(self.poll_taken(cx));
        Poll::Ready(filled.map(|filled| {
            filled.map(|()| {
                let entry = self.taken.pop_front().expect("something was taken");
                self.cursor = entry.sequence();
                entry
            })
        }))
    }

    /// Fills `taken` with at least one event after the cursor.
    fn poll_taken(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<(), Error>>> {
        loop {
            if !self.taken.is_empty() {
                return Poll::Ready(Some(Ok(())));
            }
            if let Some(reading) = &mut self.reading {
                let page = ready!(reading.as_mut().poll(cx));
                self.reading = None;
                match page {
                    Ok(page) => {
                        let bytes: usize = page.iter().map(|entry| entry.payload().len()).sum();
                        self.exhausted = page.len() < PAGE_EVENTS && bytes < PAGE_BYTES;
                        self.taken = page.into();
                    }
                    Err(Error::Closed) => return Poll::Ready(None),
                    Err(error) => return Poll::Ready(Some(Err(error))),
                }
                continue;
            }
            match ready!(self.tail.poll(self.cursor, self.exhausted, self.slot, cx)) {
                TailRead::Live(entries) => self.taken = entries.into(),
                TailRead::Behind => self.reading = Some(self.read()),
                TailRead::Ended => return Poll::Ready(None),
            }
        }
    }

    fn read(&self) -> Reading {
        let (store, stream, after) = (self.store.clone(), self.stream.clone(), self.cursor);
        Box::pin(async move {
            let read = store.read(move |view| view.page(&stream, after, PAGE_EVENTS, PAGE_BYTES));
            read.await
        })
    }
}

impl futures_core::Stream for Follow {
    type Item = Result<Arc<Entry>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_entry(cx)
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        self.store
            .tails()
            .leave(&self.stream, &self.tail, self.slot);
    }
}

impl fmt::Debug for Follow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Follow")
            .field("stream", &self.stream)
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}
