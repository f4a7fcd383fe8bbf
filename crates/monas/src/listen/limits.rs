//! The limits of a listener: sizes, counts and times.

use std::time::Duration;

/// The limits of a listener. A response may stream for ever, as long as its client keeps reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many connections may be open at once. Further ones wait to be accepted.
    pub connections: usize,
    /// How many of them are kept for callers that are known: when the others are taken, a request is answered only if its
    /// caller is known.
    pub kept: usize,
    /// How many of them may come from one address. Loopback addresses are not counted.
    pub per_address: usize,
    /// How many requests one HTTP/2 connection may have under way.
    pub streams: u32,
    /// The largest head of a request, in bytes.
    pub head_bytes: u32,
    /// How long a client may take for the TLS handshake.
    pub handshake: Duration,
    /// How long a client may take for the head of a request, the wait for it included.
    pub head: Duration,
    /// How long a client may pause while it sends a request body.
    pub body: Duration,
    /// How long a whole request body may take.
    pub body_total: Duration,
    /// How long a client may read nothing while data waits for it.
    pub write: Duration,
    /// How long connections may take to finish once the server stops.
    pub drain: Duration,
}

impl Limits {
    /// How long a client may take for the head of a request on a place that is kept for known callers.
    pub(super) fn kept_head(&self) -> Duration {
        self.head.min(Duration::from_secs(5))
    }

    /// How often an HTTP/2 client is pinged.
    ///
    /// It has [`Self::ping_answer`] to reply. While it sends a header block it cannot reply, so both times together are
    /// also the limit for a head.
    pub(super) fn ping_interval(&self) -> Duration {
        self.head * 2 / 3
    }

    /// How long an HTTP/2 client may take to reply to a ping.
    pub(super) fn ping_answer(&self) -> Duration {
        self.head / 3
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            kept: 0,
            per_address: 2_500,
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
