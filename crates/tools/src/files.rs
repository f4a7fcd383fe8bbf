//! The skills `file-read`, `file-write` and `file-search`, each in its own file.

use skill::{DefinitionError, Registry, SkillError};

use crate::error::Error;
use crate::project::Project;

mod read;
mod search;
mod write;

pub use read::{Content, FileRead, Read};
pub use search::{FileSearch, Match, Search, Searched};
pub use write::{FileWrite, Write, Wrote};

/// Names that other programs use for these skills, with the skill's id. Ids are never rewritten; wires that accept
/// free names map the left side to the right.
pub const ALIASES: &[(&str, &str)] = &[
    ("file_edit", "file-write"),
    ("file_read", "file-read"),
    ("file_search", "file-search"),
    ("file_write", "file-write"),
];

/// A registry with the three skills, working in this project.
pub fn skills(project: &Project) -> Result<Registry, DefinitionError> {
    Registry::new()
        .with(FileRead::new(project.clone()))?
        .with(FileWrite::new(project.clone()))?
        .with(FileSearch::new(project.clone()))
}

/// Runs blocking work on tokio's blocking threads. `doing` is the verb of the error text: "could not {doing} ...".
async fn on_disk<T: Send + 'static>(
    doing: &'static str,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, SkillError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done
            .map_err(|error| SkillError::coded(error.code(), format!("could not {doing} {error}"))),
        Err(ended) if ended.is_panic() => std::panic::resume_unwind(ended.into_panic()),
        Err(_) => Err(SkillError::Cancelled),
    }
}
