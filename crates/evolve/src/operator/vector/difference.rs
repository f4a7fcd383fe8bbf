//! Differential evolution: a population whose differences are its steps.

use super::{Point, ranked};
use crate::random::Random;

/// The population, filled at random first.
#[derive(Debug)]
pub(crate) struct Difference {
    size: usize,
    members: Vec<(Point, f64)>,
    most: usize,
    turn: usize,
}

impl Difference {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            size,
            members: Vec::new(),
            most: (2 * size).clamp(20, 200),
            turn: 0,
        }
    }

    /// A member, moved a part of the way to one of the best and along the difference of two others.
    pub(crate) fn ask(&self, random: &mut Random) -> Point {
        if self.members.len() < self.most {
            return (0..self.size).map(|_| random.unit()).collect();
        }
        let order = ranked(&self.members.iter().map(|it| it.1).collect::<Vec<_>>());
        let best = order
            .get(random.below(self.most.div_ceil(10)))
            .copied()
            .unwrap_or_default();
        let at = |index: usize| {
            self.members
                .get(index)
                .map(|it| it.0.as_slice())
                .unwrap_or_default()
        };
        let (own, best) = (at(self.turn), at(best));
        let (one, two) = (at(random.below(self.most)), at(random.below(self.most)));
        let factor = 0.4 + 0.4 * random.unit();
        let always = random.below(self.size);
        let place = |index: usize| -> Option<f64> {
            Some(
                own.get(index)?
                    + factor * (best.get(index)? - own.get(index)?)
                    + factor * (one.get(index)? - two.get(index)?),
            )
        };
        (0..self.size)
            .map(|index| match index == always || random.chance(0.8) {
                true => place(index).unwrap_or(0.5),
                false => own.get(index).copied().unwrap_or(0.5),
            })
            .collect()
    }

    pub(crate) fn tell(&mut self, point: &Point, fitness: f64) {
        if self.members.len() < self.most {
            self.members.push((point.clone(), fitness));
            return;
        }
        if let Some(member) = self.members.get_mut(self.turn).filter(|it| fitness >= it.1) {
            *member = (point.clone(), fitness);
        }
        self.turn = (self.turn + 1) % self.most;
    }
}
