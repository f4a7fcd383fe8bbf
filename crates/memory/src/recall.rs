//! Recall: a question to a space, and the answer with its evidence.
//!
//! The order of work: [`Handle::recall`] checks the question and loads the space; [`Recaller`] looks into its cache, has
//! the question embedded, and calls `answer`, which ranks (`rank`), collects relations and follows provenance. At last the
//! best hits are noted as used, which moves records between layers.

use std::fmt;
use std::sync::Arc;

use model::Embed;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::error::Error;
use crate::graph::Node;
use crate::layer::Layer;
use crate::limits::{CACHE, CACHE_BYTES, MAX_HITS, MAX_QUESTION};
use crate::memory::{Handle, SpaceName};
use crate::record::{Record, RecordId};
use crate::rules::Rules;
use crate::text::date::Millis;
use crate::text::utterance::Utterance;
use crate::viewer::Viewer;
use crate::writer::{Shared, Write};

mod answer;
mod best;
#[cfg(test)]
#[path = "recall/best_tests.rs"]
mod best_tests;
pub(crate) mod question;
pub(crate) mod rank;
#[cfg(test)]
#[path = "recall/rank_reference_tests.rs"]
mod rank_reference;
#[cfg(test)]
#[path = "recall/rank_tests.rs"]
mod rank_tests;
pub(crate) mod vectors;
#[cfg(test)]
#[path = "recall/vectors_tests.rs"]
mod vectors_tests;
mod weights;

use answer::{RecallInput, answer};
use rank::Ranker;
pub use rank::Sign;
pub use weights::Weights;

/// How many of the best hits count as used.
const USED: usize = 3;

/// Most rankers that are kept for the next question; each has some 40 bytes for every record of the largest space.
const RANKERS: usize = 2;

impl Handle {
    /// Answers a question from the records of this space. Every right allows it; with that of reading alone no hit counts
    /// as used.
    pub async fn recall(&self, recall: Recall) -> Result<Arc<RecallAnswer>, Error> {
        recall.check()?;
        let space = self.load().await?;
        let (recaller, rules) = (self.memory().recaller(), self.rules());
        let answer = recaller.recall(self.name(), &space, self.viewer(), &recall, &rules);
        let answer = answer.await;
        if recall.noted == Noted::Use && self.leaves_traces() && !answer.hits.is_empty() {
            let used = answer.hits.iter().take(USED);
            let ids = used.map(|hit| hit.record.id.clone()).collect();
            let question = recall.question;
            let viewer = self.viewer().clone();
            // Not waited for, and dropped when the mailbox is full: a use more or less does not matter.
            self.memory().offer(
                self.name(),
                Write::Use {
                    ids,
                    question,
                    viewer,
                },
            );
        }
        Ok(answer)
    }
}

/// The question of a cached answer: the space, the caller, and what was asked.
type Asked = (SpaceName, Viewer, Recall);

/// Computes answers and caches them. The version of a space changes with every change that recall could see, also when a
/// vector arrives.
pub(crate) struct Recaller {
    weights: Weights,
    embedder: Option<Arc<dyn Embed>>,
    cache: Cache<Asked, RecallAnswer>,
    rankers: Mutex<Vec<Ranker>>,
}

impl Recaller {
    pub(crate) fn new(weights: Weights, embedder: Option<Arc<dyn Embed>>) -> Self {
        Self {
            weights,
            embedder,
            cache: Cache::new(CACHE, CACHE_BYTES),
            rankers: Mutex::default(),
        }
    }

    /// `words`, or `words+vectors` with the embedder's name.
    pub(crate) fn name(&self) -> String {
        match &self.embedder {
            Some(embedder) => format!("words+vectors ({})", embedder.name()),
            None => "words".to_owned(),
        }
    }

    async fn recall(
        &self,
        name: &SpaceName,
        space: &Shared,
        viewer: &Viewer,
        recall: &Recall,
        rules: &Rules,
    ) -> Arc<RecallAnswer> {
        let key = (name.clone(), viewer.clone(), recall.clone());
        // Read before the answer is computed: if a change comes in between, the cached answer is of an old version and
        // is computed again.
        let version = (space.read().version(), 0);
        if let Some(answer) = self.cache.get(&key, version) {
            return answer;
        }
        let (vector, retriever) = self.embed(space, &recall.question).await;
        let weights = recall.mode.adjust(&self.weights);
        let asked = RecallInput {
            recall,
            vector: vector.as_deref(),
            weights: &weights,
            viewer,
        };
        let mut ranker = self.rankers.lock().pop().unwrap_or_default();
        let answer = answer(&mut ranker, &space.read(), asked, rules, retriever);
        self.keep(ranker);
        let answer = Arc::new(answer);
        let bytes = answer.weight() + recall.question.len();
        self.cache.put(key, version, bytes, Arc::clone(&answer));
        answer
    }

    pub(crate) fn cache(&self) -> &Cache<Asked, RecallAnswer> {
        &self.cache
    }

    fn keep(&self, ranker: Ranker) {
        let mut rankers = self.rankers.lock();
        if rankers.len() < RANKERS {
            rankers.push(ranker);
        }
    }

    /// The question's vector if the space has vectors to compare it with, and the retriever that this makes. A failing
    /// embedder does not fail the recall: words alone answer.
    async fn embed(&self, space: &Shared, question: &str) -> (Option<Vec<f32>>, String) {
        let words = || (None, "words".to_owned());
        let known = space.read().vectors().count();
        let Some(embedder) = self.embedder.as_ref().filter(|_| known > 0) else {
            return words();
        };
        match embedder.embed(vec![question.to_owned()]).await {
            Ok(mut vectors) if vectors.len() == 1 => (vectors.pop(), self.name()),
            Ok(_) => words(),
            Err(error) => {
                tracing::warn!(%error, "embedding the question failed; answering by words alone");
                words()
            }
        }
    }
}

impl fmt::Debug for Recaller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recaller")
            .field("name", &self.name())
            .finish_non_exhaustive()
    }
}

/// A question to memory, and filters. An empty filter admits every record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recall {
    /// The question in natural language.
    pub question: String,
    pub mode: Mode,
    /// Most hits of the answer.
    pub limit: usize,
    /// Only records of these layers.
    pub layers: Vec<Layer>,
    /// Only records from one of these sources.
    pub sources: Vec<String>,
    /// Only records of events at this time or later.
    pub since: Option<Millis>,
    /// Only records of events before this time.
    pub until: Option<Millis>,
    /// Only records of this task.
    pub task: Option<String>,
    /// Only as many hits as fit into this many tokens, estimated.
    pub tokens: Option<usize>,
    /// Whether the best hits count as used.
    pub noted: Noted,
}

impl Recall {
    /// A question for ten hits, without filters. The best hits are noted as used.
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
            return refuse("its limit is 0 or above 1000");
        }
        Ok(())
    }

    /// Whether a record passes the filters. Echoes never do, nor questions, commands and greetings to the agent.
    pub(crate) fn admits(&self, record: &Record) -> bool {
        let occurred = record.occurred();
        let source = || record.source().unwrap_or_default();
        record.echo.is_none()
            && !is_request(record)
            && (self.layers.is_empty() || self.layers.contains(&record.layer()))
            && (self.sources.is_empty() || self.sources.iter().any(|it| it == source()))
            && self.since.is_none_or(|since| occurred >= since)
            && self.until.is_none_or(|until| occurred < until)
            && (self.task.is_none() || self.task == record.content.task)
    }
}

/// Whether a record is a message to the agent that tells it nothing: a question, a command or a greeting. Only the
/// messages that opened a task are looked at: what else was stored is recalled as it is.
fn is_request(record: &Record) -> bool {
    let content = &record.content;
    let message = content.kind == "conversation" && content.task.is_some();
    let said = || {
        content
            .source
            .as_deref()
            .is_some_and(|it| !it.starts_with("tool:"))
    };
    message && record.kept().is_none() && said() && !Utterance::of(&content.text).tells()
}

/// Which signs of ranking are emphasised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Entities and their neighbours in the graph.
    Local,
    /// Themes: sessions, query expansion, relations.
    Global,
    /// All signs with their default weights.
    #[default]
    Hybrid,
}

impl Mode {
    /// The weights for this mode.
    pub(crate) fn adjust(self, weights: &Weights) -> Weights {
        let mut weights = weights.clone();
        match self {
            Self::Local => {
                weights.graph *= 4.0;
                weights.expansion = 0.0;
                weights.session = 0.0;
            }
            Self::Global => {
                weights.expansion *= 2.0;
                weights.session *= 2.0;
                weights.speaker = 0.0;
            }
            Self::Hybrid => {}
        }
        weights
    }
}

/// Whether the best hits count as used. Records that are used often are promoted, and a record that was recalled is
/// recognised when the agent repeats it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Noted {
    Use,
    /// For inspection, without effect on the records.
    Look,
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct RecallAnswer {
    /// Sorted, the best hit first.
    pub hits: Vec<Hit>,
    /// Entities that the question names, and those that the hits are about.
    pub entities: Vec<Node>,
    /// Relations between entities that the hits support.
    pub relations: Vec<Relation>,
    /// `words`, or `words+vectors` with the embedder's name.
    pub retriever: String,
}

impl RecallAnswer {
    /// About how many bytes it holds, with its records: they stay in memory as long as it does.
    fn weight(&self) -> usize {
        let hits = self.hits.iter();
        let hits =
            hits.map(|it| HIT_BYTES + it.record.content.text.len() + 64 * it.provenance.len());
        let relations = self.relations.len() + self.entities.len();
        hits.sum::<usize>() + 128 * relations
    }
}

/// The bytes of a hit and its record besides the text, about.
const HIT_BYTES: usize = 512;

/// A record of the answer, with the reasons for its rank.
#[derive(Clone, Debug)]
pub struct Hit {
    pub record: Arc<Record>,
    /// Comparable within one answer only.
    pub score: f32,
    /// The score divided by the best score of the answer.
    pub relevance: f32,
    /// Cosine similarity to the question, if both have a vector.
    pub similarity: Option<f32>,
    /// The parts of the score, the strongest first.
    pub signs: Vec<(Sign, f32)>,
    /// The present confidence of a lasting record.
    pub confidence: Option<f64>,
    /// The records it was concluded from, directly or indirectly.
    pub provenance: Vec<Link>,
}

/// A record in a provenance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Link {
    /// The record may have been forgotten meanwhile.
    pub id: RecordId,
    pub source: Option<String>,
    pub occurred: Option<Millis>,
}

/// A relation of the graph, with the records that support it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Relation {
    pub from: String,
    pub to: String,
    #[serde(rename = "type")]
    pub kind: String,
    /// Number of records that support it.
    pub weight: usize,
    /// Up to eight of the supporting records.
    pub sources: Vec<RecordId>,
}

/// An estimate of the tokens of a text: four bytes each.
pub(crate) fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}
