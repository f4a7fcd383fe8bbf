//! The limits, each with its bound.

/// The most decisions of one caller that count for later calls; the oldest are given up first.
pub const GRANTS_EACH: usize = 64;

/// The most of all callers. Beyond it the caller with the most gives up its oldest.
pub const GRANTS: usize = 1024;

/// The most skills of other servers of which the accepted definition is known.
pub const ACCEPTED: usize = 1_024;

/// How many ended requests are known by how they ended.
pub const ENDED: usize = 64;

/// How many conversations of one caller are kept in mind.
pub const CONVERSATIONS_EACH: usize = 32;

/// How many of all callers. Beyond it the caller with the most gives up its oldest.
pub const CONVERSATIONS: usize = 128;

/// How many lines of each are kept, also if the law wants to see more.
pub const LINES: usize = 100;

/// The longest line that is kept, in bytes.
pub const LINE: usize = 2_000;

/// The most approvals that are kept; those that wait are never given up.
pub const APPROVALS: usize = 320;

/// How much is kept, to be listed, of what a person is shown of a call that waits, in bytes.
pub const SHOWN: usize = 32 << 10;

/// The most approvals of one caller that may wait at a time.
pub const WAITING_EACH: usize = 16;

/// The most of all callers.
pub const WAITING: usize = 256;

/// The most requests that are begun and not answered: those that wait for others take none of the places for work.
pub const OPEN: usize = 256;

/// The most reminders of one caller that wait at a time.
pub const REMINDERS: usize = 50;

/// How often agents may ask each other for one request.
pub const DEPTH: u8 = 4;

/// The longest text of a request, in bytes.
pub const REQUEST: usize = 64 * 1024;

/// What a sender wants to be shown with its message again, in bytes of JSON. What is longer is not kept.
pub const NOTE: usize = 8 * 1024;

/// The most that is kept of a model's reasoning, in bytes.
pub const REASONING: usize = 8 * 1024;

/// The most of a skill's output that is kept in mind, in bytes.
pub const OUTPUT: usize = 16 * 1024;

/// How many letters may wait for an agent that is awake.
pub const MAILBOX: usize = 256;

/// After how many events the state is written down as a whole.
pub const SNAPSHOT: u64 = 256;

/// How many messages of a task are known to have been taken as answers. Only the last message of a task is ever
/// delivered again.
pub const TAKEN: usize = 8;

/// How many recorded events wait for the next commit at most.
pub const UNCOMMITTED: usize = 64;
