//! The bounds of groups, tails, pages and readers.

/// The most batches in one transaction.
pub(crate) const GROUP_BATCHES: usize = 1024;

/// The most entries a live tail keeps.
pub(crate) const TAIL_ENTRIES: usize = 1024;

/// The most bytes of payload a live tail keeps, unless a single entry is larger.
pub(crate) const TAIL_BYTES: usize = 1 << 20;

/// How many events a follower takes at a time, from the live tail or from the log.
pub(crate) const PAGE_EVENTS: usize = 128;

/// How many bytes a follower reads from the log at a time, unless a single event is larger.
pub(crate) const PAGE_BYTES: usize = 1 << 20;

/// The most reads of a file at the same time.
pub(crate) const READERS: usize = 4;

/// How many bytes are written to find out whether the journal can be written: room for a request of a usual size.
pub(crate) const PROBE: usize = 64 << 10;
