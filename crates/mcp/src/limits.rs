//! Sizes, counts and time limits: what a client can make the server hold, and what a tool server can make us hold.

use std::time::Duration;

/// The limits of one MCP server. The defaults suit one machine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The size of a request, in bytes.
    pub max_body: usize,
    /// How many sessions of revision 2025-11-25 may be open.
    pub max_sessions: usize,
    /// How many of them one caller may have; of callers without a name, one address. When it opens another, its session
    /// that was not used for the longest time ends.
    pub max_sessions_each: usize,
    /// A session without a message for this long is closed.
    pub session_idle: Duration,
    /// How many requests of one session, or of one client on standard input, may be open.
    pub max_requests: usize,
    /// How long a reply in a session is held back: if it turns out to be a single message, it is sent as JSON instead of
    /// as an event stream.
    pub hold: Duration,
    /// How long a call may take before it is answered with a task, for clients that support MCP tasks.
    pub patience: Duration,
    /// The poll interval that clients of MCP tasks are told.
    pub poll: Duration,
    /// How long a question may stay unanswered while its call waits (2025-11-25), and how long a sealed request state is
    /// valid (2026-07-28).
    pub answer_time: Duration,
    /// How many questions one call may ask in a session of revision 2025-11-25.
    pub max_questions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body: 16 << 20,
            max_sessions: 10_000,
            max_sessions_each: 200,
            session_idle: Duration::from_secs(60 * 60),
            max_requests: 256,
            hold: Duration::from_millis(250),
            patience: Duration::from_millis(250),
            poll: Duration::from_secs(1),
            answer_time: Duration::from_secs(24 * 60 * 60),
            max_questions: 64,
        }
    }
}

/// How long clients may cache the list of tools.
pub(crate) const LIST_TIME: Duration = Duration::from_secs(60);

/// How many messages of one streamed reply are kept for a client that resumes it, and how many bytes. The oldest are
/// dropped first.
pub(crate) const MAX_REPLAY_EVENTS: usize = 1_000;
pub(crate) const MAX_REPLAY_BYTES: usize = 4 << 20;

/// How many streamed replies of one session are kept.
pub(crate) const MAX_REPLAYS: usize = 64;

/// A stream without events for this long gets a comment.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// What a tool server can make us hold or wait for. The time limit of a call is that of its skill, and is not among
/// these.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolLimits {
    /// How long starting or reaching a server, and its handshake, may take together.
    pub connect: Duration,
    /// After a failed connection the same error is returned for this long, without another attempt.
    pub pause: Duration,
    /// How long listing its tools may take, all pages together.
    pub list: Duration,
    /// How many pages its list of tools may have.
    pub max_pages: usize,
    /// How many tools it may list.
    pub max_tools: usize,
    /// The size of one tool's definition, in bytes of JSON.
    pub max_definition: usize,
    /// The size of one message, in bytes.
    pub max_message: usize,
    /// How many progress notifications of one call are passed on; the rest are dropped.
    pub max_progress: usize,
    /// How many questions one call may ask.
    pub max_questions: usize,
    /// How many files and embedded resources one result may hold.
    pub max_files: usize,
    /// How long a program may take to exit after its input was closed; then it is killed.
    pub grace: Duration,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(20),
            pause: Duration::from_secs(1),
            list: Duration::from_secs(20),
            max_pages: 100,
            max_tools: 1_000,
            max_definition: 128 << 10,
            max_message: 16 << 20,
            max_progress: 1_000,
            max_questions: 64,
            max_files: 100,
            grace: Duration::from_secs(2),
        }
    }
}
