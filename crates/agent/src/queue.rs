//! The requests that wait for their turn: in which order they are begun, and which one goes when there are too many.
//!
//! Callers share the queue. Of two callers with requests of the same priority each has its turn in order, however many one
//! of them has waiting; and when the queue is full, a caller with fewer requests in it takes the last place of the caller
//! with the most. A priority that a caller gives itself counts among its own requests. Against those of others it counts
//! up to the request's ceiling: what the law would have given it, or any for an operator and for agents.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::context::{Context, Stage, Turn};
use crate::event::TurnId;

impl Turn {
    /// The priority that counts against requests of other callers.
    fn rank(&self) -> u8 {
        self.priority.min(self.ceiling)
    }
}

impl Context {
    /// The requests that wait for their turn, the next one first, with the priority that counts.
    pub fn queue(&self) -> Vec<(&str, u8)> {
        let waiting = self.waiting();
        let waiting = waiting.iter();
        waiting
            .map(|it| (it.heard.turn.as_str(), it.rank()))
            .collect()
    }

    fn waiting(&self) -> Vec<&Turn> {
        let (waiting, begun): (Vec<&Turn>, Vec<&Turn>) = self
            .turns
            .values()
            .map(|it| &**it)
            .partition(|it| it.stage == Stage::Queued);
        // What a caller has begun counts as served before what it has waiting.
        let mut served: BTreeMap<&str, usize> = BTreeMap::new();
        for turn in begun {
            *served.entry(turn.heard.person()).or_default() += 1;
        }
        let mut own = waiting;
        own.sort_by_key(|it| (Reverse(it.priority), it.order));
        let ranked = own.into_iter().map(|turn| {
            let count = served.entry(turn.heard.person()).or_default();
            *count += 1;
            (turn, *count)
        });
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_by_key(|(turn, count)| (Reverse(turn.rank()), *count, turn.order));
        ranked.into_iter().map(|(turn, _)| turn).collect()
    }

    /// The request that leaves a full queue for one of this caller, which is in the queue already: the last one of the
    /// caller with the most. None if no caller has more than this one.
    pub(crate) fn displaced_by(&self, caller: &str) -> Option<TurnId> {
        let waiting = self.waiting();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for turn in &waiting {
            *counts.entry(turn.heard.person()).or_default() += 1;
        }
        let own = counts.get(caller).copied().unwrap_or_default();
        let (heaviest, count) = counts.iter().max_by_key(|(_, count)| **count)?;
        let mut of_it = waiting.iter().rev();
        let last = of_it.find(|it| it.heard.person() == *heaviest)?;
        (*count > own).then(|| last.heard.turn.clone())
    }
}

#[cfg(test)]
#[path = "queue_tests.rs"]
mod tests;
