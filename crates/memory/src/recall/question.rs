//! A question, parsed into terms, dates and entities.

use crate::graph::Graph;
use crate::text::{self, date};

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Question {
    /// All words, in lower case.
    pub(crate) words: Vec<String>,
    /// The stems without common words, in order.
    pub(crate) terms: Vec<String>,
    pub(crate) dates: Vec<date::Partial>,
    /// The entities of the graph that it names.
    pub(crate) entities: Vec<String>,
    /// Whether it asks for the newest records.
    pub(crate) newest: bool,
}

impl Question {
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
