//! Files with blocks: which lines may change, and which stay as they are.

use std::ops::Range;

use crate::error::Error;
use crate::syntax::Language;

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;

/// The words of the markers, behind the opener of a comment in any language.
const START: &str = "EVOLVE-BLOCK-START";
const END: &str = "EVOLVE-BLOCK-END";

/// The common beginning of both: no candidate may have it in a block.
pub(crate) const MARKER: &str = "EVOLVE-BLOCK-";

/// A file of a component: the texts of its blocks, and the text around them, which no candidate changes.
///
/// A candidate has texts for the blocks alone. Its file is made of the original's outside and the candidate's inside, so
/// that markers, licences and tests around a block cannot be changed by any edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path relative to the project.
    pub path: String,
    pub language: Option<Language>,
    /// The text before the first block, between blocks, and after the last: one more than there are blocks.
    outside: Vec<String>,
    pub(crate) blocks: Vec<String>,
}

impl Source {
    /// Finds the blocks of a file. A file without markers is one block.
    pub fn parse(path: &str, text: &str) -> Result<Self, Error> {
        let fault = |line: usize, fault: &'static str| Error::Markers {
            path: path.to_owned(),
            line: line + 1,
            fault,
        };
        let (mut outside, mut blocks) = (vec![String::new()], Vec::new());
        let mut begun = None;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            match (marker(line), begun) {
                (Some(START), None) => {
                    push(&mut outside, line);
                    blocks.push(String::new());
                    begun = Some(number);
                }
                (Some(START), Some(_)) => {
                    return Err(fault(number, "a block begins inside of another"));
                }
                (Some(_), Some(_)) => {
                    outside.push(line.to_owned());
                    begun = None;
                }
                (Some(_), None) => return Err(fault(number, "a block ends that has not begun")),
                (None, Some(_)) => push(&mut blocks, line),
                (None, None) => push(&mut outside, line),
            }
        }
        if let Some(number) = begun {
            return Err(fault(number, "the block that begins here has no end"));
        }
        if blocks.is_empty() {
            blocks.push(outside.pop().unwrap_or_default());
            outside = vec![String::new(), String::new()];
        }
        Ok(Self {
            path: path.to_owned(),
            language: Language::of(path),
            outside,
            blocks,
        })
    }

    /// The whole file with these texts in its blocks, and where they are in it.
    pub(crate) fn assemble(&self, blocks: &[String]) -> (String, Vec<Range<usize>>) {
        let mut text = self.outside.first().cloned().unwrap_or_default();
        let mut ranges = Vec::with_capacity(blocks.len());
        for (block, after) in blocks.iter().zip(self.outside.iter().skip(1)) {
            let from = text.len();
            text.push_str(block);
            ranges.push(from..text.len());
            if !block.is_empty() && !block.ends_with('\n') && !after.is_empty() {
                text.push('\n');
            }
            text.push_str(after);
        }
        (text, ranges)
    }
}

fn push(texts: &mut [String], line: &str) {
    if let Some(last) = texts.last_mut() {
        last.push_str(line);
    }
}

/// The marker that a line is: the opener of a comment, which has no letters and digits, and the word.
fn marker(line: &str) -> Option<&'static str> {
    [START, END].into_iter().find(|word| {
        let before = line.split_once(word).map(|(before, _)| before.trim());
        before.is_some_and(|it| {
            !it.is_empty() && it.len() <= 8 && !it.contains(char::is_alphanumeric)
        })
    })
}
