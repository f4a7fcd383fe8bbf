//! Random numbers that are the same for the same seed on every machine.

/// A generator (SplitMix64). Each proposal of a run draws from a generator of its own, made of the seed of the run and the
/// number of the proposal, so that a run that is taken up again proposes what it would have proposed.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The generator of one step of a run.
    pub(crate) fn at(seed: u64, step: u64) -> Self {
        let mut random = Self(seed ^ step.wrapping_mul(0xD1B5_4A32_D192_ED03));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let scaled = (u128::from(self.next()) * end as u128) >> 64;
        usize::try_from(scaled).unwrap_or(0)
    }

    /// A number in [0, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A number of the standard normal distribution (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// A count as a number to calculate with.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of candidates are far below 2^52"
)]
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}
