//! A page of events: what follows a cursor, up to a number of events or of bytes.

use std::sync::Arc;

use bytes::Bytes;

use crate::entry::Entry;

/// A page while an engine fills it.
#[derive(Debug)]
pub(crate) struct Page {
    after: u64,
    entries: Vec<Arc<Entry>>,
    /// How many events are still wanted.
    events: usize,
    /// How many bytes are. The event that takes the last of them is the last one.
    bytes: usize,
}

impl Page {
    /// Events after a cursor, at most `limit`, and none after those that fill `bytes`.
    pub(crate) fn new(after: u64, limit: usize, bytes: usize) -> Self {
        Self {
            after,
            entries: Vec::new(),
            events: limit,
            bytes,
        }
    }

    /// The cursor it begins after.
    pub(crate) fn after(&self) -> u64 {
        self.after
    }

    pub(crate) fn is_full(&self) -> bool {
        self.events == 0 || self.bytes == 0
    }

    /// Adds an event unless it is one before the cursor. Events come in order, and while it is not full.
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
