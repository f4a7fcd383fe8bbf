//! Headings of Markdown: `#` before a line, or a line of `=` or `-` below it.

use crate::limits::Limits;
use crate::outline::{Outline, Symbol, SymbolKind};

/// Adds the headings of a text. Each stands inside the last one of a lower level, and ends before the next one of its own.
pub(crate) fn headings(text: &str, limits: &Limits, outline: &mut Outline) {
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    let mut before: Option<&str> = None;
    let mut last = 0;
    for (number, line) in (1u32..).zip(text.lines()) {
        last = number;
        if let Some(marks) = fence_of(line) {
            fence = match fence {
                None => Some(marks),
                Some((mark, count)) if marks.0 == mark && marks.1 >= count => None,
                same => same,
            };
            before = None;
            continue;
        }
        if fence.is_some() {
            continue;
        }
        let under = underlined(line)
            .zip(before)
            .map(|(level, name)| (level, name, number - 1));
        let marked = marked(line).map(|(level, name)| (level, name, number));
        before = Some(line.trim()).filter(|it| is_paragraph(it) && marked.is_none());
        let Some((level, name, at)) = marked.or(under) else {
            continue;
        };
        if name.is_empty() || name.len() > limits.name_bytes {
            continue;
        }
        if outline.symbols.len() == limits.symbols {
            outline.incomplete = true;
            break;
        }
        while let Some(&(above, place)) = open.last().filter(|it| it.0 >= level) {
            debug_assert!(
                above >= level,
                "only headings of this level or deeper end here"
            );
            outline.symbols[place].end_line = at.saturating_sub(1).max(outline.symbols[place].line);
            open.pop();
        }
        let inside = open.last().map(|it| outline.symbols[it.1].name.clone());
        open.push((level, outline.symbols.len()));
        outline.symbols.push(Symbol {
            name: name.to_owned(),
            kind: SymbolKind::Heading,
            line: at,
            end_line: at,
            inside,
        });
    }
    for (_, place) in open {
        let symbol = &mut outline.symbols[place];
        symbol.end_line = last.max(symbol.line);
    }
}

/// The level and the words of a line such as `## Words ##`.
fn marked(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches(' ');
    if line.len() - text.len() > 3 {
        return None;
    }
    let words = text.trim_start_matches('#');
    let level = text.len() - words.len();
    let spaced = words.is_empty() || words.starts_with([' ', '\t']);
    let words = words.trim();
    // Marks at the end are part of the heading's form if a space precedes them.
    let bare = words.trim_end_matches('#');
    let words = match bare.is_empty() || bare.ends_with([' ', '\t']) {
        true => bare.trim_end(),
        false => words,
    };
    ((1..=6).contains(&level) && spaced).then_some((level, words))
}

/// The level that a line of `=` or `-` gives to the line above it.
fn underlined(line: &str) -> Option<usize> {
    let marks = line.trim();
    match marks.chars().next()? {
        '=' if marks.bytes().all(|it| it == b'=') => Some(1),
        '-' if marks.len() > 1 && marks.bytes().all(|it| it == b'-') => Some(2),
        _ => None,
    }
}

/// Whether a line can be the words of an underlined heading.
fn is_paragraph(line: &str) -> bool {
    !line.is_empty() && !line.starts_with(['|', '>', '-', '*', '+', '=', '`', '~'])
}

/// The mark of a fence and how often it stands there.
fn fence_of(line: &str) -> Option<(char, usize)> {
    let text = line.trim_start();
    let mark = text.chars().next().filter(|it| ['`', '~'].contains(it))?;
    let count = text.chars().take_while(|it| *it == mark).count();
    (count >= 3).then_some((mark, count))
}
