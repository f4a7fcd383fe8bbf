//! What writing would change, for a person to agree to.

use similar::TextDiff;

use crate::error::Error;
use crate::path::ProjectPath;
use crate::project::Project;

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;

/// How many lines around a change are shown.
const CONTEXT: usize = 3;

impl Project {
    /// What giving a file this content would change, as a unified diff. Nothing is changed. Characters that
    /// cannot be seen, or that change how others are seen, are shown as what they are. One that is too long to be shown
    /// as a whole is an error: nobody agrees to what they have not seen.
    pub fn diff(&self, path: &ProjectPath, content: &str) -> Result<String, Error> {
        self.check_size(path, content)?;
        let (from, to) = (
            format!("a/{}", path.as_str()),
            format!("b/{}", path.as_str()),
        );
        let (from, old) = match self.text(path) {
            Ok(old) if old == content => return Ok(format!("{path} is so already.\n")),
            Ok(old) => (from, old),
            Err(Error::NotFound(_)) => ("/dev/null".to_owned(), String::new()),
            Err(Error::NotText(_)) => {
                let mut whole = format!("{path} is not text now, and is replaced.\n");
                whole.push_str(&self.unified(path, (&from, &to), "", content)?);
                return Ok(whole);
            }
            Err(error) => return Err(error),
        };
        if content.is_empty() && old.is_empty() {
            return Ok(format!("{path} is made, and is empty.\n"));
        }
        self.unified(path, (&from, &to), &old, content)
    }

    fn unified(
        &self,
        path: &ProjectPath,
        (from, to): (&str, &str),
        old: &str,
        new: &str,
    ) -> Result<String, Error> {
        let limits = self.limits();
        let mut how = TextDiff::configure();
        let diff = how.timeout(limits.diff_time).diff_lines(old, new);
        let mut unified = diff.unified_diff();
        let unified = unified.context_radius(CONTEXT).header(from, to).to_string();
        let shown: String = unified.split_inclusive('\n').map(visible).collect();
        match shown.len() <= limits.diff_bytes {
            true => Ok(shown),
            false => Err(Error::TooMuch {
                path: path.clone(),
                limit: limits.diff_bytes,
            }),
        }
    }
}

/// A line with what cannot be seen in it as what it is.
fn visible(line: &str) -> String {
    let (line, end) = match line.strip_suffix('\n') {
        Some(line) => (line, "\n"),
        None => (line, ""),
    };
    let mut visible = String::with_capacity(line.len() + end.len());
    for letter in line.chars() {
        match deceives(letter) {
            true => visible.extend(letter.escape_unicode()),
            false => visible.push(letter),
        }
    }
    visible + end
}

/// Whether a person who looks at a text with this character may see another text.
fn deceives(letter: char) -> bool {
    match letter {
        '\t' => false,
        // Without width, turning the direction, or separating lines for some and not for others.
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => {
            true
        }
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        // Letters of nothing: they repeat ASCII and are not drawn.
        '\u{e0000}'..='\u{e007f}' => true,
        _ => letter.is_control(),
    }
}
