//! What is in the journal: streams of events.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;

/// Names a stream of events. Cheap to clone.
///
/// A name is meant to be used once: after a stream is forgotten its name can be given again, but a
/// cursor into the old one then points into the new one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(Arc<str>);

impl StreamId {
    /// The stream of this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamId({:?})", &*self.0)
    }
}

/// Where a stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamState {
    /// The oldest event that is still kept; `last + 1` when all are dropped.
    pub first: u64,
    /// The newest event. Events count from 1.
    pub last: u64,
    /// When it was finished, in milliseconds since 1970.
    pub finished: Option<i64>,
}

/// A committed event. Those who follow one stream share its entries, and so what is derived from them.
pub struct Entry {
    sequence: u64,
    payload: Bytes,
    derived: OnceLock<Derived>,
}

/// Something made of a payload.
pub(crate) type Derived = Arc<dyn Any + Send + Sync>;

impl Entry {
    pub(crate) fn new(sequence: u64, payload: Bytes, derived: Option<Derived>) -> Self {
        Self {
            sequence,
            payload,
            derived: derived.map(OnceLock::from).unwrap_or_default(),
        }
    }

    /// Its place in the stream, counted from 1: the cursor of whoever has read this far.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// What was appended.
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// Something made of the payload: made once, and shared by all who hold this entry.
    ///
    /// All who use a stream agree on one type. Whoever asks for another gets it made anew each time.
    pub fn derived<T: Any + Send + Sync>(&self, make: impl FnOnce(&Bytes) -> T) -> Arc<T> {
        let mut make = Some(make);
        let mut made = || {
            let make = make.take().expect("what is derived is made at most once");
            Arc::new(make(&self.payload))
        };
        let kept = self.derived.get_or_init(|| made());
        // When the types differ, what is kept was there before and `make` is still to be used.
        Arc::downcast(Arc::clone(kept)).unwrap_or_else(|_other| made())
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("sequence", &self.sequence)
            .field("payload", &self.payload)
            .finish_non_exhaustive()
    }
}
