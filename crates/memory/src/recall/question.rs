//! What a question asks for, as far as its words say.

use crate::graph::Graph;
use crate::text::{self, date};

/// A question, taken apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Question {
    /// Its words in lower case.
    pub(crate) words: Vec<String>,
    /// What it is about, in order.
    pub(crate) terms: Vec<String>,
    /// The dates it names.
    pub(crate) dates: Vec<date::Partial>,
    /// The entities it names that memory knows.
    pub(crate) entities: Vec<String>,
    /// Whether it asks for the newest.
    pub(crate) newest: bool,
}

impl Question {
    /// Takes a question apart, given what memory knows.
    pub(crate) fn of(text: &str, graph: &Graph) -> Self {
        let words: Vec<String> = text::words(text).collect();
        let newest = words.iter().any(|word| {
            matches!(
                &**word,
                "currently" | "latest" | "newest" | "recent" | "recently" | "now" | "nowadays"
            )
        });
        Self {
            terms: text::terms(text),
            dates: date::named(text),
            entities: graph.named_in(text),
            newest,
            words,
        }
    }
}
