//! Ranking: a question and the indexes of a space go in, scored records come out. Pure.
//!
//! [`rank`] works in two stages, and their order matters. The first finds candidates by themselves: BM25 of the question's
//! terms and bigrams, query expansion (terms that the best records have in common, as pseudo-relevance feedback), dates
//! that the question names, and vectors. These scores are divided by the best one, so that the weights of the second
//! stage mean the same for short and long questions.
//!
//! The second stage adds context to the candidates. A record lends part of its score to its neighbours in the
//! conversation, since an answer often stands beside the record that has the words of the question ("Where did you
//! go?" - "To Rome."); this is the only step that adds candidates, so it comes before the others. Then the graph, the
//! session as a whole, the speaker, and how firmly a record is held. The last ones are factors of the score so far: if
//! they came first, a record that merely has the right speaker would be found.
//!
//! Each part of a score is kept under its [`Sign`], so that an answer can say why a record was found; a test checks
//! that the parts add up. Ties are broken by slot: the same question gives the same answer.
//!
//! Speed: a question about words that many records have looks at most records of a space. So the first stage works on
//! arrays by slot, which a [`Ranker`] keeps from one question to the next (`arrays`), the best are selected in one pass
//! (`best`), and only what ranks high enough is looked up in the space. What it computes is what the plain form computes
//! which the tests keep (`rank_reference`), in the same order and therefore to the last bit.
//!
//! Vectors: all of them are scanned with 8-bit products, the best 256 compared exactly (`vectors`). Similarities are
//! scaled between the median and the best of the space, because those of one embedder lie in a narrow band and say
//! little by themselves.
//!
//! The weights were tuned on one half of LoCoMo and not on the questions in `conformance/memory`. Why not a learned
//! ranker or a cross-encoder: this one needs no model, and an answer can say what each hit owes to which sign.

use std::collections::BinaryHeap;

use super::best;
use super::question::Question;
use super::vectors::Vectors;
use super::weights::Weights;
use crate::graph::Graph;
use crate::index::{Index, Slot};
use crate::text::date::Millis;

mod arrays;
mod context;
mod first;
mod saturation;

use arrays::Arrays;
use first::Ranking;

/// The indexes of a space that ranking reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corpus<'a> {
    pub(crate) index: &'a Index,
    pub(crate) graph: &'a Graph,
    pub(crate) vectors: &'a Vectors,
    /// The time of each record's event, by slot.
    pub(crate) occurred: &'a [Millis],
    /// By slot: 0 for an observation, positive for a certain lasting record, negative for an uncertain one.
    pub(crate) standing: &'a [f32],
}

/// A reason why a record was found, which contributes a part of its score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sign {
    /// BM25 of the question's terms and bigrams.
    Words,
    /// Terms of the best records that the question does not have (query expansion).
    Expansion,
    /// A date that the question names.
    Date,
    /// Similarity of the record's vector to the question's.
    Vector,
    /// The score of neighbours in the conversation.
    Neighbours,
    /// BM25 of the session as a whole.
    Session,
    /// A mention of an entity of the question, or of a neighbour of one in the graph.
    Graph,
    /// The age of the record, if the question asks for the newest.
    Recent,
    /// The question names the speaker.
    Speaker,
    /// The record ends with a question; negative.
    Asking,
    /// Lasting records gain, uncertain ones lose.
    Standing,
}

const SIGNS: [Sign; 11] = [
    Sign::Words,
    Sign::Expansion,
    Sign::Date,
    Sign::Vector,
    Sign::Neighbours,
    Sign::Session,
    Sign::Graph,
    Sign::Recent,
    Sign::Speaker,
    Sign::Asking,
    Sign::Standing,
];

/// A record with its score and the part of each sign.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) slot: Slot,
    pub(crate) score: f32,
    parts: [f32; SIGNS.len()],
}

impl Ranked {
    pub(super) fn new(slot: Slot) -> Self {
        let parts = [0.0; SIGNS.len()];
        Self {
            slot,
            score: 0.0,
            parts,
        }
    }

    pub(super) fn add(&mut self, sign: Sign, amount: f32) {
        self.score += amount;
        self.parts[sign as usize] += amount;
    }

    /// The signs with a part other than 0, the strongest first. The parts add up to the score.
    pub(crate) fn signs(&self) -> Vec<(Sign, f32)> {
        let parts = SIGNS.into_iter().zip(self.parts);
        let mut signs: Vec<_> = parts.filter(|(_, part)| *part != 0.0).collect();
        signs.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        signs
    }
}

/// Most candidates of the first stage.
pub(super) const CANDIDATES: usize = 2048;

/// How many of the nearest vectors of the scan are compared exactly.
pub(super) const EXACT: usize = 256;

/// With fewer vectors than this the median says nothing, and 0 is used.
pub(super) const FEW: usize = 8;

/// Ranks records, one question after the other, and keeps the arrays that it works in.
#[derive(Debug, Default)]
pub(crate) struct Ranker {
    arrays: Arrays,
}

impl Ranker {
    /// The best allowed records for a question, the best first.
    pub(crate) fn rank(
        &mut self,
        corpus: Corpus<'_>,
        question: &Question,
        vector: Option<&[f32]>,
        weights: &Weights,
        limit: usize,
        allowed: &dyn Fn(Slot) -> bool,
    ) -> Vec<Ranked> {
        let mut ranking = Ranking::new(corpus, question, weights, &mut self.arrays);
        ranking.words();
        ranking.expand();
        ranking.dates();
        ranking.near(vector);
        ranking.candidates();
        ranking.neighbours();
        ranking.graph();
        ranking.sessions();
        ranking.standing();
        self.best_allowed(limit, allowed)
    }

    /// Takes the best from a heap until there are enough: whether a record is allowed is asked for those at the top only,
    /// because the record has to be read for it.
    fn best_allowed(&mut self, limit: usize, allowed: &dyn Fn(Slot) -> bool) -> Vec<Ranked> {
        let Arrays { found, keys, .. } = &mut self.arrays;
        let mut heap = std::mem::take(keys);
        heap.clear();
        let scored = found.all().iter().filter(|it| it.score > 0.0);
        heap.extend(scored.map(|it| best::key(it.slot, it.score)));
        let mut heap = BinaryHeap::from(heap);
        let mut ranked = Vec::with_capacity(limit.min(heap.len()));
        while ranked.len() < limit
            && let Some(key) = heap.pop()
        {
            let slot = best::slot(key);
            if allowed(slot) {
                ranked.push(found.of(slot).clone());
            }
        }
        *keys = heap.into_vec();
        ranked
    }
}
