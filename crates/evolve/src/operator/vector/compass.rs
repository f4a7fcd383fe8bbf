//! A local search: along each axis in turn, with steps that grow with success and shrink without it.

use super::Point;

/// The step of each axis and the next direction to look into.
#[derive(Debug)]
pub(crate) struct Compass {
    steps: Vec<f64>,
    axis: usize,
    forward: bool,
    /// Whether the other direction of this axis was tried already.
    turned: bool,
}

const FIRST: f64 = 0.02;
const LEAST: f64 = 1e-12;

impl Compass {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            steps: vec![FIRST; size],
            axis: 0,
            forward: true,
            turned: false,
        }
    }

    pub(crate) fn ask(&self, best: &Point) -> Point {
        let mut point = best.clone();
        let step = self.steps.get(self.axis).copied().unwrap_or(FIRST);
        if let Some(place) = point.get_mut(self.axis) {
            *place += if self.forward { step } else { -step };
        }
        point
    }

    /// After a success the same way once more, twice as far; after a failure the other way; after both the next axis.
    pub(crate) fn tell(&mut self, better: bool) {
        let Some(step) = self.steps.get_mut(self.axis) else {
            return;
        };
        if better {
            *step = (*step * 2.0).min(0.5);
            self.turned = true;
            return;
        }
        if !self.turned {
            self.turned = true;
            self.forward = !self.forward;
            return;
        }
        *step = (*step * 0.5).max(LEAST);
        self.turned = false;
        self.axis = (self.axis + 1) % self.steps.len().max(1);
    }
}
