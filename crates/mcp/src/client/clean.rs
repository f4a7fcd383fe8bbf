//! Cleans the texts of a server before they are shown to people or written to logs.

/// The longest name or title, in bytes.
pub(super) const NAME: usize = 128;

/// The longest description or question, in bytes.
pub(super) const TEXT: usize = 16 << 10;

/// The longest error text that is passed on, in bytes.
pub(super) const COMPLAINT: usize = 2 << 10;

/// Removes characters that control a terminal or change the direction of text, and cuts the text at this many bytes.
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

/// The same, on one line.
pub(super) fn line(text: &str, longest: usize) -> String {
    clean(text, longest)
        .replace(['\n', '\t'], " ")
        .trim()
        .to_owned()
}

/// An error of the library without the names of Rust types, which it writes in brackets.
pub(super) fn without_types(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let end = closing(&rest[start..]).map(|end| start + end);
        let Some(end) = end.filter(|end| rest[start..*end].contains("::")) else {
            plain.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        };
        plain.push_str(rest[..start].trim_end());
        rest = &rest[end + 1..];
    }
    plain.push_str(rest);
    plain
}

/// The cause in an error of the library, which puts its own words around it: that something was sent, when, and through
/// which of its types. People need to know what the connection itself said.
pub(super) fn cause(text: &str) -> String {
    let plain = without_types(text);
    let Some((_, cause)) = plain.rsplit_once("Client error: ") else {
        return plain;
    };
    let cause = cause.rsplit_once(", when ").map_or(cause, |it| it.0);
    cause.to_owned()
}

/// Where the bracket at the beginning of a text is closed.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    text.char_indices().find_map(|(place, letter)| {
        match letter {
            '[' => open += 1,
            ']' => open -= 1,
            _ => {}
        }
        (open == 0).then_some(place)
    })
}

/// Whether a name needs no cleaning.
pub(super) fn is_name(name: &str) -> bool {
    (1..=NAME).contains(&name.len()) && line(name, NAME) == name
}

/// Neither a control character (except line end and tab), nor an invisible one that changes how others are shown.
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
