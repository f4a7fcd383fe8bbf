//! A whole file at once, for people who edit it.

use std::time::SystemTime;

use crate::error::Error;
use crate::path::ProjectPath;
use crate::project::Project;
use crate::project::cache::HashedText;

/// The result of [`Project::whole`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeFile {
    pub content: String,
    /// SHA-256 of the content; [`Project::write`] takes it as `seen`.
    pub hash: String,
    /// When it was last changed, where the system knows.
    pub modified: Option<SystemTime>,
}

impl Project {
    /// The whole text of a file, up to [`Limits::file_bytes`](crate::Limits::file_bytes).
    pub fn whole(&self, path: &ProjectPath) -> Result<WholeFile, Error> {
        let HashedText { text, hash } = self.hashed_text(path)?;
        let there = self.root().metadata(path.as_path());
        let modified = there.and_then(|it| it.modified()).ok();
        Ok(WholeFile {
            hash: hash.to_string(),
            content: text.to_string(),
            modified: modified.map(cap_std::time::SystemTime::into_std),
        })
    }
}
