//! How much a peer may ask of us before the session ends.

use std::time::Duration;

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;

/// The bounds of one session. They are never negotiated: a peer finds out by exceeding one, which
/// aborts the session with the reason, unless the bound says otherwise.
///
/// The first three are those of the JavaScript implementation, with its defaults. The others have no
/// counterpart there: one small frame can ask for a lot of work and memory, so each kind has a bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest message accepted, in bytes of UTF-8. The reference counts UTF-16 units, of which
    /// there are never more. No value is allowed to grow beyond it through promises either.
    pub max_message_bytes: usize,
    /// How deep expressions may nest, the outermost being at depth 0. Counted through the arguments
    /// of calls.
    pub max_depth: usize,
    /// The longest text of a bigint, its sign included.
    pub max_bigint_digits: usize,
    /// The most entries the peer may make us keep in the export table: results it has not released,
    /// capabilities it holds.
    pub max_exports: usize,
    /// The most entries in the import table: capabilities it gave us, answers it owes us.
    pub max_imports: usize,
    /// The most handlers running at once for one session.
    pub max_calls_in_flight: usize,
    /// The most promises inside values that are waited for at once. Values can multiply through them.
    pub max_awaited_promises: usize,
    /// The most bytes waiting to be sent to a peer that reads slowly, or waiting in streams for an
    /// application that does.
    pub max_queued_bytes: usize,
    /// The most bytes, roughly, of results that the peer has not released and of Blobs on their way.
    pub max_held_bytes: usize,
    /// The most elements one `.map()` may visit, nested ones counted.
    pub max_map_elements: usize,
    /// How deep `.map()` may nest.
    pub max_map_depth: usize,
    /// The largest Blob that is collected.
    pub max_blob_bytes: usize,
    /// How long a call may take, counted from its first wait. One that takes longer is dropped and fails
    /// with the code `timeout`; the session goes on. `None` is no bound.
    pub max_call_time: Option<Duration>,
    /// How many calls may arrive in a while; `None` is no bound.
    pub call_rate: Option<CallRate>,
}

/// A bound on arriving calls: a bucket of `burst` calls that refills at `per_second`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallRate {
    /// How many calls a second are sustained.
    pub per_second: u32,
    /// How many may come at once.
    pub burst: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message_bytes: 32 << 20,
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
