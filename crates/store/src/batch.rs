//! Batches: changes that are committed together or not at all.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::entry::{Derived, Entry, StreamId};
use crate::table::{Row, Table};

/// An event to append.
pub struct NewEvent {
    payload: Bytes,
    derived: Option<Derived>,
}

impl NewEvent {
    /// An event with this payload.
    pub fn new(payload: impl Into<Bytes>) -> Self {
        Self {
            payload: payload.into(),
            derived: None,
        }
    }

    /// Attaches a value that the caller has already made from the payload, so that live followers find it in
    /// [`Entry::derived`](crate::Entry::derived) and do not decode the payload again.
    #[must_use]
    pub fn with_derived<T: Any + Send + Sync>(mut self, derived: Arc<T>) -> Self {
        self.derived = Some(derived);
        self
    }

    pub(crate) fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// The committed form of the event.
    pub(crate) fn into_entry(self, sequence: u64) -> Entry {
        Entry::new(sequence, self.payload, self.derived)
    }
}

impl fmt::Debug for NewEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NewEvent").field(&self.payload).finish()
    }
}

/// Changes to streams and tables, applied together in the order they were added, or not at all.
#[derive(Debug, Default)]
#[must_use = "a batch changes nothing until it is committed"]
pub struct Batch {
    changes: Vec<Change>,
}

/// One change of a batch.
#[derive(Debug)]
pub(crate) enum Change {
    Append {
        stream: StreamId,
        after: u64,
        events: Vec<NewEvent>,
    },
    Finish {
        stream: StreamId,
        at: i64,
    },
    Truncate {
        stream: StreamId,
        through: u64,
    },
    Forget {
        stream: StreamId,
    },
    Replace {
        stream: StreamId,
        sequence: u64,
        payload: Bytes,
    },
    Put {
        table: &'static Table,
        row: Row,
    },
    Insert {
        table: &'static Table,
        row: Row,
    },
    Delete {
        table: &'static Table,
        key: String,
    },
}

impl Batch {
    /// A batch without changes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends after the event `after`, which has to be the last one; 0 says that the stream is new or
    /// has no event. Otherwise the batch fails with [`Error::Conflict`](crate::Error::Conflict): this is
    /// the compare-and-set. On a finished stream it fails with [`Error::Finished`](crate::Error::Finished).
    ///
    /// Without events it only checks.
    pub fn append(self, stream: &StreamId, after: u64, events: Vec<NewEvent>) -> Self {
        self.with(Change::Append {
            stream: stream.clone(),
            after,
            events,
        })
    }

    /// Marks the stream as finished: it takes no more events. Retention counts from `at`, in milliseconds since
    /// 1970; finishing again moves that time. An unknown stream stays unknown.
    pub fn finish(self, stream: &StreamId, at: i64) -> Self {
        let stream = stream.clone();
        self.with(Change::Finish { stream, at })
    }

    /// Drops the events up to and including `through`. Reading from an older cursor then fails with
    /// [`Error::Compacted`](crate::Error::Compacted). Truncating an unknown stream or dropped events does nothing.
    pub fn truncate(self, stream: &StreamId, through: u64) -> Self {
        let stream = stream.clone();
        self.with(Change::Truncate { stream, through })
    }

    /// Drops the stream: afterwards it is unknown, and its followers end.
    pub fn forget(self, stream: &StreamId) -> Self {
        let stream = stream.clone();
        self.with(Change::Forget { stream })
    }

    /// Writes another payload for an event that is there, under the same number: for a text that must not be kept. Readers
    /// and followers that come later see the new payload; an event that is not there stays so.
    pub fn replace(self, stream: &StreamId, sequence: u64, payload: impl Into<Bytes>) -> Self {
        self.with(Change::Replace {
            stream: stream.clone(),
            sequence,
            payload: payload.into(),
        })
    }

    /// Writes a row, replacing the one with this key.
    pub fn put(self, table: &'static Table, row: Row) -> Self {
        self.with(Change::Put { table, row })
    }

    /// Writes a new row; the batch fails with [`Error::Exists`](crate::Error::Exists) if the key is taken.
    pub fn insert(self, table: &'static Table, row: Row) -> Self {
        self.with(Change::Insert { table, row })
    }

    /// Removes the row with this key; without one it does nothing.
    pub fn delete(self, table: &'static Table, key: &str) -> Self {
        let key = key.to_owned();
        self.with(Change::Delete { table, key })
    }

    /// Whether the batch has no changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    pub(crate) fn into_changes(self) -> Vec<Change> {
        self.changes
    }

    fn with(mut self, change: Change) -> Self {
        self.changes.push(change);
        self
    }
}
