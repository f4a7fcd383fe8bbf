//! How much, and for how long, a client may keep the server waiting.

use std::time::Duration;

/// The bounds of a listener. A response that streams is bounded by none of them for as long as its
/// client takes what is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many connections may be open at once. A further one waits for a place.
    pub connections: usize,
    /// How many requests one HTTP/2 connection may have under way.
    pub streams: u32,
    /// How long the head of a request may be, in bytes.
    pub head_bytes: u32,
    /// How long a client may take for the TLS handshake.
    pub handshake: Duration,
    /// How long a client may take for the head of a request, the wait for it included.
    pub head: Duration,
    /// How long a client may send nothing while the rest of its request is waited for.
    pub body: Duration,
    /// How long the rest of a request may take as a whole.
    pub body_total: Duration,
    /// How long a client may take nothing while something waits for it.
    pub write: Duration,
    /// How long connections may take to finish once the server stops.
    pub drain: Duration,
}

impl Limits {
    /// When an HTTP/2 client is asked for a sign of life.
    ///
    /// It has [`Self::ping_answer`] to give it. Nothing but the rest of a frame or of a header block
    /// may come in between, so that both together are also the limit for a head.
    pub(super) fn ping_interval(&self) -> Duration {
        self.head * 2 / 3
    }

    /// How long an HTTP/2 client may take for that sign.
    pub(super) fn ping_answer(&self) -> Duration {
        self.head / 3
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            streams: 256,
            head_bytes: 32 << 10,
            handshake: Duration::from_secs(10),
            head: Duration::from_secs(30),
            body: Duration::from_secs(30),
            body_total: Duration::from_secs(300),
            write: Duration::from_secs(30),
            drain: Duration::from_secs(5),
        }
    }
}
