//! The weights of ranking. The defaults were measured; `docs/memory.md` says on which data.

use serde::{Deserialize, Serialize};

/// How much each sign counts when records are ranked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// `k1` of BM25: how soon repetitions of a term stop to count.
    pub k1: f32,
    /// `b` of BM25: how much long texts are penalised, from 0 to 1.
    pub b: f32,
    /// The weight of a speaker's name in a text, where another term has 1.
    pub name: f32,
    /// Bigrams: two terms of the question that follow each other.
    pub bigram: f32,
    /// Terms of query expansion.
    pub expansion: f32,
    /// How many of the best records give terms for expansion.
    pub expansion_records: usize,
    /// How many terms are added by expansion.
    pub expansion_terms: usize,
    /// A date that the question names.
    pub date: f32,
    /// The part of its score that a record gives to the next one of its session.
    pub after: f32,
    /// The part for the record before it.
    pub before: f32,
    /// The part for records two places away.
    pub further: f32,
    /// What a question gives to the record after it, in addition.
    pub reply: f32,
    /// BM25 of the session as a whole.
    pub session: f32,
    /// Gain of a record if the question names its speaker.
    pub speaker: f32,
    /// Loss of a record that ends with a question.
    pub asking: f32,
    pub vector: f32,
    /// A connection in the graph.
    pub graph: f32,
    /// Gain of new records if the question asks for the newest.
    pub recent: f32,
    /// Gain of a lasting record; an uncertain one loses three times as much.
    pub standing: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            k1: 0.7,
            b: 0.3,
            name: 0.5,
            bigram: 0.5,
            expansion: 0.1,
            expansion_records: 8,
            expansion_terms: 10,
            date: 2.0,
            after: 0.42,
            before: 0.28,
            further: 0.175,
            reply: 0.315,
            session: 0.3,
            speaker: 0.3,
            asking: 0.2,
            vector: 0.5,
            graph: 0.05,
            recent: 0.3,
            standing: 0.1,
        }
    }
}
