//! The numbers that bound what callers send and what is held.

/// The most bytes of a record's text.
pub const MAX_TEXT: usize = 64 * 1024;

/// The most bytes of a record's metadata, written as JSON.
pub const MAX_METADATA: usize = 16 * 1024;

/// The most bytes of each part of a reason.
pub const MAX_REASON: usize = 4 * 1024;

/// The most bytes of names: spaces, speakers, sessions, tasks, kinds.
pub const MAX_NAME: usize = 256;

/// The most bytes of a question.
pub const MAX_QUESTION: usize = 8 * 1024;

/// The most hits of one recall.
pub const MAX_HITS: usize = 1000;

/// How many writes may wait.
pub(crate) const MAILBOX: usize = 1024;

/// The most writes in one commit.
pub(crate) const GROUP: usize = 512;

/// How many uses are gathered before they are written down.
pub(crate) const USES: usize = 256;

/// How many answers the cache of recall holds, in each space.
pub(crate) const CACHE: usize = 256;

/// How many records a model reads at once.
pub(crate) const READ_BATCH: usize = 8;

/// The most bytes of a record that a model reads.
pub(crate) const READ_TEXT: usize = 4 * 1024;

/// How many texts are embedded at once.
pub(crate) const EMBED_BATCH: usize = 16;
