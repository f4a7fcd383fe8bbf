//! The second stage of ranking: what the context of the candidates adds to them.

use super::Sign;
use super::arrays::{Arrays, zeros};
use super::first::Ranking;
use crate::index::{NONE, Slot, rarity};
use crate::recall::weights::Weights;
use crate::text::date;

impl Ranking<'_> {
    /// Adds a part of each candidate's score to its neighbours in the session; a question gives more to its reply.
    pub(super) fn neighbours(&mut self) {
        let index = self.corpus.index;
        let Weights {
            after,
            before,
            further,
            reply,
            ..
        } = *self.weights;
        let found = &mut self.arrays.found;
        let mut own: Vec<(Slot, f32)> = found.all().iter().map(|it| (it.slot, it.score)).collect();
        // What a record is lent is added up in the order of slots.
        own.sort_unstable_by_key(|(slot, _)| *slot);
        let mut lend = |slot: Slot, amount: f32| {
            if slot != NONE && amount > 0.0 {
                found.entry(slot).add(Sign::Neighbours, amount);
            }
        };
        for (slot, score) in own {
            let doc = index.doc(slot);
            let answer = if doc.has_question { reply } else { 0.0 };
            lend(doc.after, score * (after + answer));
            lend(doc.before, score * before);
            if doc.after != NONE {
                lend(index.doc(doc.after).after, score * further);
            }
            if doc.before != NONE {
                lend(index.doc(doc.before).before, score * further);
            }
        }
    }

    /// Adds to records that mention an entity of the question, and less to those that mention a neighbour of one.
    pub(super) fn graph(&mut self) {
        if self.weights.graph <= 0.0 || self.question.entities.is_empty() {
            return;
        }
        let (graph, index) = (self.corpus.graph, self.corpus.index);
        let Arrays {
            connected, found, ..
        } = &mut *self.arrays;
        zeros(connected, index.slots());
        let mut connect = |mentions: &[Slot], weight: f32| {
            for &slot in mentions {
                connected[slot as usize] += weight;
            }
        };
        for name in &self.question.entities {
            let mentions = graph.mentions(name);
            connect(mentions, rarity(index.count(), mentions.len()));
            let neighbours = graph.neighbours(name, 8);
            let most = neighbours.first().map_or(1, |(_, relations)| *relations) as f32;
            for (neighbour, relations) in neighbours {
                let mentions = graph.mentions(&neighbour);
                let weight = 0.5 * rarity(index.count(), mentions.len()) * relations as f32 / most;
                connect(mentions, weight);
            }
        }
        let most = highest(connected);
        for ranked in found.all_mut() {
            let weight = connected[ranked.slot as usize];
            ranked.add(Sign::Graph, self.weights.graph * weight / most);
        }
    }

    pub(super) fn sessions(&mut self) {
        let Arrays {
            sessions, found, ..
        } = &mut *self.arrays;
        let most = highest(sessions);
        let extents = self.corpus.index.extents();
        for ranked in found.all_mut() {
            let session = extents[ranked.slot as usize].session;
            if let Some(about) = sessions.get(session as usize) {
                ranked.add(Sign::Session, self.weights.session * about / most);
            }
        }
    }

    /// Factors for the speaker, for questions, for age, and for how firmly a record is held.
    pub(super) fn standing(&mut self) {
        let Weights {
            speaker,
            asking,
            recent,
            standing,
            ..
        } = *self.weights;
        let occurred = self.corpus.occurred;
        let newest = match self.question.newest {
            true => occurred.iter().copied().max(),
            false => None,
        };
        for ranked in self.arrays.found.all_mut() {
            let doc = self.corpus.index.doc(ranked.slot);
            if self.speakers.contains(&doc.speaker) {
                ranked.add(Sign::Speaker, ranked.score * speaker);
            }
            if doc.asks {
                ranked.add(Sign::Asking, -ranked.score * asking);
            }
            if let Some(newest) = newest {
                let age =
                    (newest - occurred[ranked.slot as usize]) as f32 / (30 * date::DAY) as f32;
                ranked.add(
                    Sign::Recent,
                    ranked.score * recent * 0.5_f32.powf(age.max(0.0)),
                );
            }
            let held = self.corpus.standing[ranked.slot as usize];
            ranked.add(Sign::Standing, ranked.score * standing * held);
        }
    }
}

/// The highest of these, above 0.
fn highest(values: &[f32]) -> f32 {
    let higher = |most: f32, value: &f32| if *value > most { *value } else { most };
    values.iter().fold(f32::MIN_POSITIVE, higher)
}
