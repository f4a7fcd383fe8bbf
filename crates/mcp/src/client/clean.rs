//! What a server says in words, made fit to be shown to people and written to logs.

/// The longest name or title.
pub(super) const NAME: usize = 128;

/// The longest description or question, in bytes.
pub(super) const TEXT: usize = 16 << 10;

/// The longest complaint that is passed on, in bytes.
pub(super) const COMPLAINT: usize = 2 << 10;

/// A text without characters that act on a terminal or turn a line around, and no longer than this.
pub(super) fn clean(text: &str, longest: usize) -> String {
    let mut clean = String::with_capacity(text.len().min(longest));
    for character in text.chars().filter(|it| is_plain(*it)) {
        if clean.len() + character.len_utf8() > longest {
            break;
        }
        clean.push(character);
    }
    clean
}

/// A text that stands in one line.
pub(super) fn line(text: &str, longest: usize) -> String {
    clean(text, longest)
        .replace(['\n', '\t'], " ")
        .trim()
        .to_owned()
}

/// Whether a name can be shown as it is.
pub(super) fn is_name(name: &str) -> bool {
    (1..=NAME).contains(&name.len()) && line(name, NAME) == name
}

/// Neither a control character, but for line ends and tabs, nor one that changes how others are shown.
fn is_plain(character: char) -> bool {
    match character {
        '\n' | '\t' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' => false,
        '\u{feff}' | '\u{e0000}'..='\u{e007f}' => false,
        _ => !character.is_control(),
    }
}

#[cfg(test)]
#[path = "clean_tests.rs"]
mod tests;
