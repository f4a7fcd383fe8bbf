//! Words and stems of a text.

use rustc_hash::FxHashSet;

pub(crate) mod date;
#[cfg(test)]
#[path = "text/date_tests.rs"]
mod date_tests;
mod imperative;
mod irregular;
mod stem;
#[cfg(test)]
#[path = "text/stem_tests.rs"]
mod stem_tests;

pub(crate) mod utterance;
#[cfg(test)]
#[path = "text/utterance_tests.rs"]
mod utterance_tests;

pub(crate) use stem::stem;

/// Function words of English, which are not indexed.
const COMMON: &str = "a about also am an and any are as at be been being but by can could d did do does doing done \
    don for from had has have having he her here him his how i if in into is it its just ll m me my no not of on or \
    our out re s she should so some t than that the their them then there these they this those to up us ve was we \
    were what when where which who whom whose why will with would you your";

/// Whether a word in lower case is a function word.
pub(crate) fn is_common(word: &str) -> bool {
    use std::sync::LazyLock;
    static WORDS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| COMMON.split_whitespace().collect());
    WORDS.contains(word)
}

/// The words of a text in lower case: runs of letters and digits, without a possessive ending.
pub(crate) fn words(text: &str) -> impl Iterator<Item = String> {
    let text = text.to_lowercase().replace('’', "'");
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .flat_map(|word| word.strip_suffix("'s").unwrap_or(word).split('\''))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.into_iter()
}

/// The beginning of a text: at most `most` bytes.
pub(crate) fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The stems of a text's words in order, without function words.
pub(crate) fn terms(text: &str) -> Vec<String> {
    words(text)
        .filter(|word| !is_common(word))
        .map(|word| term(&word))
        .collect()
}

/// The stem of a word in lower case: the base of an irregular form, or the word, without its endings.
pub(crate) fn term(word: &str) -> String {
    stem(irregular::base(word).unwrap_or(word))
}

/// How far a text has the words of a question, by their stems and without function words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// The words of the question that count.
    pub asked: usize,
    /// Those of them that the text has.
    pub shared: usize,
    /// The names in the question: capital letters behind its first word.
    pub names: usize,
    /// Those of them that the text has.
    pub shared_names: usize,
}

/// Words of a question about knowing, which say nothing of what is asked.
const KNOWING: &[&str] = &[
    "know",
    "tell",
    "told",
    "remember",
    "recall",
    "anything",
    "something",
    "everything",
    "please",
    "say",
    "said",
];

/// Compares a question with a text.
pub fn overlap(question: &str, text: &str) -> Overlap {
    let has = terms(text);
    let mut overlap = Overlap::default();
    let mut seen = FxHashSet::default();
    let tokens = question.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’');
    for (place, token) in tokens.filter(|it| !it.is_empty()).enumerate() {
        let name = place > 0 && token.starts_with(char::is_uppercase);
        for word in words(token) {
            if is_common(&word) || KNOWING.contains(&word.as_str()) {
                continue;
            }
            let term = term(&word);
            let shared = usize::from(has.contains(&term));
            if !seen.insert(term) {
                continue;
            }
            overlap.asked += 1;
            overlap.shared += shared;
            if name {
                overlap.names += 1;
                overlap.shared_names += shared;
            }
        }
    }
    overlap
}
