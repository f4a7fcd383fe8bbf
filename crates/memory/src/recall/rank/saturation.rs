//! BM25's factor for the count of a term in a record.

use crate::index::Index;
use crate::recall::weights::Weights;

/// Up to this count and below this length the factors are in the table.
const COUNTS: usize = 4;
const LENGTHS: usize = 128;

/// In a space with fewer records than this, a question looks up fewer factors than the table has.
const FEW: usize = 1000;

/// How much a term that is so often in a text of such a length counts, without the rarity of the term. Counts and lengths
/// are small numbers, so that most factors are computed once for a question and not once for every record.
#[derive(Debug)]
pub(super) struct Saturation {
    k1: f32,
    b: f32,
    mean: f32,
    /// By length, and for each by count, from 1 on.
    table: Vec<[f32; COUNTS]>,
}

impl Saturation {
    pub(super) fn new(weights: &Weights, index: &Index) -> Self {
        let mut saturation = Self {
            k1: weights.k1,
            b: weights.b,
            mean: index.mean_length(),
            table: Vec::new(),
        };
        let row = |length| std::array::from_fn(|at| saturation.compute(at as u32 + 1, length));
        let lengths = if index.count() < FEW { 0 } else { LENGTHS };
        saturation.table = (0..lengths as u32).map(row).collect();
        saturation
    }

    /// The factor for a count of at least 1.
    #[inline]
    pub(super) fn factor(&self, count: u32, length: u32) -> f32 {
        let row = self.table.get(length as usize);
        match row.and_then(|row| row.get(count.wrapping_sub(1) as usize)) {
            Some(factor) => *factor,
            None => self.compute(count, length),
        }
    }

    fn compute(&self, count: u32, length: u32) -> f32 {
        let Self { k1, b, mean, .. } = *self;
        let long = length as f32 / mean;
        let count = count as f32;
        count * (k1 + 1.0) / (count + k1 * (1.0 - b + b * long))
    }
}
