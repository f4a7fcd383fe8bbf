//! The journal's parts: stream names, stream states, committed events.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;

#[cfg(test)]
#[path = "entry_tests.rs"]
mod tests;

/// Names a stream of events. Cheap to clone.
///
/// Use a name once: after a stream is forgotten its name can be used again, but a cursor into the old
/// stream then points into the new one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(Arc<str>);

impl StreamId {
    /// The stream of this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

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

/// The state of a stream: which events are kept, and whether it is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamState {
    /// The oldest event that is still kept; `last + 1` when all are dropped.
    pub first: u64,
    /// The newest event. Events count from 1.
    pub last: u64,
    /// The time it was finished, in milliseconds since 1970.
    pub finished: Option<i64>,
}

/// A committed event. All followers of a stream share its entries, and so the values derived from them.
pub struct Entry {
    sequence: u64,
    payload: Bytes,
    derived: OnceLock<Derived>,
}

/// A value made from a payload, for example the decoded event.
pub(crate) type Derived = Arc<dyn Any + Send + Sync>;

impl Entry {
    pub(crate) fn new(sequence: u64, payload: Bytes, derived: Option<Derived>) -> Self {
        Self {
            sequence,
            payload,
            derived: derived.map(OnceLock::from).unwrap_or_default(),
        }
    }

    /// The position in the stream, counted from 1. It is also the cursor after this event.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// A value made from the payload: made once, and shared by all holders of this entry.
    ///
    /// All users of a stream should ask for one type `T`. A second type is made anew on each call.
    pub fn derived<T: Any + Send + Sync>(&self, make: impl FnOnce(&Bytes) -> T) -> Arc<T> {
        let mut make = Some(make);
        let mut made = || {
            let make = make.take().expect("what is derived is made at most once");
            Arc::new(make(&self.payload))
        };
        let kept = self.derived.get_or_init(|| made());
        // If the types differ, the kept value was there before, so `make` has not been used yet.
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
