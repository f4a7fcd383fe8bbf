//! Every number that bounds what a client can make the server hold, do or wait for.

use std::time::Duration;

/// The limits of one server. Each has a default that suits one machine.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The largest request, in bytes.
    pub max_body: usize,
    /// How many sessions of the older wire there may be.
    pub max_sessions: usize,
    /// How long a session may be silent before it ends.
    pub session_idle: Duration,
    /// How long a reply in a session is held back to see whether it is one message, and so needs no stream.
    pub hold: Duration,
    /// How long a call is waited for before it becomes a task, where the client can follow tasks.
    pub patience: Duration,
    /// How often a client that follows a task is asked to look.
    pub poll: Duration,
    /// How long somebody has to answer a question of a call that is waited for.
    pub answer_time: Duration,
    /// How often one call is asked something, on the older wire.
    pub max_questions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body: 16 << 20,
            max_sessions: 10_000,
            session_idle: Duration::from_secs(60 * 60),
            hold: Duration::from_millis(250),
            patience: Duration::from_millis(250),
            poll: Duration::from_secs(1),
            answer_time: Duration::from_secs(24 * 60 * 60),
            max_questions: 64,
        }
    }
}

/// How long the tool list may be kept by a client.
pub(crate) const LIST_TIME: Duration = Duration::from_secs(60);

/// The longest answer that is put into an error in MCP's form, in bytes.
pub(crate) const MAX_COMPLAINT: usize = 4 << 10;

/// Every number that bounds what a server of tools can make us hold or wait for. Each call has the time of a skill
/// besides.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolLimits {
    /// How long a server may take to be there.
    pub connect: Duration,
    /// How long none is tried again after it could not be reached.
    pub pause: Duration,
    /// How long it may take to list its tools, all pages together.
    pub list: Duration,
    /// How many pages its list may have.
    pub max_pages: usize,
    /// How many tools it may have.
    pub max_tools: usize,
    /// The largest definition of a tool, in bytes of JSON.
    pub max_definition: usize,
    /// The largest message, in bytes.
    pub max_message: usize,
    /// How often one call may say how far it is.
    pub max_progress: usize,
    /// How often one call may ask something.
    pub max_questions: usize,
    /// How many files and resources one call may hand over.
    pub max_files: usize,
    /// How long a program has to end once nobody needs it.
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
