//! A change to the store: all of it happens, or none.

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

    /// Adds what the writer has made of the payload already, so that live followers find it in
    /// [`Entry::derived`](crate::Entry::derived) and need not decode.
    #[must_use]
    pub fn with_derived<T: Any + Send + Sync>(mut self, derived: Arc<T>) -> Self {
        self.derived = Some(derived);
        self
    }

    pub(crate) fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// What it is once it is committed.
    pub(crate) fn into_entry(self, sequence: u64) -> Entry {
        Entry::new(sequence, self.payload, self.derived)
    }
}

impl fmt::Debug for NewEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NewEvent").field(&self.payload).finish()
    }
}

/// Changes to streams and tables that happen together, in the order they were added, or not at all.
#[derive(Debug, Default)]
#[must_use = "a batch changes nothing until it is committed"]
pub struct Batch {
    changes: Vec<Change>,
}

/// One step of a batch.
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
    /// A change of nothing.
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

    /// Says that no more events are expected. Retention counts from `at`, in milliseconds since 1970;
    /// finishing again moves it. An unknown stream stays unknown.
    pub fn finish(self, stream: &StreamId, at: i64) -> Self {
        let stream = stream.clone();
        self.with(Change::Finish { stream, at })
    }

    /// Drops the events up to and including `through`. Reading from an older cursor then fails with
    /// [`Error::Compacted`](crate::Error::Compacted). What is not there is not missed.
    pub fn truncate(self, stream: &StreamId, through: u64) -> Self {
        let stream = stream.clone();
        self.with(Change::Truncate { stream, through })
    }

    /// Drops the stream: afterwards it is unknown, and those who follow it have come to the end.
    pub fn forget(self, stream: &StreamId) -> Self {
        let stream = stream.clone();
        self.with(Change::Forget { stream })
    }

    /// Writes a row, over the one with this key if there is one.
    pub fn put(self, table: &'static Table, row: Row) -> Self {
        self.with(Change::Put { table, row })
    }

    /// Writes a new row; with [`Error::Exists`](crate::Error::Exists) the batch fails if there is one.
    pub fn insert(self, table: &'static Table, row: Row) -> Self {
        self.with(Change::Insert { table, row })
    }

    /// Removes a row, if it is there.
    pub fn delete(self, table: &'static Table, key: &str) -> Self {
        let key = key.to_owned();
        self.with(Change::Delete { table, key })
    }

    /// Whether it changes nothing.
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
