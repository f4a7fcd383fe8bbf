//! Patterns of requests: `(read|show) [the] [file] {path}`.
//!
//! A word stands for itself, `(a|b)` for one of several, `[a]` may be missing, `{slot}` is one word or more. A slot that is
//! followed by a mark, as in `{city}?`, is filled without the marks that end a sentence.

use super::text::{Words, plain, unmarked, unquoted};

/// The most words of a slot that is not at the end.
const MIDDLE: usize = 32;
/// The most slots of a pattern. Both bounds limit the work that a text can cause.
const SLOTS: usize = 3;

#[derive(Debug)]
pub(super) struct Pattern(Vec<Element>);

#[derive(Debug, PartialEq)]
enum Element {
    /// One of these words.
    Word(Vec<String>),
    /// One of these words, or nothing.
    Maybe(Vec<String>),
    Slot(Slot),
}

#[derive(Clone, Debug, PartialEq)]
struct Slot {
    name: String,
    marks: Marks,
}

/// Whether punctuation at the end of a slot is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Marks {
    Kept,
    Dropped,
}

/// A slot and its text.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) slot: String,
    /// As written, with quotes.
    pub(super) raw: String,
    /// Without quotes.
    pub(super) value: String,
}

impl Pattern {
    /// Parses a pattern; `None` if it has no slot, too many slots or no word.
    pub(super) fn read(pattern: &str) -> Option<Self> {
        let elements: Vec<_> = pattern
            .split_whitespace()
            .map(element)
            .collect::<Option<_>>()?;
        let slots = elements.iter().filter(|it| matches!(it, Element::Slot(_)));
        let words = elements.iter().filter(|it| matches!(it, Element::Word(_)));
        let touching = elements
            .windows(2)
            .any(|two| matches!(two, [Element::Slot(_), Element::Slot(_)]));
        let fits = (1..=SLOTS).contains(&slots.count()) && words.count() > 0 && !touching;
        fits.then_some(Self(elements))
    }

    /// Parses a pattern of ours, which may have no slot, or two beside each other: the first then takes one word. `None` if it
    /// is malformed.
    pub(super) fn phrase(pattern: &str) -> Option<Self> {
        let whole = |word: &str| {
            let inner = word
                .trim_start_matches(['(', '['])
                .trim_end_matches([')', ']']);
            let closed = |open, close| word.starts_with(open) == word.ends_with(close);
            closed('(', ')') && closed('[', ']') && !inner.contains(['(', ')', '[', ']'])
        };
        let mut words = pattern.split_whitespace();
        let elements = words.clone().map(element).collect::<Option<Vec<_>>>()?;
        (words.all(whole) && !elements.is_empty()).then_some(Self(elements))
    }

    /// The names of the slots.
    pub(super) fn slots(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|element| match element {
            Element::Slot(slot) => Some(slot.name.as_str()),
            _ => None,
        })
    }

    /// The text of each slot, if the words match. A slot takes as few words as possible.
    pub(super) fn fill(&self, words: &Words<'_>) -> Option<Vec<Filled>> {
        let plains = words.plains();
        let mut filled = Vec::new();
        fill(&self.0, words, &plains, 0, &mut filled)?;
        filled.reverse();
        Some(filled)
    }
}

fn element(word: &str) -> Option<Element> {
    let choices = |inner: &str| -> Option<Vec<String>> {
        let choices: Vec<_> = inner.split('|').map(plain).collect();
        choices
            .iter()
            .all(|choice| !choice.is_empty())
            .then_some(choices)
    };
    if let Some(inner) = word.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
        return Some(Element::Word(choices(inner)?));
    }
    if let Some(inner) = word.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        return Some(Element::Maybe(choices(inner)?));
    }
    if let Some((before, rest)) = word.split_once('{') {
        let (name, after) = rest.split_once('}')?;
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let marked = |text: &str| text.chars().all(|c| c.is_ascii_punctuation());
        if !is_name || !marked(before) || !marked(after) {
            return None;
        }
        let marks = match after.is_empty() {
            true => Marks::Kept,
            false => Marks::Dropped,
        };
        let name = name.to_owned();
        return Some(Element::Slot(Slot { name, marks }));
    }
    Some(Element::Word(choices(word)?))
}

/// Matches from this word on.
fn fill(
    elements: &[Element],
    words: &Words<'_>,
    plains: &[String],
    at: usize,
    filled: &mut Vec<Filled>,
) -> Option<()> {
    let Some((first, rest)) = elements.split_first() else {
        return (at == plains.len()).then_some(());
    };
    let is_one_of = |choices: &[String]| plains.get(at).is_some_and(|it| choices.contains(it));
    match first {
        Element::Word(choices) => {
            is_one_of(choices).then(|| fill(rest, words, plains, at + 1, filled))?
        }
        Element::Maybe(choices) => {
            let with = match is_one_of(choices) {
                true => fill(rest, words, plains, at + 1, filled),
                false => None,
            };
            with.or_else(|| fill(rest, words, plains, at, filled))
        }
        Element::Slot(slot) => {
            let end = match rest.is_empty() {
                true => plains.len()..=plains.len(),
                false => at + 1..=plains.len().min(at + MIDDLE),
            };
            let mut ends = end.filter(|&end| end > at);
            let end = ends.find(|&end| fill(rest, words, plains, end, filled).is_some())?;
            let raw = words.span(at..end);
            let raw = match slot.marks {
                Marks::Kept => raw,
                Marks::Dropped => unmarked(raw),
            };
            filled.push(Filled {
                slot: slot.name.clone(),
                raw: raw.to_owned(),
                value: unquoted(raw).to_owned(),
            });
            Some(())
        }
    }
}
