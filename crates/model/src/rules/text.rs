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

/// A request without polite words around it.
pub(super) fn polite(text: &str) -> &str {
    const BEFORE: &[&str] = &["please", "can you", "could you", "would you", "hey", "now"];
    let mut text = text.trim();
    loop {
        let shorter = BEFORE.iter().find_map(|before| {
            let rest = text.get(before.len()..)?;
            let same = text[..before.len()].eq_ignore_ascii_case(before);
            let rest = rest.strip_prefix([' ', ',', '\n'])?;
            same.then(|| rest.trim_start())
        });
        match shorter {
            Some(rest) => text = rest,
            None => break,
        }
    }
    let rest = text.trim_end_matches(['?', '!', '.']);
    let cut = rest.len().saturating_sub("please".len());
    match rest.get(cut..) {
        Some(end) if end.eq_ignore_ascii_case("please") && cut > 0 => {
            let before = &rest[..cut];
            match before.ends_with([' ', ',']) {
                true => before.trim_end_matches([' ', ',']),
                false => text,
            }
        }
        _ => text,
    }
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
