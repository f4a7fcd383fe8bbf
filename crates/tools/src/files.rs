//! The skills that work with files, each in its own file.

use skill::{DefinitionError, Registry, SkillError};

use crate::error::Error;
use crate::project::Project;

mod read;
mod search;
mod write;

pub use read::{Content, FileRead, Read};
pub use search::{FileSearch, Match, Search, Searched};
pub use write::{FileWrite, Write, Wrote};

/// What people's programs call these skills, and their ids. Ids are never rewritten; where a wire is for people, a
/// name on the left stands for the id on the right.
pub const ALIASES: &[(&str, &str)] = &[
    ("file_edit", "file-write"),
    ("file_read", "file-read"),
    ("file_search", "file-search"),
    ("file_write", "file-write"),
];

/// All of them, in this project.
pub fn skills(project: &Project) -> Result<Registry, DefinitionError> {
    Registry::new()
        .with(FileRead::new(project.clone()))?
        .with(FileWrite::new(project.clone()))?
        .with(FileSearch::new(project.clone()))
}

/// Does something that waits for the disk, on a thread for that. `doing` is what it could not do if it fails.
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
