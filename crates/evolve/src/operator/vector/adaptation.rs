//! An evolution strategy that learns a matrix for its steps: CMA-ES in the form of Beyer and Sendhoff (2017), which adapts a
//! transformation instead of a covariance and needs no decomposition.

use super::{Point, norm, ranked};
use crate::random::{Random, real};

/// The state between generations, and the steps of the generation under way.
#[derive(Debug)]
pub(crate) struct Adaptation {
    mean: Point,
    sigma: f64,
    /// Row by row.
    matrix: Vec<Vec<f64>>,
    /// The path of the mean in the space of the draws.
    path: Vec<f64>,
    size: usize,
    weights: Vec<f64>,
    told: Vec<(Vec<f64>, f64)>,
}

/// The step with which a search begins, as a share of the cube.
const FIRST: f64 = 0.2;

impl Adaptation {
    pub(crate) fn new(begin: &Point) -> Self {
        let count = begin.len();
        let size = generation(count);
        let parents = size / 2;
        let mut weights: Vec<f64> = (1..=parents)
            .map(|it| (real(parents) + 0.5).ln() - real(it).ln())
            .collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|it| *it /= sum);
        Self {
            mean: begin.clone(),
            sigma: FIRST,
            matrix: identity(count),
            path: vec![0.0; count],
            size,
            weights,
            told: Vec::new(),
        }
    }

    fn draw(&self, random: &mut Random) -> Vec<f64> {
        self.mean.iter().map(|_| random.normal()).collect()
    }

    fn transformed(&self, draw: &[f64]) -> Vec<f64> {
        let product = |row: &Vec<f64>| row.iter().zip(draw).map(|(a, b)| a * b).sum();
        self.matrix.iter().map(product).collect()
    }

    pub(crate) fn ask(&self, random: &mut Random) -> Point {
        let step = self.transformed(&self.draw(random));
        let moved = self.mean.iter().zip(step);
        // A point outside is mirrored: cut off at the sides, half of all points would lie on them.
        moved
            .map(|(mean, step)| mirrored(mean + self.sigma * step))
            .collect()
    }

    /// Hears the fitness of the point that was asked for with this generator.
    pub(crate) fn tell(&mut self, fitness: f64, random: &mut Random) {
        let draw = self.draw(random);
        self.told.push((draw, fitness));
        if self.told.len() >= self.size {
            let told = std::mem::take(&mut self.told);
            self.adapt(&told);
        }
    }

    fn adapt(&mut self, told: &[(Vec<f64>, f64)]) {
        let count = self.mean.len();
        let n = real(count);
        let effective = 1.0 / self.weights.iter().map(|it| it * it).sum::<f64>();
        let c_path = (effective + 2.0) / (n + effective + 5.0);
        let c_one = 2.0 / ((n + 1.3).powi(2) + effective);
        let c_many = (2.0 * (effective - 2.0 + 1.0 / effective) / ((n + 2.0).powi(2) + effective))
            .min(1.0 - c_one)
            .max(0.0);
        let damping = 1.0 + c_path + 2.0 * (((effective - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0);
        let expected = n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n));

        let order = ranked(&told.iter().map(|it| it.1).collect::<Vec<_>>());
        let best: Vec<(&[f64], f64)> = order
            .iter()
            .filter_map(|it| told.get(*it))
            .zip(&self.weights)
            .map(|((draw, _), weight)| (draw.as_slice(), *weight))
            .collect();
        let mut average = vec![0.0; count];
        for (draw, weight) in &best {
            add(&mut average, *weight, draw);
        }
        let step = self.transformed(&average);
        for (mean, step) in self.mean.iter_mut().zip(step) {
            *mean = mirrored(*mean + self.sigma * step);
        }
        let gain = (effective * c_path * (2.0 - c_path)).sqrt();
        for (path, average) in self.path.iter_mut().zip(&average) {
            *path = (1.0 - c_path) * *path + gain * average;
        }
        self.turn(&best, c_one, c_many);
        let growth = (c_path / damping) * (norm(&self.path) / expected - 1.0);
        self.sigma = (self.sigma * growth.clamp(-1.0, 1.0).exp()).clamp(1e-12, 0.5);
    }

    /// Multiplies the matrix by what the path and the best draws say of directions.
    fn turn(&mut self, best: &[(&[f64], f64)], c_one: f64, c_many: f64) {
        let keep = 1.0 - c_one / 2.0 - c_many / 2.0;
        let path = self.path.clone();
        for row in &mut self.matrix {
            let along =
                |direction: &[f64]| -> f64 { row.iter().zip(direction).map(|(a, b)| a * b).sum() };
            let on_path = along(&path);
            let on_best: Vec<f64> = best.iter().map(|(draw, _)| along(draw)).collect();
            row.iter_mut().for_each(|it| *it *= keep);
            add(row, c_one / 2.0 * on_path, &path);
            for ((draw, weight), along) in best.iter().zip(on_best) {
                add(row, c_many / 2.0 * weight * along, draw);
            }
        }
    }
}

/// How many points a generation has: 4 + 3 ln n.
fn generation(count: usize) -> usize {
    let mut size = 4;
    // Counted, since a conversion from a float would need a cast.
    while real(size - 3) <= 3.0 * real(count.max(1)).ln() {
        size += 1;
    }
    size
}

fn identity(count: usize) -> Vec<Vec<f64>> {
    let row = |index: usize| (0..count).map(move |it| if it == index { 1.0 } else { 0.0 });
    (0..count).map(|it| row(it).collect()).collect()
}

fn add(to: &mut [f64], factor: f64, values: &[f64]) {
    for (to, value) in to.iter_mut().zip(values) {
        *to += factor * value;
    }
}

/// A number outside of the unit interval, mirrored at its ends until it is inside.
fn mirrored(value: f64) -> f64 {
    let turned = value.rem_euclid(2.0);
    match turned > 1.0 {
        true => 2.0 - turned,
        false => turned,
    }
}
