//! The purpose of a text: it tells something, supposes something, asks, commands or greets. By rules for English, and
//! without a model.

use super::imperative::{is_imperative, is_imperative_after, is_verb};
use super::words;

/// What a text does. Of a text with several sentences, the strongest: one that tells something makes it a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Utterance {
    Greeting,
    Command,
    Question,
    /// It tells something that its speaker is not sure of.
    Speculation,
    Statement,
}

impl Utterance {
    /// What a text does, judged by its words and signs.
    pub fn of(text: &str) -> Self {
        let all = sentences(text).map(one);
        all.max().unwrap_or(Self::Greeting)
    }

    /// Whether there is something to know in it.
    pub fn tells(self) -> bool {
        self >= Self::Speculation
    }
}

/// Whether a text supposes something and states nothing.
pub(crate) fn is_speculation(text: &str) -> bool {
    Utterance::of(text) == Utterance::Speculation
}

/// The sentences of a text, each with its closing sign. A sign inside a word, as in a file name, closes none.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let closes = |word: &str| word.ends_with(['.', '!', '?']);
    text.lines().flat_map(move |line| {
        let mut ends = Vec::new();
        let mut start = 0;
        for word in line.split_inclusive(char::is_whitespace) {
            start += word.len();
            if closes(word.trim_end()) {
                ends.push(start);
            }
        }
        ends.push(line.len());
        let mut from = 0;
        let parts = ends.into_iter().map(move |end| {
            let part = &line[from..end];
            from = end;
            part.trim()
        });
        parts.filter(|it| !it.is_empty())
    })
}

fn one(sentence: &str) -> Utterance {
    let words: Vec<String> = words(sentence).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match () {
        () if sentence.starts_with('/') => Utterance::Command,
        () if words.iter().all(|word| GREETINGS.contains(word)) => Utterance::Greeting,
        () if asks(sentence, &words) => Utterance::Question,
        () if commands(sentence, &words) || is_about_file(sentence) => Utterance::Command,
        () if supposes(&words) => Utterance::Speculation,
        () => Utterance::Statement,
    }
}

const GREETINGS: [&str; 31] = [
    "hi",
    "hello",
    "hey",
    "there",
    "thanks",
    "thank",
    "you",
    "very",
    "much",
    "so",
    "good",
    "morning",
    "afternoon",
    "evening",
    "night",
    "day",
    "bye",
    "goodbye",
    "ok",
    "okay",
    "yes",
    "no",
    "sure",
    "please",
    "cheers",
    "welcome",
    "great",
    "everyone",
    "all",
    "nice",
    "again",
];

fn asks(sentence: &str, words: &[&str]) -> bool {
    const ASKING: [&str; 8] = [
        "what", "who", "whom", "whose", "where", "which", "why", "how",
    ];
    const HELPERS: [&str; 18] = [
        "is", "are", "was", "were", "do", "does", "did", "can", "could", "would", "will", "has",
        "have", "had", "should", "shall", "am", "may",
    ];
    const PRONOUNS: [&str; 16] = [
        "you", "i", "we", "he", "she", "it", "they", "there", "the", "a", "an", "my", "your",
        "this", "that", "any",
    ];
    if sentence.ends_with('?') || is_indirect(words) || begins_short(sentence) {
        return true;
    }
    let (first, second) = (words.first(), words.get(1));
    let helper = second.is_some_and(|it| HELPERS.contains(it));
    match first {
        Some(first) if ASKING.contains(first) => {
            helper
                || second
                    .is_some_and(|it| matches!(*it, "about" | "time" | "many" | "much" | "else"))
        }
        Some(&"when") => helper,
        Some(first) if HELPERS.contains(first) && *first != "may" => {
            second.is_some_and(|it| PRONOUNS.contains(it))
        }
        _ => false,
    }
}

/// Whether a sentence begins with a word that asks and the short form of its verb: "what's the name of my dog". The words of a text are
/// without that form.
fn begins_short(sentence: &str) -> bool {
    const SHORT: [&str; 8] = [
        "what's", "who's", "where's", "how's", "when's", "why's", "what're", "who're",
    ];
    let first = sentence.split_whitespace().next().unwrap_or_default();
    let first = first.to_lowercase().replace('’', "'");
    SHORT.contains(&first.as_str()) || matches!(first.as_str(), "whats" | "whos" | "wheres")
}

/// Whether a sentence asks without the form of a question: "I wonder who has the key".
fn is_indirect(words: &[&str]) -> bool {
    matches!(
        words,
        ["i", "wonder", ..]
            | ["i", "want", "to", "know", ..]
            | ["i", "would", "like", "to", "know", ..]
            | ["i", "d", "like", "to", "know", ..]
    )
}

/// Whether a sentence wants something done, in its beginning or after a comma.
fn commands(sentence: &str, all: &[&str]) -> bool {
    if is_imperative(all) {
        return true;
    }
    let Some((before, after)) = sentence.split_once(',') else {
        return false;
    };
    let (before, after): (Vec<String>, Vec<String>) =
        (words(before).collect(), words(after).collect());
    let before: Vec<&str> = before.iter().map(String::as_str).collect();
    let after: Vec<&str> = after.iter().map(String::as_str).collect();
    is_imperative_after(&before, &after)
}

/// Whether a sentence begins with a verb and the path of a file: "copy notes.md to old.md". After a word that is a noun as often, a path
/// is no verb's subject but its object.
fn is_about_file(sentence: &str) -> bool {
    let mut raw = sentence.split_whitespace();
    let (verb, path) = (
        raw.next().unwrap_or_default(),
        raw.next().unwrap_or_default(),
    );
    let is_path = |it: &str| {
        let name = it.trim_end_matches([',', '.', '!', ':', ';']);
        // `4.5` and `J.Smith` are no files.
        let named = |(stem, end): (&str, &str)| {
            !stem.is_empty() && end.starts_with(|it: char| it.is_ascii_lowercase())
        };
        name.contains('/') || name.rsplit_once('.').is_some_and(named)
    };
    let ends = |it: &str| it.ends_with([',', '.', '!', ':', ';']);
    is_verb(&verb.to_lowercase()) && !ends(verb) && is_path(path)
}

fn supposes(words: &[&str]) -> bool {
    const SINGLE: [&str; 7] = [
        "maybe",
        "perhaps",
        "possibly",
        "presumably",
        "supposedly",
        "might",
        "probably",
    ];
    const PAIRS: [(&str, &str); 8] = [
        ("i", "think"),
        ("i", "guess"),
        ("i", "suppose"),
        ("i", "suspect"),
        ("could", "be"),
        ("may", "be"),
        ("may", "have"),
        ("not", "sure"),
    ];
    words.iter().any(|word| SINGLE.contains(word))
        || words
            .windows(2)
            .any(|pair| PAIRS.contains(&(pair[0], pair[1])))
}
