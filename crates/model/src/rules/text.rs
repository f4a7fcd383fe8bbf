//! A text as words with their positions.

use std::ops::Range;

/// A text and its words. A word ends at white space; a quoted part is one word.
#[derive(Debug)]
pub(super) struct Words<'a> {
    text: &'a str,
    words: Vec<Range<usize>>,
}

impl<'a> Words<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut words = Vec::new();
        let mut rest = 0;
        while let Some(offset) = text[rest..].find(|c: char| !c.is_whitespace()) {
            let start = rest + offset;
            let end = start + word_end(&text[start..]);
            words.push(start..end);
            rest = end;
        }
        Self { text, words }
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The word in lower case without punctuation around it, for comparison with patterns.
    pub(super) fn plain(&self, index: usize) -> String {
        plain(&self.text[self.words[index].clone()])
    }

    /// All words in that form.
    pub(super) fn plains(&self) -> Vec<String> {
        (0..self.len()).map(|index| self.plain(index)).collect()
    }

    /// The text from one word up to another, as written.
    pub(super) fn span(&self, words: Range<usize>) -> &'a str {
        match words.is_empty() {
            true => "",
            false => &self.text[self.words[words.start].start..self.words[words.end - 1].end],
        }
    }
}

/// Where the first word of a text ends. The text begins with it.
fn word_end(text: &str) -> usize {
    let mut chars = text.chars();
    if let Some(mark) = chars.next()
        && let Some(closing) = closing(mark)
        && let Some(end) = text[mark.len_utf8()..].find(closing)
    {
        let end = mark.len_utf8() + end + closing.len_utf8();
        let tail = &text[end..];
        // A mark in the middle of a word is part of it.
        return end + tail.find(char::is_whitespace).unwrap_or(tail.len());
    }
    text.find(char::is_whitespace).unwrap_or(text.len())
}

/// The closing quote for an opening one.
fn closing(mark: char) -> Option<char> {
    match mark {
        '"' | '`' | '\'' => Some(mark),
        '“' => Some('”'),
        _ => None,
    }
}

/// A word in lower case without punctuation around it.
pub(super) fn plain(word: &str) -> String {
    word.trim_matches(|c: char| c.is_ascii_punctuation() && !"/{}".contains(c) || "…“”".contains(c))
        .to_lowercase()
}

/// Whether a text only points at something, as `that` in `remember that`.
pub(super) fn is_pointing(text: &str) -> bool {
    matches!(&*plain(text.trim()), "that" | "this" | "it" | "something")
}

/// The text inside quotes if the whole text is quoted, else the text.
pub(super) fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let Some(mark) = text.chars().next() else {
        return text;
    };
    let inner = closing(mark).and_then(|end| text[mark.len_utf8()..].strip_suffix(end));
    inner.unwrap_or(text)
}

/// A text without the punctuation at its end.
pub(super) fn unmarked(text: &str) -> &str {
    let bare = text.trim_end_matches(['?', '!', ',', ';', ':']);
    // An ellipsis is kept, and so are `..` and `.`, which are folders.
    match bare.strip_suffix('.') {
        Some(rest) if !rest.is_empty() && !rest.ends_with(['.', '/']) => rest,
        _ => bare,
    }
}

/// Polite words before a request, longer ones first.
const BEFORE: &[&str] = &[
    "i would like you to",
    "i'd like you to",
    "i want you to",
    "i need you to",
    "good afternoon",
    "good morning",
    "good evening",
    "hello there",
    "would you",
    "could you",
    "hey there",
    "hi there",
    "can you",
    "will you",
    "please",
    "kindly",
    "hello",
    "okay",
    "just",
    "hey",
    "now",
    "and",
    "ok",
    "so",
    "hi",
];

/// A request without polite words around it. A text of nothing else stays as it is.
pub(super) fn polite(text: &str) -> &str {
    let whole = text.trim();
    let mut text = whole;
    while let Some(rest) = BEFORE.iter().find_map(|before| after(text, before)) {
        text = rest;
    }
    let rest = text.trim_end_matches(['?', '!', '.']);
    for end in ["for me please", "for me", "please", "thanks", "thank you"] {
        let cut = rest.len().saturating_sub(end.len());
        if let Some(tail) = rest.get(cut..)
            && tail.eq_ignore_ascii_case(end)
            && rest[..cut].ends_with([' ', ','])
        {
            text = rest[..cut].trim_end_matches([' ', ',']);
            break;
        }
    }
    if text.is_empty() { whole } else { text }
}

/// The rest of a text behind some words, unless nothing is left.
fn after<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let rest = text.get(words.len()..)?;
    let same = text[..words.len()].eq_ignore_ascii_case(words);
    let ends = rest.starts_with([' ', ',', '!', '.', '\n', ':']);
    let rest = rest.trim_start_matches([' ', ',', '!', '.', '\n', ':', '-']);
    // What is left must be more than a sign.
    (same && ends && rest.contains(char::is_alphanumeric)).then_some(rest)
}

/// Short forms, and what they stand for.
const SHORT: &[(&str, &str)] = &[
    ("what's", "what is"),
    ("whats", "what is"),
    ("who's", "who is"),
    ("whos", "who is"),
    ("where's", "where is"),
    ("how's", "how is"),
    ("when's", "when is"),
    ("that's", "that is"),
    ("it's", "it is"),
    ("i'm", "i am"),
    ("im", "i am"),
    ("you're", "you are"),
    ("don't", "do not"),
    ("dont", "do not"),
    ("doesn't", "does not"),
    ("doesnt", "does not"),
    ("didn't", "did not"),
    ("can't", "can not"),
    ("cant", "can not"),
    ("won't", "will not"),
    ("today's", "todays"),
];

/// A text with its short forms written out: all of them, or that of its first word alone.
pub(super) fn written_out(text: &str, which: Forms) -> String {
    let text = text.replace('\u{2019}', "'");
    let mut out = String::with_capacity(text.len());
    for (place, word) in text.split_inclusive(char::is_whitespace).enumerate() {
        let bare = word.trim_end();
        let core = bare.trim_end_matches(['?', '!', '.', ',']);
        let long = SHORT
            .iter()
            .filter(|_| place == 0 || which == Forms::All)
            .find(|(short, _)| short.eq_ignore_ascii_case(core));
        match long {
            Some((_, long)) => {
                // `I'm called Ada` is kept as a person writes it.
                match long.strip_prefix("i ") {
                    Some(rest) => out.push_str(&format!("I {rest}")),
                    None => out.push_str(long),
                }
                out.push_str(&word[core.len()..]);
            }
            None => out.push_str(word),
        }
    }
    out
}

/// Which short forms are written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Forms {
    All,
    First,
}

/// The rest of a text behind a name; case, hyphens, underscores and spaces count as equal.
pub(super) fn after_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = text.char_indices();
    let mut end = 0;
    let fold = |c: char| match c {
        '-' | '_' => ' ',
        c => c.to_ascii_lowercase(),
    };
    let mut named = false;
    for expected in name.trim().chars() {
        let (at, found) = rest.next()?;
        if fold(found) != fold(expected) {
            return None;
        }
        end = at + found.len_utf8();
        named = true;
    }
    let rest = &text[end..];
    let ends = rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r', ':', '{', '?', '!']);
    (named && ends).then(|| rest.trim_start_matches(':').trim())
}
