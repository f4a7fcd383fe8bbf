//! Recall: questions, and answers that say where they come from.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::graph::Node;
use crate::layer::Layer;
use crate::limits::{MAX_HITS, MAX_QUESTION};
use crate::record::{Record, RecordId};
use crate::text::date::Millis;

pub(crate) mod question;
pub(crate) mod rank;
#[cfg(test)]
#[path = "recall/rank_tests.rs"]
mod rank_tests;
pub(crate) mod vectors;
#[cfg(test)]
#[path = "recall/vectors_tests.rs"]
mod vectors_tests;
mod weights;

pub use rank::Sign;
pub use weights::Weights;

/// A question to memory. What is not said does not narrow it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recall {
    /// In anybody's words.
    pub question: String,
    /// From where to look.
    pub mode: Mode,
    /// At most so many hits.
    pub limit: usize,
    /// Only from these layers; none is all.
    pub layers: Vec<Layer>,
    /// Only what comes from one of these sources; none is all.
    pub sources: Vec<String>,
    /// Only what happened then or later.
    pub since: Option<Millis>,
    /// Only what happened before.
    pub until: Option<Millis>,
    /// Only what belongs to this task.
    pub task: Option<String>,
    /// Only as many hits as fit into so many tokens, roughly.
    pub tokens: Option<usize>,
    /// Whether the best hits count as used.
    pub noted: Noted,
}

impl Recall {
    /// A question, ten hits from everywhere.
    pub fn new(question: impl Into<String>) -> Self {
        Self {
            question: question.into(),
            mode: Mode::default(),
            limit: 10,
            layers: Vec::new(),
            sources: Vec::new(),
            since: None,
            until: None,
            task: None,
            tokens: None,
            noted: Noted::Use,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let refuse = |problem: &str| {
            Err(Error::Input {
                what: "the question".to_owned(),
                problem: problem.to_owned(),
            })
        };
        if self.question.trim().is_empty() {
            return refuse("it is empty");
        }
        if self.question.len() > MAX_QUESTION {
            return refuse("it is too long");
        }
        if self.limit == 0 || self.limit > MAX_HITS {
            return refuse("it asks for no hit, or for too many");
        }
        Ok(())
    }

    /// Whether a record is among those asked for.
    pub(crate) fn admits(&self, record: &Record) -> bool {
        let occurred = record.occurred();
        let source = || record.source().unwrap_or_default();
        record.echo.is_none()
            && (self.layers.is_empty() || self.layers.contains(&record.layer()))
            && (self.sources.is_empty() || self.sources.iter().any(|it| it == source()))
            && self.since.is_none_or(|since| occurred >= since)
            && self.until.is_none_or(|until| occurred < until)
            && (self.task.is_none() || self.task == record.content.task)
    }
}

/// From where recall looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// From entities and their neighbours.
    Local,
    /// From relations and themes.
    Global,
    /// From everywhere.
    #[default]
    Hybrid,
}

impl Mode {
    /// What signs count for in this mode.
    pub(crate) fn adjust(self, weights: &Weights) -> Weights {
        let mut weights = weights.clone();
        match self {
            Self::Local => {
                weights.graph *= 4.0;
                weights.kin = 0.0;
                weights.session = 0.0;
            }
            Self::Global => {
                weights.kin *= 2.0;
                weights.session *= 2.0;
                weights.speaker = 0.0;
            }
            Self::Hybrid => {}
        }
        weights
    }
}

/// Whether the best hits count as used: what is used often moves up, and is known when it comes back as an echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Noted {
    /// They do.
    Use,
    /// Somebody only looks.
    Look,
}

/// What memory has to say to a question.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The best first.
    pub hits: Vec<Hit>,
    /// Entities that the question names, and those that the hits are about.
    pub entities: Vec<Node>,
    /// What the hits say about entities.
    pub relations: Vec<Relation>,
    /// What served it: `words`, or `words+vectors` with the embedder's name.
    pub retriever: String,
}

/// A record that answers.
#[derive(Clone, Debug)]
pub struct Hit {
    /// What was found.
    pub record: Arc<Record>,
    /// How well it answers; comparable within one answer.
    pub score: f32,
    /// The same from 0 to 1, where 1 is the best of the answer.
    pub relevance: f32,
    /// How near it is by vectors, if both have one.
    pub similarity: Option<f32>,
    /// What the score is made of, the strongest first.
    pub signs: Vec<(Sign, f32)>,
    /// How sure it is by now, if it is held in the long term.
    pub confidence: Option<f64>,
    /// What it was concluded from, and what that was concluded from.
    pub provenance: Vec<Link>,
}

/// A step back to where something comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// The record; it may have been forgotten.
    pub id: RecordId,
    /// Its source, if it is known.
    pub source: Option<String>,
    /// When it happened, if it is known.
    pub occurred: Option<Millis>,
}

/// A relation of the graph, with the records that support it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Relation {
    /// The entity it starts from.
    pub from: String,
    /// The one it leads to.
    pub to: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: String,
    /// How many records support it.
    pub weight: usize,
    /// Some of them.
    pub sources: Vec<RecordId>,
}

/// Roughly how many tokens a text is for a model.
pub(crate) fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}
