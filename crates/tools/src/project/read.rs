//! Reading a file by lines, in pieces of limited size.

use crate::error::Error;
use crate::path::ProjectPath;
use crate::project::Project;
use crate::project::cache::HashedText;

/// A range of lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The first line, counted from 1.
    pub first: usize,
    pub count: usize,
}

impl Lines {
    pub fn all() -> Self {
        Self::from(1)
    }

    /// All lines from this one, counted from 1.
    pub fn from(first: usize) -> Self {
        Self {
            first,
            count: usize::MAX,
        }
    }

    pub fn take(self, count: usize) -> Self {
        Self { count, ..self }
    }
}

/// The result of [`Project::read`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The lines, with their line ends as in the file.
    pub content: String,
    /// Where the next read begins. None at the end of the file.
    pub next: Option<usize>,
    /// The last line is longer than an answer may be. Its remainder is in neither this read nor the next.
    pub cut: bool,
    /// Number of lines of the whole file.
    pub lines: usize,
    /// Size of the whole file.
    pub bytes: usize,
    /// SHA-256 of the whole file; [`Project::write`] takes it as `seen`.
    pub hash: String,
}

impl Project {
    /// Reads lines of a text file, as many as fit into [`Limits::answer_bytes`](crate::Limits::answer_bytes). The
    /// following read begins at [`Text::next`].
    pub fn read(&self, path: &ProjectPath, lines: Lines) -> Result<Text, Error> {
        let HashedText { text, hash } = self.hashed_text(path)?;
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
                    // The next line must not follow directly on a cut one.
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
            hash: hash.to_string(),
        })
    }
}
