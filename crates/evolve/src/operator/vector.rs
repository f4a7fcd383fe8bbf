//! Declared parameters as points of a unit cube, and the searches in it.
//!
//! A search is asked for a point and told its fitness. Its state is the fold of what it was told, and each point is drawn from
//! the generator of its proposal, so that a run that is taken up again goes on as it would have. Fitness is larger where
//! better; an invalid point has the least there is.

use crate::candidate::{Content, Edit};
use crate::component::Component;
use crate::random::Random;

mod adaptation;
mod compass;
mod difference;
mod parzen;

use adaptation::Adaptation;
use compass::Compass;
use difference::Difference;
use parzen::Parzen;

#[cfg(test)]
#[path = "vector_tests.rs"]
mod tests;

/// A point of the unit cube.
pub(crate) type Point = Vec<f64>;

/// The search over the parameters of a component, chosen by their number and kind: a density estimate (TPE) where options
/// without order are mixed in, an evolution strategy that adapts its matrix (CMA-ES in the form without decompositions) to
/// 120 numbers, differential evolution beyond. The last fifth of the budget, and every time the first search stands still,
/// goes to a local search around the best point.
#[derive(Debug)]
pub(crate) struct Vectors {
    global: Global,
    local: Compass,
    /// The best point, with its fitness.
    best: (Point, f64),
    /// Evaluations since the best point was found.
    since: usize,
    told: usize,
    budget: usize,
}

#[derive(Debug)]
enum Global {
    Parzen(Parzen),
    Adaptation(Box<Adaptation>),
    Difference(Difference),
}

/// The numbers from which on each search is used.
const ADAPTED: usize = 120;

/// How long the first search may stand still, for each dimension, before the local one takes a turn.
const PATIENCE: usize = 40;

impl Vectors {
    /// The search of a component, beginning at the version in force. None if it has no parameters.
    pub(crate) fn new(component: &Component, budget: usize) -> Option<Self> {
        let content = component.content();
        let begin = point(component, &content);
        let size = begin.len();
        if size == 0 {
            return None;
        }
        let is_mixed = component
            .parameters
            .iter()
            .any(|it| it.domain.options() > 0);
        let global = match size {
            _ if is_mixed => {
                let options = component.parameters.iter().map(|it| it.domain.options());
                Global::Parzen(Parzen::new(options.collect()))
            }
            ..=ADAPTED => Global::Adaptation(Box::new(Adaptation::new(&begin))),
            _ => Global::Difference(Difference::new(size)),
        };
        Some(Self {
            global,
            local: Compass::new(size),
            best: (begin, f64::MIN),
            since: 0,
            told: 0,
            budget,
        })
    }

    fn is_local(&self) -> bool {
        let late = self.told * 5 >= self.budget * 4;
        let size = self.best.0.len();
        // Half of the proposals while the first search stands still.
        let stands = self.since > PATIENCE * size && self.told % 2 == 1;
        self.best.1 > f64::MIN && (late || stands)
    }

    /// The next point.
    pub(crate) fn ask(&self, random: &mut Random) -> Point {
        let mut point = match (self.is_local(), &self.global) {
            (true, _) => self.local.ask(&self.best.0),
            (false, Global::Parzen(it)) => it.ask(random),
            (false, Global::Adaptation(it)) => it.ask(random),
            (false, Global::Difference(it)) => it.ask(random),
        };
        for place in &mut point {
            *place = match place.is_finite() {
                true => place.clamp(0.0, 1.0),
                false => 0.5,
            };
        }
        point
    }

    /// Hears the fitness of a point that [`ask`](Self::ask) gave with this generator.
    pub(crate) fn tell(&mut self, point: &Point, fitness: f64, random: &mut Random) {
        let local = self.is_local();
        self.told += 1;
        let better = fitness > self.best.1;
        match (local, &mut self.global) {
            (true, _) => self.local.tell(better),
            (false, Global::Parzen(it)) => it.tell(point, fitness),
            (false, Global::Adaptation(it)) => it.tell(fitness, random),
            (false, Global::Difference(it)) => it.tell(point, fitness),
        }
        self.since = match better {
            true => 0,
            false => self.since + 1,
        };
        if better {
            self.best = (point.clone(), fitness);
        }
    }
}

/// Where a candidate is in the unit cube.
pub(crate) fn point(component: &Component, content: &Content) -> Point {
    let parameters = component.parameters.iter().zip(&content.values);
    parameters
        .map(|(it, value)| it.domain.unit(value))
        .collect()
}

/// The edit from a candidate to a point.
pub(crate) fn edit(component: &Component, content: &Content, point: &Point) -> Edit {
    let places = component.parameters.iter().zip(&content.values).zip(point);
    let changed = places
        .enumerate()
        .filter_map(|(index, ((parameter, old), place))| {
            let value = parameter.domain.at(*place);
            (value != *old).then_some((index, value))
        });
    Edit {
        replacements: Vec::new(),
        values: changed.collect(),
    }
}

/// The indices of values from the largest to the smallest.
fn ranked(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let at = |index: &usize| values.get(*index).copied().unwrap_or(f64::MIN);
    order.sort_by(|a, b| at(b).total_cmp(&at(a)));
    order
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|it| it * it).sum::<f64>().sqrt()
}
