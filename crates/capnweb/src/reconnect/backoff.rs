//! How long to wait before the next attempt: at random, up to a bound that doubles.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

#[cfg(test)]
#[path = "backoff_tests.rs"]
mod tests;

/// The waits between attempts. Each is anything from nothing to its bound, so that clients which lost their
/// server at one moment do not come back at one moment.
#[derive(Debug)]
pub(super) struct Backoff {
    first: Duration,
    longest: Duration,
    attempts: u32,
    /// The state of a SplitMix64 generator: good enough for spreading, and a number long.
    state: u64,
}

impl Backoff {
    pub(super) fn new(first: Duration, longest: Duration, seed: Option<u64>) -> Self {
        Self {
            first,
            longest,
            attempts: 0,
            state: seed.unwrap_or_else(|| RandomState::new().hash_one(0_u8)),
        }
    }

    /// How long to wait now.
    pub(super) fn next(&mut self) -> Duration {
        let bound = self.bound();
        self.attempts = self.attempts.saturating_add(1);
        bound.mul_f64(self.random())
    }

    /// The connection has proved itself: the next wait is a first one.
    pub(super) fn reset(&mut self) {
        self.attempts = 0;
    }

    fn bound(&self) -> Duration {
        let doubled = 2_u32.checked_pow(self.attempts);
        let grown = doubled.and_then(|factor| self.first.checked_mul(factor));
        grown.map_or(self.longest, |grown| grown.min(self.longest))
    }

    /// A number from 0 to 1.
    fn random(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // The upper 53 bits are a double's worth.
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }
}
