//! Matching requests against the examples of tools.

use serde_json::Value;

use super::fields;
use super::pattern::Pattern;
use super::text::{Words, is_pointing, unmarked, unquoted};
use crate::request::Tool;

/// The tool with an example that has slots for its fields and matches the words.
pub(super) fn by_slots<'a>(words: &Words<'_>, tools: &'a [Tool]) -> Option<(&'a Tool, Value)> {
    let examples = tools.iter().flat_map(|tool| {
        let examples = tool.examples.iter();
        examples.map(move |example| (tool, example))
    });
    let patterns = examples.filter_map(|(tool, example)| Some((tool, Pattern::read(example)?)));
    let mut fitting = patterns.filter_map(|(tool, pattern)| {
        if !pattern
            .slots()
            .all(|slot| fields::field(tool, slot).is_some())
        {
            return None;
        }
        let filled = pattern.fill(words)?;
        if filled.iter().any(|it| is_pointing(&it.value)) {
            return None;
        }
        let filled = filled
            .iter()
            .map(|it| (it.slot.as_str(), it.value.as_str()));
        Some((tool, fields::from_fields(tool, filled).ok()?))
    });
    fitting.next()
}

/// The tool with an example that has these very words. A tool without fields takes them; one with a field would not know
/// which words are for it.
pub(super) fn word_for_word<'a>(words: &Words<'_>, tools: &'a [Tool]) -> Option<(&'a Tool, Value)> {
    let said = words.plains();
    let is_said = |example: &String| Words::of(example).plains() == said;
    let mut tools = tools.iter();
    let tool =
        tools.find(|it| fields::required(it).is_empty() && it.examples.iter().any(is_said))?;
    Some((tool, fields::from_fields(tool, []).ok()?))
}

/// The tool with the example that differs least from the words, in a single place: the words there are the argument.
/// More than half of the example must be in the request.
pub(super) fn by_likeness<'a>(words: &Words<'_>, tools: &'a [Tool]) -> Option<(&'a Tool, Value)> {
    let said = words.plains();
    let mut best: Option<(usize, &Tool, Value)> = None;
    for tool in tools {
        for example in &tool.examples {
            let example = Words::of(example).plains();
            let Some(alike) = alike(&example, &said) else {
                continue;
            };
            if best.as_ref().is_some_and(|(most, ..)| *most >= alike.count) {
                continue;
            }
            // A field of chosen words takes no others.
            let chosen = |schema: &Value| schema.get("type").is_none();
            let field = fields::text_field(tool).and_then(|it| fields::field(tool, it));
            if field.is_some_and(chosen) {
                continue;
            }
            let value = unquoted(unmarked(words.span(alike.differs)));
            let arguments = match (value.is_empty(), fields::text_field(tool)) {
                // The request is the example itself: which words are the argument is unknown, so all are passed.
                (true, Some(field)) => {
                    fields::from_fields(tool, [(field, words.span(0..words.len()))])
                }
                (false, Some(field)) => fields::from_fields(tool, [(field, value)]),
                (true, None) => fields::from_fields(tool, []),
                (false, None) => continue,
            };
            if let Ok(arguments) = arguments {
                best = Some((alike.count, tool, arguments));
            }
        }
    }
    best.map(|(_, tool, arguments)| (tool, arguments))
}

/// The likeness of a request and an example.
struct Alike {
    /// Words of the example that are in the request.
    count: usize,
    /// The words of the request where the two differ.
    differs: std::ops::Range<usize>,
}

/// Whether two lists of words differ in one place at most, and have more in common than not.
fn alike(example: &[String], said: &[String]) -> Option<Alike> {
    let same = |(a, b): &(&String, &String)| a == b;
    let before = example.iter().zip(said).take_while(same).count();
    let rests = (&example[before..], &said[before..]);
    let after = rests
        .0
        .iter()
        .rev()
        .zip(rests.1.iter().rev())
        .take_while(same)
        .count();
    let differs = before..said.len() - after;
    let count = before + after;
    let whole = count == example.len();
    // If the example has words in that place, the request must have some, too.
    let fits = whole && differs.is_empty() || !whole && !differs.is_empty();
    (fits && count * 2 > example.len()).then_some(Alike { count, differs })
}
