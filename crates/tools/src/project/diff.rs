//! The preview of a write: the diff that a person reads before approving it.
//!
//! The preview is what an approval rests on, so it has to show every change and nothing that is not one. From this
//! follow four rules. A diff that is longer than the limit is an error and is not cut, because a person would approve
//! lines that were not shown. Characters that are invisible, or that change the direction of writing, are escaped as
//! `\u{202e}` ([`skill::visible`]): otherwise a file could contain other text than the screen shows. And
//! the preview is computed again when the answer arrives (`agent`'s approval gate), because the file may have
//! changed between question and answer; if the two previews differ, the person is asked again. What is approved is an
//! input that names the content the diff was made from (`file-write`'s `bind`), and the write is refused if the file has
//! another one by then.
//!
//! `similar` finds a minimal diff, which takes quadratic time for unlike files. After `Limits::diff_time` it returns a
//! longer diff that is still correct.

use similar::TextDiff;
use skill::visible;

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
        self.raw_diff(path, content).map(|diff| visible(&diff))
    }

    fn raw_diff(&self, path: &ProjectPath, content: &str) -> Result<String, Error> {
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
        match visible(&unified).len() <= limits.diff_bytes {
            true => Ok(unified),
            false => Err(Error::TooMuch {
                path: path.clone(),
                limit: limits.diff_bytes,
            }),
        }
    }
}
