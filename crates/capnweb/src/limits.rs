//! The bounds on what a peer may cause before its session ends.

use std::time::Duration;

use crate::weight;

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;

/// The bounds of one session. They are not negotiated: exceeding one aborts the session with the reason,
/// unless the field says otherwise.
///
/// The first three are those of the JavaScript implementation, with its defaults. The others have no
/// counterpart there. They exist because one small frame can cause much work and memory: a promise used many
/// times in a message, and that message's result again many times, grows exponentially. So each kind of
/// resource has its own bound: table entries, running handlers, awaited promises, queued, unread and held
/// bytes, elements and depth of `.map()`, Blobs, time and rate of calls.
///
/// Sizes of messages, depth and numbers are checked while parsing; table sizes and the rate when the session
/// processes a message; the others are counted on the session's account by permits, which follow the work
/// wherever it goes and give the count back when they are dropped. The defaults suit a server on the open
/// network that keeps thousands of sessions; a session between one's own processes may raise all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest message accepted, in bytes of UTF-8. The JavaScript implementation counts UTF-16 units, of
    /// which there are never more. A value must not grow beyond it through promises either.
    pub max_message_bytes: usize,
    /// The longest message sent; `None` is `max_message_bytes`.
    pub max_sent_bytes: Option<usize>,
    /// The memory that a message above [`LARGE`](crate::weight::LARGE) may take once it is parsed, for each of its
    /// bytes and besides [`LEEWAY`](crate::weight::LEEWAY). It is estimated before the message is parsed.
    pub max_growth: usize,
    /// The deepest nesting of expressions, the outermost being at depth 0. Counted through the arguments of calls.
    pub max_depth: usize,
    /// The longest text of a bigint, its sign included.
    pub max_bigint_digits: usize,
    /// The most entries of the export table: results the peer has not released, capabilities it holds.
    pub max_exports: usize,
    /// The most entries of the import table: capabilities the peer gave us, answers it owes us.
    pub max_imports: usize,
    /// The most handlers running at once for one session.
    pub max_calls_in_flight: usize,
    /// The most promises inside values that are awaited at once.
    pub max_awaited_promises: usize,
    /// The most bytes waiting to be sent to a peer that reads slowly, or waiting in streams for an
    /// application that does.
    pub max_queued_bytes: usize,
    /// The most bytes, roughly, of results that the peer has not released, of messages with running calls, and of
    /// Blobs on their way.
    pub max_held_bytes: usize,
    /// The most elements one `.map()` may visit, nested ones counted.
    pub max_map_elements: usize,
    /// How deep `.map()` may nest.
    pub max_map_depth: usize,
    /// The largest Blob that is collected.
    pub max_blob_bytes: usize,
    /// The longest time of a call, counted from its first wait. A call that takes longer is dropped and fails with
    /// the code `timeout`; the session goes on. `None` is no bound.
    pub max_call_time: Option<Duration>,
    /// The rate of arriving calls; `None` is no bound.
    pub call_rate: Option<CallRate>,
}

/// The bounds of a session before its peer has authenticated, in force from [`Peer::restrict`](crate::Peer::restrict) until
/// [`Peer::admit`](crate::Peer::admit). They come on top of [`Limits`]; exceeding one aborts the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestLimits {
    /// The longest message, and the longest batch.
    pub max_message_bytes: usize,
    /// The most bytes of all messages together.
    pub max_bytes: usize,
    /// The most entries of each table, and the most calls in flight.
    pub max_entries: usize,
    /// The time in which the peer has to become known, and in which a batch has to arrive.
    pub time: Duration,
}

impl Default for GuestLimits {
    fn default() -> Self {
        Self {
            max_message_bytes: 16 << 10,
            max_bytes: 128 << 10,
            max_entries: 64,
            time: Duration::from_secs(30),
        }
    }
}

/// A bound on arriving calls: a bucket of `burst` calls that refills at `per_second`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRate {
    /// The sustained number of calls in a second.
    pub per_second: u32,
    /// The most calls that may come at once.
    pub burst: u32,
}

impl Limits {
    /// The longest message sent, and the weight of the largest value in one.
    pub(crate) fn max_sent_bytes(&self) -> usize {
        self.max_sent_bytes.unwrap_or(self.max_message_bytes)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message_bytes: 32 << 20,
            max_sent_bytes: None,
            max_growth: weight::GROWTH,
            max_depth: 256,
            max_bigint_digits: 16384,
            max_exports: 100_000,
            max_imports: 100_000,
            max_calls_in_flight: 10_000,
            max_awaited_promises: 1 << 18,
            max_queued_bytes: 64 << 20,
            max_held_bytes: 256 << 20,
            max_map_elements: 100_000,
            max_map_depth: 8,
            max_blob_bytes: 64 << 20,
            max_call_time: None,
            call_rate: None,
        }
    }
}

/// The state of a [`CallRate`]: how full the bucket is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    rate: CallRate,
    tokens: f64,
    filled_at: Duration,
}

impl Bucket {
    pub(crate) fn new(rate: CallRate) -> Self {
        Self {
            rate,
            tokens: f64::from(rate.burst),
            filled_at: Duration::ZERO,
        }
    }

    /// Takes one call out of the bucket; false when it is empty. `now` counts from the session's start.
    pub(crate) fn take(&mut self, now: Duration) -> bool {
        let elapsed = now.saturating_sub(self.filled_at).as_secs_f64();
        let refilled = self.tokens + elapsed * f64::from(self.rate.per_second);
        self.tokens = refilled.min(f64::from(self.rate.burst));
        self.filled_at = now;
        if self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }
}
