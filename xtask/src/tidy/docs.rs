//! Finds public types without a doc comment.
//!
//! The compiler's own lint, `missing_docs`, asks for a comment on every field and variant as well, and was answered
//! with captions that repeat the name. A type is where a contract belongs, so only types are asked for one.

/// The words that begin a public type.
const TYPES: [&str; 3] = ["pub struct ", "pub enum ", "pub trait "];

/// The public types of a file that have no doc comment: the line, counted from one, and the name.
pub(super) fn undocumented(text: &str) -> Vec<(usize, &str)> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let types = lines.iter().enumerate().filter_map(|(index, line)| {
        let rest = TYPES.iter().find_map(|words| line.strip_prefix(words))?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        Some((index, &rest[..end.unwrap_or(rest.len())]))
    });
    types
        // `pub struct $name` in a macro has no name of its own; the comment stands where the macro is used.
        .filter(|(index, name)| !name.is_empty() && !has_comment(&lines[..*index]))
        .map(|(index, name)| (index + 1, name))
        .collect()
}

/// Whether the lines before an item end with a doc comment, with attributes between it and the item.
fn has_comment(before: &[&str]) -> bool {
    // A blank line ends what belongs to the item; an attribute may take several lines.
    let own = before.iter().rev().take_while(|line| !line.is_empty());
    own.take_while(|line| !ends_another_item(line))
        .any(|line| line.starts_with("///") || line.starts_with("#[doc"))
}

fn ends_another_item(line: &str) -> bool {
    let ends = line.ends_with('}') || line.ends_with(';') || line.ends_with('{');
    ends && !line.starts_with("//") && !line.starts_with('#')
}
