//! The arrays that a ranking works in.

use super::Ranked;
use crate::index::{Index, NONE, Session, Slot};

/// Arrays by slot and by session. They keep their memory from one question to the next: memory that is new costs a page
/// fault for every 4 KB, which is more than it costs to clear it.
#[derive(Debug, Default)]
pub(super) struct Arrays {
    /// BM25 of the question's terms and bigrams, by slot.
    pub(super) words: Vec<f32>,
    /// BM25 of the terms of query expansion, by slot.
    pub(super) expansion: Vec<f32>,
    /// How well a date of the question agrees, by slot; empty if it names none.
    pub(super) dates: Vec<f32>,
    /// Similarity to the question's vector, by slot; empty without one, and shorter if the newest records have no vector.
    pub(super) near: Vec<f32>,
    /// Words, expansion and date added up, by slot.
    pub(super) together: Vec<f32>,
    /// Connection in the graph, by slot.
    pub(super) connected: Vec<f32>,
    /// BM25 of each session as if it were one text.
    pub(super) sessions: Vec<f32>,
    /// How often a session has the term that is looked at; all 0 between two terms.
    pub(super) counts: Vec<u32>,
    /// The sessions with a count.
    pub(super) counted: Vec<Session>,
    /// For selections of the best.
    pub(super) keys: Vec<u64>,
    /// For the median.
    pub(super) ordered: Vec<u32>,
    pub(super) found: Candidates,
}

impl Arrays {
    /// Clears everything for a question to this index.
    pub(super) fn clear(&mut self, index: &Index) {
        let (slots, sessions) = (index.slots(), index.session_count());
        zeros(&mut self.words, slots);
        zeros(&mut self.expansion, slots);
        self.dates.clear();
        self.near.clear();
        zeros(&mut self.sessions, sessions);
        self.counts.clear();
        self.counts.resize(sessions, 0);
        self.counted.clear();
        self.found.clear(slots);
    }
}

/// Makes it an array of so many zeros.
pub(super) fn zeros(array: &mut Vec<f32>, count: usize) {
    array.clear();
    array.resize(count, 0.0);
}

/// The candidates, in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct Candidates {
    ranked: Vec<Ranked>,
    /// Where a record is among them, by slot; [`NONE`] for the others.
    places: Vec<u32>,
}

impl Candidates {
    fn clear(&mut self, slots: usize) {
        self.ranked.clear();
        self.places.clear();
        self.places.resize(slots, NONE);
    }

    /// A candidate, which is added if it is none yet.
    pub(super) fn entry(&mut self, slot: Slot) -> &mut Ranked {
        let place = &mut self.places[slot as usize];
        if *place == NONE {
            *place = self.ranked.len() as u32;
            self.ranked.push(Ranked::new(slot));
        }
        &mut self.ranked[*place as usize]
    }

    pub(super) fn of(&self, slot: Slot) -> &Ranked {
        &self.ranked[self.places[slot as usize] as usize]
    }

    pub(super) fn all(&self) -> &[Ranked] {
        &self.ranked
    }

    pub(super) fn all_mut(&mut self) -> &mut [Ranked] {
        &mut self.ranked
    }
}
