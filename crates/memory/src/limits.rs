//! Bounds of requests, queues, batches and caches.

/// Longest text of a record, in bytes.
pub const MAX_TEXT: usize = 64 * 1024;

/// Largest metadata of a record, in bytes of JSON.
pub const MAX_METADATA: usize = 16 * 1024;

/// Longest part of a reason, in bytes.
pub const MAX_REASON: usize = 4 * 1024;

/// Longest name of a space, speaker, session, task or kind, in bytes.
pub const MAX_NAME: usize = 256;

/// Longest question, in bytes.
pub const MAX_QUESTION: usize = 8 * 1024;

/// Most hits of one recall.
pub const MAX_HITS: usize = 1000;

/// Most writes that wait for the writer; further callers wait until there is room.
pub(crate) const MAILBOX: usize = 1024;

/// Most writes in one commit.
pub(crate) const GROUP: usize = 512;

/// Uses of records that are counted before they are written.
pub(crate) const USES: usize = 256;

/// Most answers in the cache of recall, for all spaces together, and as many contexts of tasks in theirs.
pub(crate) const CACHE: usize = 256;

/// Most bytes of each of the two caches, estimated.
pub(crate) const CACHE_BYTES: usize = 8 << 20;

/// Most files of one project that graph memory has; the oldest go first.
pub(crate) const MAX_CODE_FILES: usize = 5_000;

/// Longest path of a file in graph memory, in bytes.
pub(crate) const MAX_CODE_PATH: usize = 1024;

/// Most tasks that are kept for a file.
pub(crate) const MAX_TOUCHES: usize = 16;

/// Records in one prompt of entity extraction.
pub(crate) const READ_BATCH: usize = 8;

/// Most bytes of a record in a prompt of entity extraction.
pub(crate) const READ_TEXT: usize = 4 * 1024;

/// Texts in one call of the embedder.
pub(crate) const EMBED_BATCH: usize = 16;
