//! Sentences that name no action: questions, which memory may answer, and statements, which it may keep.

use serde_json::{Map, Value, json};

use super::fields;
use super::text::{Words, unmarked};
use crate::request::Tool;

/// The most words of a statement that a person is offered to have remembered.
const WORDS: usize = 40;

/// How questions begin.
const ASKING: &[&str] = &[
    "what", "who", "whom", "whose", "where", "when", "which", "why", "how", "is", "are", "was",
    "were", "do", "does", "did", "can", "could", "would", "will", "has", "have", "had", "should",
    "am", "may",
];

/// Verbs of statements about a person or a thing.
const TELLING: &[&str] = &[
    "is", "are", "was", "were", "likes", "like", "loves", "love", "hates", "hate", "lives", "live",
    "works", "work", "has", "have", "wants", "prefers", "prefer", "speaks", "drinks", "eats",
    "owns", "plays", "studies", "moved", "got", "comes", "arrives", "starts", "needs",
];

/// Words that a statement about the speaker begins with.
const OWN: &[&str] = &["my", "i", "our", "we", "mine"];

/// Words that a statement about the agent, about nothing that lasts, or about a person without a name begins with.
const NO_SUBJECT: &[&str] = &[
    "you",
    "your",
    "she",
    "he",
    "they",
    "this",
    "that",
    "it",
    "there",
    "here",
    "nothing",
    "something",
    "everything",
    "nobody",
    "these",
    "those",
    "please",
    "let",
];

/// Verbs after `I` that tell of the moment, or ask for something.
const OF_THE_MOMENT: &[&str] = &[
    "want", "need", "would", "will", "can", "cannot", "could", "should", "must", "think", "guess",
    "mean", "see", "know", "wonder", "do", "did", "said", "told", "asked", "meant", "hope", "just",
];

/// Whether a text asks something.
pub(super) fn is_question(words: &Words<'_>) -> bool {
    let text = words.span(0..words.len());
    let first = words.plain(0);
    text.trim_end().ends_with('?') && words.len() > 1
        || words.len() > 2 && ASKING.contains(&first.as_str())
}

/// Whether a text states something that may be worth keeping.
pub(super) fn is_statement(words: &Words<'_>) -> bool {
    let text = words.span(0..words.len());
    if text.contains('?') || text.contains('\n') || !(3..=WORDS).contains(&words.len()) {
        return false;
    }
    let plain = words.plains();
    let first = plain[0].as_str();
    if NO_SUBJECT.contains(&first) || ASKING.contains(&first) {
        return false;
    }
    if first == "i" && OF_THE_MOMENT.contains(&plain[1].as_str()) {
        return false;
    }
    let verb = plain
        .iter()
        .skip(1)
        .take(4)
        .any(|it| TELLING.contains(&it.as_str()));
    let capital = text.starts_with(char::is_uppercase);
    verb && (OWN.contains(&first) || capital || matches!(first, "the" | "a" | "an"))
        || first == "i" && plain[1] == "am"
}

/// The tool that looks into memory, with a question.
pub(super) fn recall<'a>(words: &Words<'_>, tools: &'a [Tool]) -> Option<(&'a Tool, Value)> {
    let tool = tools.iter().find(|tool| tool.name == "recall")?;
    fields::field(tool, "question")?;
    let text = words.span(0..words.len());
    Some((tool, json!({ "question": text })))
}

/// The tool that remembers, with a statement, after the person was asked.
pub(super) fn remember<'a>(words: &Words<'_>, tools: &'a [Tool]) -> Option<(&'a Tool, Value)> {
    let tool = tools.iter().find(|tool| tool.name == "remember")?;
    let mut arguments = Map::new();
    for field in ["text", "ask"] {
        fields::field(tool, field)?;
        let value = match field {
            "text" => json!(unmarked(words.span(0..words.len()))),
            _ => json!(true),
        };
        arguments.insert(field.to_owned(), value);
    }
    Some((tool, Value::Object(arguments)))
}
