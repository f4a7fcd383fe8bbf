//! The preview of a write: the diff that a person reads before approving it.
//!
//! The preview is what an approval rests on, so it has to show every change and nothing that is not one. From this
//! follow three rules. A diff that is longer than the limit is an error and is not cut, because a person would approve
//! lines that were not shown. Characters that are invisible, or that change the direction of writing, are escaped as
//! `\u{202e}`: otherwise a file could contain other text than the screen shows (CVE-2021-42574, "Trojan Source"). And
//! the preview is computed again when the answer arrives (`agent`'s approval gate), because the file may have
//! changed between question and answer; if the two previews differ, the person is asked again.
//!
//! `similar` finds a minimal diff, which takes quadratic time for unlike files. After `Limits::diff_time` it returns a
//! longer diff that is still correct.

use similar::TextDiff;

use crate::error::Error;
use crate::path::ProjectPath;
use crate::project::Project;

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;

/// Unchanged lines shown before and after a change.
const CONTEXT: usize = 3;

impl Project {
    /// The unified diff between the file and this content; the file stays as it is. Characters that could mislead a
    /// reader are escaped. A diff longer than [`Limits::diff_bytes`](crate::Limits::diff_bytes) is an error.
    pub fn diff(&self, path: &ProjectPath, content: &str) -> Result<String, Error> {
        self.check_size(path, content)?;
        let (from, to) = (
            format!("a/{}", path.as_str()),
            format!("b/{}", path.as_str()),
        );
        let (from, old) = match self.text(path) {
            Ok(old) if old == content => return Ok(format!("{path} has this content already.\n")),
            Ok(old) => (from, old),
            Err(Error::NotFound(_)) => ("/dev/null".to_owned(), String::new()),
            Err(Error::NotText(_)) => {
                let mut whole = format!("{path} is not text and is replaced as a whole.\n");
                whole.push_str(&self.unified(path, (&from, &to), "", content)?);
                return Ok(whole);
            }
            Err(error) => return Err(error),
        };
        if content.is_empty() && old.is_empty() {
            return Ok(format!("{path} is created as an empty file.\n"));
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

/// The line with misleading characters escaped.
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

/// Whether this character can make a text look like a different one.
fn deceives(letter: char) -> bool {
    match letter {
        '\t' => false,
        // Zero width, bidirectional controls, and line separators that not every program treats as such.
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => {
            true
        }
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => true,
        // Tag characters: invisible copies of ASCII.
        '\u{e0000}'..='\u{e007f}' => true,
        _ => letter.is_control(),
    }
}
