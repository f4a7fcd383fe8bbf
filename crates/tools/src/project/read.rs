//! Reading a file, by lines and no more than fits into an answer.

use crate::error::Error;
use crate::path::ProjectPath;
use crate::project::{Project, hash};

/// Which lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The first, counted from one.
    pub first: usize,
    /// How many at most.
    pub count: usize,
}

impl Lines {
    /// All there are.
    pub fn all() -> Self {
        Self::from(1)
    }

    /// All from this one, counted from one.
    pub fn from(first: usize) -> Self {
        Self {
            first,
            count: usize::MAX,
        }
    }

    /// At most so many of them.
    pub fn take(self, count: usize) -> Self {
        Self { count, ..self }
    }
}

/// Lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The lines, each with the end it has.
    pub content: String,
    /// The line to go on with. None: the file ends here.
    pub next: Option<usize>,
    /// A single line is longer than an answer may be; what follows of it is not here, and not in the next.
    pub cut: bool,
    /// How many lines the file has.
    pub lines: usize,
    /// How many bytes the file has.
    pub bytes: usize,
    /// What tells this content of the file from any other.
    pub hash: String,
}

impl Project {
    /// Reads lines of a file that is text. As many are given as fit into an answer; the rest begins at
    /// [`Text::next`].
    pub fn read(&self, path: &ProjectPath, lines: Lines) -> Result<Text, Error> {
        let text = self.text(path)?;
        let limit = self.limits().answer_bytes;
        let mut content = String::new();
        let mut next = None;
        let mut cut = false;
        let mut total = 0;
        let mut taken = 0;
        for line in text.split_inclusive('\n') {
            total += 1;
            if total < lines.first || next.is_some() {
                continue;
            }
            let fits = content.len() + line.len() <= limit;
            if taken == lines.count || (!fits && taken > 0) {
                next = Some(total);
                continue;
            }
            taken += 1;
            match fits {
                true => content.push_str(line),
                false => {
                    cut = true;
                    content.push_str(&line[..line.floor_char_boundary(limit)]);
                    // Nothing comes behind half a line.
                    next = Some(total + 1);
                }
            }
        }
        Ok(Text {
            content,
            next: next.filter(|&line| line <= total),
            cut,
            lines: total,
            bytes: text.len(),
            hash: hash(text.as_bytes()),
        })
    }
}
