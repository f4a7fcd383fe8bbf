//! A search by densities (TPE, tree-structured Parzen estimator): points are drawn near good ones and away from the others, each parameter by itself, so
//! that options without an order are no obstacle.

use super::{Point, ranked};
use crate::random::{Random, real};

/// All points so far, and which parameters have no order.
#[derive(Debug)]
pub(crate) struct Parzen {
    /// How many options each parameter has; 0 for those with an order.
    options: Vec<usize>,
    told: Vec<(Point, f64)>,
}

/// How many points are drawn at random before densities say anything.
const FIRST: usize = 10;

/// The share of points that count as good, and how many draws compete.
const GOOD: f64 = 0.2;
const DRAWS: usize = 24;

/// How near two places of an unordered parameter are when they are the same option.
const SAME: f64 = 1e-6;

impl Parzen {
    pub(crate) fn new(options: Vec<usize>) -> Self {
        Self {
            options,
            told: Vec::new(),
        }
    }

    pub(crate) fn ask(&self, random: &mut Random) -> Point {
        if self.told.len() < FIRST {
            return self
                .options
                .iter()
                .map(|it| anywhere(*it, random))
                .collect();
        }
        let order = ranked(&self.told.iter().map(|it| it.1).collect::<Vec<_>>());
        let mut count = 2;
        while real(count) < GOOD * real(order.len()) && count < 30 {
            count += 1;
        }
        let (good, bad) = order.split_at(count.min(order.len()));
        let dimensions = self.options.iter().enumerate();
        dimensions
            .map(|(index, options)| self.place(index, *options, good, bad, random))
            .collect()
    }

    fn place(
        &self,
        index: usize,
        options: usize,
        good: &[usize],
        bad: &[usize],
        random: &mut Random,
    ) -> f64 {
        let at = |which: &[usize]| -> Vec<f64> {
            let points = which.iter().filter_map(|it| self.told.get(*it));
            points.filter_map(|it| it.0.get(index).copied()).collect()
        };
        let (good, bad) = (at(good), at(bad));
        let unordered = options > 0;
        let width = (1.0 / real(good.len())).clamp(0.02, 0.3);
        let mut best = (anywhere(options, random), f64::MIN);
        for _ in 0..DRAWS {
            let drawn = match random.pick(&good) {
                Some(centre) if random.chance(0.9) => match unordered {
                    true => *centre,
                    false => (centre + width * random.normal()).clamp(0.0, 1.0),
                },
                _ => anywhere(options, random),
            };
            let ratio = (density(drawn, &good, width, unordered)
                / density(drawn, &bad, width, unordered))
            .ln();
            if ratio > best.1 {
                best = (drawn, ratio);
            }
        }
        best.0
    }

    pub(crate) fn tell(&mut self, point: &Point, fitness: f64) {
        self.told.push((point.clone(), fitness));
    }
}

/// A place drawn evenly: with options the middle of one of them.
fn anywhere(options: usize, random: &mut Random) -> f64 {
    match options {
        0 => random.unit(),
        count => (real(random.below(count)) + 0.5) / real(count),
    }
}

/// The mean of kernels around the centres, with a floor so that no place is impossible.
fn density(at: f64, centres: &[f64], width: f64, unordered: bool) -> f64 {
    let near = |centre: &f64| match unordered {
        true => f64::from(u8::from((centre - at).abs() < SAME)),
        false => (-0.5 * ((centre - at) / width).powi(2)).exp() / width,
    };
    0.1 + centres.iter().map(near).sum::<f64>() / real(centres.len().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_near_good_points_is_denser() {
        assert!(density(0.5, &[0.5, 0.52], 0.1, false) > density(0.9, &[0.5, 0.52], 0.1, false));
        assert!(density(0.5, &[0.5], 0.1, true) > density(0.51, &[0.5], 0.1, true));
    }
}
