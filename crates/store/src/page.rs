//! A page: the events after a cursor, up to a number of events or of bytes.

use std::sync::Arc;

use bytes::Bytes;

use crate::entry::Entry;

/// A page while an engine fills it.
#[derive(Debug)]
pub(crate) struct Page {
    after: u64,
    entries: Vec<Arc<Entry>>,
    /// The number of events that still fit.
    events: usize,
    /// The number of bytes that still fit. The event that uses them up is the last one, whatever its size.
    bytes: usize,
}

impl Page {
    /// An empty page for at most `limit` events after a cursor, ending with the event that fills `bytes`.
    pub(crate) fn new(after: u64, limit: usize, bytes: usize) -> Self {
        Self {
            after,
            entries: Vec::new(),
            events: limit,
            bytes,
        }
    }

    /// The cursor that the page starts after.
    pub(crate) fn after(&self) -> u64 {
        self.after
    }

    pub(crate) fn is_full(&self) -> bool {
        self.events == 0 || self.bytes == 0
    }

    /// Adds an event, unless it lies before the cursor. Call it in order, and only while the page is not full.
    pub(crate) fn add(&mut self, sequence: u64, payload: impl FnOnce() -> Bytes) {
        if sequence > self.after {
            let payload = payload();
            self.events -= 1;
            self.bytes = self.bytes.saturating_sub(payload.len());
            self.entries
                .push(Arc::new(Entry::new(sequence, payload, None)));
        }
    }

    pub(crate) fn into_entries(self) -> Vec<Arc<Entry>> {
        self.entries
    }
}
