//! The sign test, the bootstrap and the rank-sum test, on few values and without a library: each is a dozen lines, and a
//! statistics crate would bring linear algebra along.

/// A generator of random numbers (SplitMix64) that gives the same sequence for the same seed on every machine.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0. The bias is below 2^-32 for any length of a slice.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let scaled = (u128::from(self.next()) * end as u128) >> 64;
        usize::try_from(scaled).unwrap_or(0)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of episodes are far below 2^52"
)]
pub(crate) fn real(count: usize) -> f64 {
    count as f64
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    match values.len() {
        0 => 0.0,
        count => values.iter().sum::<f64>() / real(count),
    }
}

/// The one-sided p-value of the sign test: how likely `successes` or more of `count` are if both signs are equally likely.
pub(crate) fn sign_test(successes: usize, count: usize) -> f64 {
    // P(X >= successes), each term made of the one before it, beginning with P(X = 0) = 2^-count in logarithms.
    let mut logarithm = -real(count) * std::f64::consts::LN_2;
    let mut tail = 0.0;
    for k in 0..=count {
        if k >= successes {
            tail += logarithm.exp();
        }
        logarithm += (real(count - k) / real(k + 1)).ln();
    }
    tail.min(1.0)
}

/// The fewest differences that a sign test can find significant at this level, if all have the same sign.
pub(crate) fn fewest_signs(level: f64) -> usize {
    let mut count = 1;
    while 0.5_f64.powi(count) > level && count < 64 {
        count += 1;
    }
    usize::try_from(count).unwrap_or(64)
}

/// How many samples are drawn for a bootstrap interval.
const RESAMPLES: usize = 2_000;

/// The interval that the mean lies in with probability 1 - 2 * `level` (percentile bootstrap).
pub(crate) fn bootstrap(values: &[f64], level: f64, seed: u64) -> (f64, f64) {
    let mut random = Random::new(seed);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn = (0..values.len()).map(|_| values[random.below(values.len())]);
            drawn.sum::<f64>() / real(values.len().max(1))
        })
        .collect();
    means.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a level is between 0 and 0.5"
    )]
    let cut = (level * real(RESAMPLES)) as usize;
    (means[cut], means[RESAMPLES - 1 - cut])
}

/// The one-sided p-value of the rank-sum test (Mann-Whitney): how likely `later` is this low or lower if it is no lower than
/// `earlier`. By the normal approximation with ties, which is good enough from five values a side on.
pub(crate) fn rank_sum(earlier: &[f64], later: &[f64]) -> f64 {
    let (n, m) = (real(earlier.len()), real(later.len()));
    if earlier.is_empty() || later.is_empty() {
        return 1.0;
    }
    let mut all: Vec<f64> = earlier.iter().chain(later).copied().collect();
    all.sort_by(f64::total_cmp);
    // U counts the pairs in which the later value is higher; ties count half.
    let wins = |value: &f64| {
        let below = real(earlier.iter().filter(|it| *it < value).count());
        let equal = real(earlier.iter().filter(|it| *it == value).count());
        below + equal / 2.0
    };
    let u: f64 = later.iter().map(wins).sum();
    let total = n + m;
    let ties: f64 = all
        .chunk_by(|a, b| a == b)
        .map(|tied| real(tied.len()).powi(3) - real(tied.len()))
        .sum();
    let variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    normal((u + 0.5 - n * m / 2.0) / variance.sqrt())
}

/// The probability that a standard normal variable is at most `z` (Abramowitz and Stegun 26.2.17; error below 1e-7).
fn normal(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let terms = [
        0.319_381_530,
        -0.356_563_782,
        1.781_477_937,
        -1.821_255_978,
        1.330_274_429,
    ];
    let series = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    let upper = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * series;
    if z >= 0.0 { 1.0 - upper } else { upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() < 1e-4,
            "{found} instead of {expected}"
        );
    }

    #[test]
    fn the_sign_test_has_the_values_of_the_binomial_distribution() {
        close(sign_test(5, 5), 0.031_25);
        close(sign_test(9, 10), 0.010_74);
        close(sign_test(5, 10), 0.623_05);
        close(sign_test(0, 10), 1.0);
        close(sign_test(60, 100), 0.028_44);
        assert_eq!(fewest_signs(0.05), 5);
        assert_eq!(fewest_signs(0.01), 7);
    }

    #[test]
    fn the_normal_distribution_has_its_usual_values() {
        close(normal(0.0), 0.5);
        close(normal(1.644_853_6), 0.95);
        close(normal(-1.959_964), 0.025);
    }

    #[test]
    fn the_rank_sum_test_sees_a_fall_and_no_fall() {
        let high = [1.0, 1.0, 1.0, 0.9, 1.0, 0.8];
        let low = [0.1, 0.2, 0.0, 0.3, 0.1];
        assert!(rank_sum(&high, &low) < 0.01);
        assert!(rank_sum(&low, &high) > 0.99);
        assert!(rank_sum(&high, &high) > 0.4);
        close(rank_sum(&[1.0, 1.0], &[1.0, 1.0]), 1.0);
        close(rank_sum(&[], &low), 1.0);
    }

    #[test]
    fn the_bootstrap_interval_holds_the_mean_and_narrows() {
        let few: Vec<f64> = (0..40).map(|n| f64::from(n % 4)).collect();
        let many: Vec<f64> = (0..400).map(|n| f64::from(n % 4)).collect();
        let (low, high) = bootstrap(&few, 0.05, 1);
        assert!(low < 1.5 && 1.5 < high);
        let (lower, higher) = bootstrap(&many, 0.05, 1);
        assert!(higher - lower < high - low);
        assert_eq!(bootstrap(&few, 0.05, 1), (low, high), "the same seed");
    }
}
