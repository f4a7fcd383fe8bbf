//! Pauses between attempts: at random, below a bound that doubles.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

#[cfg(test)]
#[path = "backoff_tests.rs"]
mod tests;

/// How much of the bound is left to chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// From nothing to the bound. Spreads best, for many clients that lost one server at one moment.
    Full,
    /// From half of the bound to the bound. A pause is never much shorter than intended.
    Half,
}

/// The pauses between the attempts at one thing: exponential back-off with jitter.
///
/// The first bound is `first`, each further one twice the one before, none above `longest`. Without jitter, clients
/// that failed together would come back together and fail again. The generator is seeded from the process's random
/// hash keys: good enough for spreading, and no dependency.
#[derive(Clone, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    jitter: Jitter,
    attempts: u32,
    /// The state of a SplitMix64 generator.
    state: u64,
}

impl Backoff {
    pub fn new(first: Duration, longest: Duration, jitter: Jitter) -> Self {
        Self {
            first,
            longest,
            jitter,
            attempts: 0,
            state: RandomState::new().hash_one(0_u8),
        }
    }

    /// With a generator that gives the same pauses each time, for tests.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.state = seed;
        self
    }

    /// The pause before the next attempt. Each call counts as an attempt that failed.
    pub fn next_pause(&mut self) -> Duration {
        let bound = self.bound();
        self.attempts = self.attempts.saturating_add(1);
        let random = self.random();
        bound.mul_f64(match self.jitter {
            Jitter::Full => random,
            Jitter::Half => 0.5 + 0.5 * random,
        })
    }

    /// An attempt succeeded: the next pause is a first one again.
    pub fn reset(&mut self) {
        self.attempts = 0;
    }

    fn bound(&self) -> Duration {
        let doubled = 2_u32.checked_pow(self.attempts);
        let grown = doubled.and_then(|factor| self.first.checked_mul(factor));
        grown.map_or(self.longest, |grown| grown.min(self.longest))
    }

    /// A number from 0 to 1, without 1.
    fn random(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        // A double has 53 significant bits.
        (mixed >> 11) as f64 / (1_u64 << 53) as f64
    }
}
