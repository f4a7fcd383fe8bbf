//! The terms of all records, in one array.

use std::ops::Range;

use super::{Slot, Term};

/// The terms of each record in the order of its text, one record after the other.
///
/// A removed record leaves its terms behind, which no slot points to; they are dropped when they are more than half, so
/// that a removal costs a constant time in the mean.
#[derive(Debug, Default)]
pub(super) struct Texts {
    terms: Vec<Term>,
    /// Where the terms of a record are, by slot.
    places: Vec<Range<usize>>,
    /// How many terms belong to no record.
    unused: usize,
}

/// Fewer terms than this are not worth moving the others.
const FEW: usize = 1024;

impl Texts {
    pub(super) fn of(&self, slot: Slot) -> &[Term] {
        let place = self.places.get(slot as usize);
        place.map_or(&[], |place| &self.terms[place.clone()])
    }

    /// Adds the terms of a record; slots ascend.
    pub(super) fn insert(&mut self, slot: Slot, terms: &[Term]) {
        let (slot, start) = (slot as usize, self.terms.len());
        if self.places.len() <= slot {
            self.places.resize(slot + 1, 0..0);
        }
        self.terms.extend_from_slice(terms);
        self.places[slot] = start..self.terms.len();
    }

    pub(super) fn remove(&mut self, slot: Slot) {
        let Some(place) = self.places.get_mut(slot as usize) else {
            return;
        };
        self.unused += std::mem::take(place).len();
        if self.unused > FEW && self.unused > self.terms.len() / 2 {
            self.compact();
        }
    }

    fn compact(&mut self) {
        let mut terms = Vec::with_capacity(self.terms.len() - self.unused);
        for place in &mut self.places {
            let start = terms.len();
            terms.extend_from_slice(&self.terms[place.clone()]);
            *place = start..terms.len();
        }
        self.terms = terms;
        self.unused = 0;
    }
}
