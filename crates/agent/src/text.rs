//! Small questions about texts that rules ask: pure, and the same everywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use serde_json::Value;

/// The words of a text, in lower case.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = text.split(|it: char| !it.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// A text as its words alone: without punctuation, capitals and blanks.
pub(crate) fn plain(text: &str) -> String {
    words(text).collect::<Vec<_>>().join(" ")
}

/// Whether one of these words is in a text; none is in every text.
pub(crate) fn has_any(text: &str, wanted: &[String]) -> bool {
    wanted.is_empty() || words(text).any(|word| wanted.iter().any(|it| it.to_lowercase() == word))
}

/// How much of a text has to do with others, from 0 to 1: the part of its longer words that are in them, too.
pub(crate) fn relevance<'a>(text: &str, others: impl IntoIterator<Item = &'a str>) -> f64 {
    let known: BTreeSet<String> = others.into_iter().flat_map(words).collect();
    let longer = |least: usize| words(text).filter(move |word| word.len() > least);
    let mut long: Vec<String> = longer(3).collect();
    if long.is_empty() {
        // A name may be short.
        long = longer(1).collect();
    }
    if long.is_empty() {
        return 0.0;
    }
    let shared = long.iter().filter(|word| known.contains(*word)).count();
    shared as f64 / long.len() as f64
}

/// Whether a text says another, word for word; other words may stand before and after, and signs between the words.
pub(crate) fn says(text: &str, other: &str) -> bool {
    let (text, other): (Vec<String>, Vec<String>) = (words(text).collect(), words(other).collect());
    !other.is_empty() && text.windows(other.len()).any(|part| part == other)
}

/// A text with a mark in each place where it says another one word for word; none if it does not.
pub(crate) fn without(text: &str, other: &str, mark: &str) -> Option<String> {
    let other: Vec<String> = words(other).collect();
    let mut places: Vec<(usize, usize, String)> = Vec::new();
    let mut begin = None;
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        match (letter.is_alphanumeric(), begin) {
            (true, None) => begin = Some(at),
            (false, Some(from)) => {
                places.push((from, at, text[from..at].to_lowercase()));
                begin = None;
            }
            _ => {}
        }
    }
    if other.is_empty() || places.len() < other.len() {
        return None;
    }
    let (mut rest, mut copied, mut place) = (String::with_capacity(text.len()), 0, 0);
    while place + other.len() <= places.len() {
        let window = &places[place..place + other.len()];
        if window
            .iter()
            .zip(&other)
            .all(|(said, wanted)| said.2 == *wanted)
        {
            rest.push_str(&text[copied..window[0].0]);
            rest.push_str(mark);
            copied = window[other.len() - 1].1;
            place += other.len();
        } else {
            place += 1;
        }
    }
    rest.push_str(&text[copied..]);
    (copied > 0).then_some(rest)
}

/// Whether a person asks in this text that something be remembered.
pub(crate) fn asks_to_remember(text: &str) -> bool {
    let words: Vec<String> = words(text).collect();
    let all: Vec<&str> = words.iter().map(String::as_str).collect();
    let one = |word: &&str| matches!(*word, "remember" | "memorize" | "memorise" | "remind");
    let two = |pair: &[&str]| {
        matches!(
            pair,
            ["note", "that" | "down"]
                | ["forget", "that"]
                | ["keep" | "bear", "in"]
                | ["take", "note"]
        )
    };
    all.iter().any(one) || all.first() == Some(&"note") || all.windows(2).any(two)
}

/// Which part of the texts in a value was said before, from 0 to 1, by their words. What has no words in it is said.
pub(crate) fn grounded(value: &Value, said: &str) -> f64 {
    let (mut all, mut known) = (0_usize, 0_usize);
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => {
                let count = words(text).count();
                all += count;
                if says(said, text) {
                    known += count;
                }
            }
            Value::Array(items) => left.extend(items),
            Value::Object(members) => left.extend(members.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    if all == 0 {
        1.0
    } else {
        known as f64 / all as f64
    }
}

/// Whether a text says every text and number in a value, whole and at borders of words; case and white space do not
/// count. Empty texts need not be said.
pub(crate) fn says_all(text: &str, value: &Value) -> bool {
    let text = spaced(text);
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        let said = match value {
            Value::String(said) => has_whole(&text, &spaced(said)),
            Value::Number(number) => has_whole(&text, &number.to_string()),
            Value::Array(items) => {
                left.extend(items);
                true
            }
            Value::Object(members) => {
                left.extend(members.values());
                true
            }
            Value::Null | Value::Bool(_) => true,
        };
        if !said {
            return false;
        }
    }
    true
}

/// A text in lower case, with one space for each white space.
fn spaced(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

fn has_whole(text: &str, part: &str) -> bool {
    let border = |it: Option<char>| it.is_none_or(|it| !it.is_alphanumeric());
    part.is_empty()
        || text.match_indices(part).any(|(at, _)| {
            border(text[..at].chars().next_back()) && border(text[at + part.len()..].chars().next())
        })
}

/// What the slots of a pattern stand for in a text, if it fits: `note {text} in {path}`. Words between slots are found
/// at their last place, in any case.
pub(crate) fn slots(pattern: &str, text: &str) -> Option<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut pattern = pattern.trim();
    let mut text = text.trim().trim_end_matches(['.', '!', '?']);
    loop {
        let (before, slot) = match pattern.split_once('{') {
            Some((before, rest)) => (before, Some(rest.split_once('}')?)),
            None => (pattern, None),
        };
        let head = text.get(..before.len())?;
        if head.to_lowercase() != before.to_lowercase() {
            return None;
        }
        text = &text[before.len()..];
        let Some((name, after)) = slot else {
            return text.is_empty().then_some(found);
        };
        let next = after.split('{').next().unwrap_or_default();
        let end = match next {
            "" => text.len(),
            next => text.to_lowercase().rfind(&next.to_lowercase())?,
        };
        let value = text.get(..end)?.trim();
        if value.is_empty() {
            return None;
        }
        found.insert(name.to_owned(), value.to_owned());
        text = text.get(end..)?;
        pattern = after;
    }
}

/// A value with the slots in its texts filled.
pub(crate) fn fill(value: &Value, slots: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => {
            let mut text = text.clone();
            for (name, value) in slots {
                text = text.replace(&format!("{{{name}}}"), value);
            }
            Value::String(text)
        }
        Value::Array(items) => items.iter().map(|it| fill(it, slots)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            Value::Object(
                members
                    .map(|(name, it)| (name.clone(), fill(it, slots)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// At most so many bytes of a text, cut between letters, with a mark where it was cut.
pub(crate) fn bounded(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most.saturating_sub(3);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// A text as a quotation of one line, in quotation marks; line ends and other controls are spaces.
pub(crate) fn quoted(text: &str, most: usize) -> String {
    let mut line = String::with_capacity(text.len());
    let words = text.split(|it: char| it.is_whitespace() || it.is_control());
    for word in words.filter(|it| !it.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if line.len() > most {
        line = bounded(&line, most);
    }
    serde_json::to_string(&line).expect("a text can be written as JSON")
}

/// How many bytes a value has as JSON.
pub(crate) fn json_length(value: &Value) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    serde_json::to_writer(&mut count, value).expect("a value is JSON, and counting cannot fail");
    count.0
}

/// A value in words: texts as they are, everything else as JSON.
pub(crate) fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value in words for people: what it says of itself, else its fields with their names. JSON in a text is told the same way.
pub(crate) fn told(value: &Value) -> String {
    match value {
        Value::String(text) => match text.starts_with('{').then(|| serde_json::from_str(text)) {
            Some(Ok(inner @ Value::Object(_))) => told(&inner),
            _ => text.clone(),
        },
        Value::Object(members) => match said_of(value) {
            Some(says) => says.to_owned(),
            None => {
                let fields = members.iter().filter(|(_, it)| !it.is_null());
                let fields = fields.map(|(name, it)| format!("{name}: {}", told(it)));
                fields.collect::<Vec<_>>().join("; ")
            }
        },
        Value::Array(items) => items.iter().map(told).collect::<Vec<_>>().join(", "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// What an output says of itself for people: its field `says`.
pub(crate) fn said_of(output: &Value) -> Option<&str> {
    output.get("says").and_then(Value::as_str)
}
