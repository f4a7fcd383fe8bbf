//! How much each sign counts for. The defaults were measured; `docs/memory.md` says on what.

use serde::{Deserialize, Serialize};

/// How much each sign counts for when records are ranked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Weights {
    /// How soon saying a word again stops to count (`k1` of BM25).
    pub saturation: f32,
    /// How much a long text is held against it, from 0 to 1 (`b` of BM25).
    pub length: f32,
    /// What the name of a speaker counts for when it is said, as a share of another word.
    pub name: f32,
    /// What it counts for that two words of the question follow each other.
    pub pair: f32,
    /// What words count for that come with the question's words in the best records.
    pub kin: f32,
    /// From how many of the best records those are taken.
    pub kin_records: usize,
    /// How many such words.
    pub kin_terms: usize,
    /// What a day counts for that the question names.
    pub date: f32,
    /// What is given to the next record of a session.
    pub after: f32,
    /// What is given to the one before.
    pub before: f32,
    /// What is given to those two places away.
    pub further: f32,
    /// What a reply gets in addition from the question before it.
    pub reply: f32,
    /// What counts for every record of a session that is about the question.
    pub session: f32,
    /// What a record gains whose speaker the question names.
    pub speaker: f32,
    /// What a record loses that ends by asking.
    pub asking: f32,
    /// What nearness of vectors counts for.
    pub vector: f32,
    /// What a connection in the graph counts for.
    pub graph: f32,
    /// What newness counts for, if the question asks for the newest.
    pub recent: f32,
    /// What a record gains that is held in the long term, and loses if it is in doubt.
    pub standing: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            saturation: 0.7,
            length: 0.3,
            name: 0.5,
            pair: 0.5,
            kin: 0.1,
            kin_records: 8,
            kin_terms: 10,
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
