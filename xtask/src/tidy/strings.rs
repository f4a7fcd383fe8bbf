//! The string literals of Rust source text, found without a parser: enough to count words in what users read.

/// The contents of the string literals of a file, in order. Escapes stay as they are written; comments and character
/// literals are skipped.
pub(super) fn literals(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        rest = match character {
            '/' if rest.starts_with("//") => after(rest, "\n"),
            '/' if rest.starts_with("/*") => after(rest, "*/"),
            '\'' => after_quote(rest),
            '"' => {
                let (literal, behind) = plain(&rest[1..]);
                found.push(literal);
                behind
            }
            'r' => match raw(rest) {
                Some((literal, behind)) => {
                    found.push(literal);
                    behind
                }
                None => after_name(rest),
            },
            // An `r` within a name begins no string; a prefix such as `b` stands before the quote.
            _ if character.is_alphanumeric() || character == '_' => after_name(rest),
            _ => &rest[character.len_utf8()..],
        };
    }
    found
}

/// The text after the first occurrence of an end; nothing if there is none.
fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.find(end).map_or("", |at| &text[at + end.len()..])
}

/// The text after a name, or a prefix of a literal other than `r`.
fn after_name(text: &str) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let (name, behind) = text.split_at(end);
    // `br"…"` and `cr"…"` are raw strings.
    match name.strip_suffix('r') {
        Some("b" | "c") if behind.starts_with(['"', '#']) => &text[1..],
        _ => behind,
    }
}

/// The text after a character literal, or the quote of a lifetime.
fn after_quote(text: &str) -> &str {
    let mut characters = text[1..].char_indices();
    match (characters.next(), characters.next()) {
        // `'\''`: the character behind the backslash is no end.
        (Some((_, '\\')), Some((at, escaped))) => after(&text[1 + at + escaped.len_utf8()..], "'"),
        (Some(_), Some((at, '\''))) => &text[1 + at + 1..],
        _ => &text[1..],
    }
}

/// The content of a string behind its opening quote, and what follows the closing one.
fn plain(text: &str) -> (&str, &str) {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return (&text[..at], &text[at + 1..]),
            _ => {}
        }
    }
    (text, "")
}

/// The content of a raw string that begins here, and what follows it.
fn raw(text: &str) -> Option<(&str, &str)> {
    let hashes = text[1..].len() - text[1..].trim_start_matches('#').len();
    let inner = text[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let at = inner.find(&end)?;
    Some((&inner[..at], &inner[at + end.len()..]))
}
