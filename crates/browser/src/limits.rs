//! Bounds of browsers, pages and what is read of them.

use std::time::Duration;

/// How much sessions, pages and downloads may use.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Most sessions at once.
    pub sessions: usize,
    /// Most tabs of one session; a page that opens more has them closed.
    pub tabs: usize,
    /// Most memory that one process of a page may use, in bytes. A process with more is ended.
    pub page_bytes: u64,
    /// How long a process of a page may want a whole processor without a pause. After that it is ended.
    pub busy: Duration,
    /// How often memory and processor time of pages are looked at.
    pub look: Duration,
    /// How long a page may take to load.
    pub load: Duration,
    /// How long any one command of the browser may take.
    pub command: Duration,
    pub start: Duration,
    /// A session without calls for this long is closed; the browser ends with its last session.
    pub idle: Duration,
    /// Largest file that is downloaded, and largest file that is given to a page.
    pub file_bytes: u64,
    /// Largest text that one call returns.
    pub text_bytes: usize,
    /// Largest picture or document that is made.
    pub picture_bytes: usize,
    /// Most entries that are kept of each log of a page.
    pub log_entries: usize,
    /// Most connections that one session has at once.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1 << 20;
        Self {
            sessions: 20,
            tabs: 10,
            page_bytes: 1_500 * MIB,
            busy: Duration::from_secs(60),
            look: Duration::from_secs(2),
            load: Duration::from_secs(30),
            command: Duration::from_secs(30),
            start: Duration::from_secs(30),
            idle: Duration::from_secs(600),
            file_bytes: 64 * MIB,
            text_bytes: 16 << 10,
            picture_bytes: 24 << 20,
            log_entries: 200,
            connections: 128,
        }
    }
}
