//! Texts of values: in one piece, as words, as hashes.

use std::hash::Hasher as _;

use rustc_hash::{FxHashSet, FxHasher};
use serde_json::Value;

/// The longest text that rules see, in bytes.
pub(crate) const LONGEST: usize = 8 * 1024;

/// The deepest value that is read.
const DEEPEST: usize = 32;

/// Members that differ from call to call without meaning anything.
const VOLATILE: &[&str] = &[
    "milliseconds",
    "ms",
    "elapsed",
    "duration",
    "at",
    "time",
    "timestamp",
    "date",
    "now",
    "seen",
    "request_id",
    "trace_id",
];

/// All texts of a value, in lines, with numbers and flags as words.
pub(crate) fn in_words(value: &Value) -> String {
    let mut text = String::new();
    add_words(value, &mut text, 0);
    text
}

fn add_words(value: &Value, text: &mut String, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    let line = |text: &mut String| {
        if !text.is_empty() {
            text.push('\n');
        }
    };
    match value {
        Value::Null => {}
        Value::Bool(flag) => {
            line(text);
            text.push_str(if *flag { "true" } else { "false" });
        }
        Value::Number(number) => {
            line(text);
            text.push_str(&number.to_string());
        }
        Value::String(said) => {
            line(text);
            text.push_str(said);
        }
        Value::Array(items) => items.iter().for_each(|it| add_words(it, text, depth + 1)),
        Value::Object(members) => members
            .values()
            .for_each(|it| add_words(it, text, depth + 1)),
    }
}

/// The beginning and the end of a long text.
pub(crate) fn bounded(text: String) -> String {
    if text.len() <= LONGEST {
        return text;
    }
    let half = LONGEST / 2;
    let head = text.floor_char_boundary(half);
    let tail = text.ceil_char_boundary(text.len() - half);
    format!("{}\n{}", &text[..head], &text[tail..])
}

/// A hash that is the same in every process of one release.
pub(crate) fn hash(text: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// A hash as rules see it.
pub(crate) fn hex(hash: u64) -> String {
    format!("{hash:016x}")
}

/// The hash of a value without its volatile members.
pub(crate) fn value_hash(value: &Value) -> u64 {
    let mut hasher = FxHasher::default();
    add_hash(value, &mut hasher, 0);
    hasher.finish()
}

fn add_hash(value: &Value, hasher: &mut FxHasher, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Null => hasher.write_u8(0),
        Value::Bool(flag) => hasher.write_u8(1 + u8::from(*flag)),
        Value::Number(number) => hasher.write_u64(number.as_f64().unwrap_or_default().to_bits()),
        Value::String(text) => {
            hasher.write_u8(3);
            hasher.write(text.as_bytes());
        }
        Value::Array(items) => {
            hasher.write_u8(4);
            items.iter().for_each(|it| add_hash(it, hasher, depth + 1));
        }
        Value::Object(members) => {
            hasher.write_u8(5);
            for (name, value) in members {
                if !VOLATILE.contains(&name.as_str()) {
                    hasher.write(name.as_bytes());
                    add_hash(value, hasher, depth + 1);
                }
            }
        }
    }
}

/// The words of a text, in small letters.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|it: char| !it.is_alphanumeric());
    parts.filter(|it| !it.is_empty())
}

/// The words of a text that carry its meaning, as hashes. A text that names a file or an address has none: two of those are
/// never the same question in other words.
pub(crate) fn meaning(text: &str) -> FxHashSet<u64> {
    let names = |word: &str| word.contains('/') || word.trim_matches('.').contains('.');
    if text.split_whitespace().take(64).any(names) {
        return FxHashSet::default();
    }
    let words = words(text).take(64).map(str::to_lowercase);
    let words = words.filter(|it| !SMALL.contains(&it.as_str()));
    words.map(|it| hash(it.trim_end_matches('s'))).collect()
}

/// Words that change between two ways to ask for the same.
const SMALL: &[&str] = &[
    "a", "an", "and", "as", "at", "by", "find", "for", "from", "get", "in", "is", "of", "on", "or",
    "please", "search", "show", "the", "to", "where", "with",
];

/// The hash of an output without figures and without the words of its input: two answers that only repeat another question
/// are the same.
pub(crate) fn shape(output: &str, input: &FxHashSet<u64>) -> u64 {
    let mut hasher = FxHasher::default();
    for word in words(output).take(400) {
        if word.bytes().any(|it| it.is_ascii_digit()) {
            continue;
        }
        let small = word.to_lowercase();
        if SMALL.contains(&small.as_str()) || input.contains(&hash(small.trim_end_matches('s'))) {
            continue;
        }
        hasher.write(small.as_bytes());
        hasher.write_u8(b' ');
    }
    hasher.finish()
}

/// Whether a result holds nothing: no text, an empty list, zero matches.
pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => {
            let lists = members.values().filter(|it| it.is_array());
            let mut lists = lists.peekable();
            members.is_empty() || lists.peek().is_some() && lists.all(is_empty)
        }
        Value::Bool(_) | Value::Number(_) => false,
    }
}
