//! Random numbers; the seed is printed when a test fails, so that it can be repeated.

use std::hash::{BuildHasher, RandomState};

/// A sequence of numbers. Its `Debug` form names the seed; `MONAS_SEED` repeats it.
pub(crate) struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    pub(crate) fn new() -> Self {
        let given = std::env::var("MONAS_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| RandomState::new().hash_one(0) | 1);
        Self { seed, state: seed }
    }

    /// A number from zero to below the bound.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        // Xorshift: good enough to choose where to cut.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % bound
    }
}

impl std::fmt::Debug for Random {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MONAS_SEED={}", self.seed)
    }
}
