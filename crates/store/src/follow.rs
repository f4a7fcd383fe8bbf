//! Following a stream: what was and what comes, as one sequence.

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

/// Follows a stream from a cursor on, past and present: every event once, in order, without a gap.
///
/// It waits for a stream that is not there yet, and does not end when the stream is finished. It ends
/// when the stream is forgotten or the store closed. An error ends nothing: asking again tries again,
/// except that [`Error::Compacted`] stays, for what it lacks is gone. It is also a
/// [`Stream`](futures_core::Stream).
///
/// However slow it is, the writer does not wait for it: it reads the log until it has caught up.
/// Every future it gives can be dropped without losing an event.
pub struct Follow {
    store: Store,
    stream: StreamId,
    tail: Arc<Tail>,
    /// Which of the tail's wakers is ours.
    slot: usize,
    /// The last event that was given out.
    cursor: u64,
    /// What follows the cursor, taken already.
    taken: VecDeque<Arc<Entry>>,
    reading: Option<Reading>,
    /// Whether the log ended with what was taken when it was read last, which was after joining.
    exhausted: bool,
}

type Page = Result<Vec<Arc<Entry>>, Error>;
type Reading = Pin<Box<dyn Future<Output = Page> + Send>>;

impl Follow {
    /// Joins the tail now, before anything is read, so that nothing falls between the two.
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

    /// The sequence number of the last event given out, or where it began.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// The next event.
    pub async fn next(&mut self) -> Option<Result<Arc<Entry>, Error>> {
        poll_fn(|cx| self.poll_entry(cx)).await
    }

    /// All events that are there, at least one and at most `limit`: waits for the first one only.
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

    /// Takes entries that follow the cursor, until there is at least one.
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
