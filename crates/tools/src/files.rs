//! The skills `file-list`, `file-read`, `file-search`, `file-write`, `file-edit`, `file-move`, `file-delete` and `undo`,
//! each in its own file.

use skill::{DefinitionError, Registry, SkillError};

use crate::error::Error;
use crate::history::History;
use crate::path::ProjectPath;
use crate::project::{Incomplete, Project, Written};

mod delete;
mod edit;
mod list;
mod read;
mod rename;
mod search;
mod undo;
mod write;

pub use delete::{Delete, Deleted, FileDelete};
pub use edit::{Edit, Edited, EditedHunk, FileEdit};
pub use list::{Entry, FileList, List, Listed};
pub use read::{Content, FileRead, Read};
pub use rename::{FileMove, Move, Moved};
pub use search::{FileSearch, Match, Search, Searched};
pub use undo::{Undo, UndoInput, UndoOutput};
pub use write::{FileWrite, Write, Wrote};

/// Names that other programs use for these skills, with the skill's id. Ids are never rewritten; wires that accept
/// free names map the left side to the right.
pub const ALIASES: &[(&str, &str)] = &[
    ("file_delete", "file-delete"),
    ("file_edit", "file-edit"),
    ("file_list", "file-list"),
    ("file_move", "file-move"),
    ("file_read", "file-read"),
    ("file_search", "file-search"),
    ("file_write", "file-write"),
];

/// A registry with these skills, working in this project.
pub fn skills(project: &Project) -> Result<Registry, DefinitionError> {
    all(&Changing {
        project: project.clone(),
        history: None,
    })
}

/// The same skills, which record what they change, and `undo`, which takes it back.
pub fn skills_with_history(history: &History) -> Result<Registry, DefinitionError> {
    let changing = Changing {
        project: history.project().clone(),
        history: Some(history.clone()),
    };
    all(&changing)?.with(Undo::new(history.clone()))
}

fn all(changing: &Changing) -> Result<Registry, DefinitionError> {
    let project = &changing.project;
    Registry::new()
        .with(FileRead::new(project.clone()))?
        .with(FileWrite::new(changing.clone()))?
        .with(FileEdit::new(changing.clone()))?
        .with(FileSearch::new(project.clone()))?
        .with(FileList::new(project.clone()))?
        .with(FileMove::new(changing.clone()))?
        .with(FileDelete::new(changing.clone()))
}

/// A project whose changes are recorded, if it has a history. `(by, skill)` is for the record.
#[derive(Clone, Debug)]
pub(crate) struct Changing {
    project: Project,
    history: Option<History>,
}

impl Changing {
    fn write(
        &self,
        by: (&str, &str),
        path: &ProjectPath,
        content: &str,
        seen: Option<&str>,
    ) -> Result<Written, Error> {
        match &self.history {
            Some(history) => history.write(by, path, content, seen),
            None => self.project.write(path, content, seen),
        }
    }

    fn delete(
        &self,
        by: (&str, &str),
        path: &ProjectPath,
        seen: Option<&str>,
    ) -> Result<bool, Error> {
        match &self.history {
            Some(history) => history.delete(by, path, seen),
            None => self.project.delete(path, seen),
        }
    }

    fn rename(
        &self,
        by: (&str, &str),
        from: &ProjectPath,
        to: &ProjectPath,
        seen: Option<&str>,
    ) -> Result<bool, Error> {
        match &self.history {
            Some(history) => history.rename(by, from, to, seen),
            None => self.project.rename(from, to, seen),
        }
    }
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

/// Why a listing or a search is not whole, in words.
fn incomplete(why: Incomplete) -> &'static str {
    match why {
        Incomplete::Hits => "there are more lines",
        Incomplete::Entries => "there are more files than one search visits",
        Incomplete::Depth => "some folders are nested too deeply to be searched",
        Incomplete::Bytes => "there is more text than one search reads",
        Incomplete::Time => "the search took too long",
        Incomplete::Stopped => "the search was stopped",
    }
}

/// A path below /project as it is written from a folder of it.
fn within<'a>(path: &'a str, folder: &str) -> &'a str {
    let below = path
        .strip_prefix(folder)
        .and_then(|it| it.strip_prefix('/'));
    below.unwrap_or(path)
}

/// A number of things in words.
fn counted(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        count => format!("{count} {thing}s"),
    }
}

/// A size in words, such as `1 byte` and `12 KB`.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    match bytes {
        1 => return "1 byte".to_owned(),
        0..10_000 => return format!("{bytes} bytes"),
        _ => {}
    }
    let (mut amount, mut unit) = (bytes / 1000, 0);
    while amount >= 10_000 && unit + 1 < UNITS.len() {
        amount /= 1000;
        unit += 1;
    }
    format!("{amount} {}", UNITS[unit])
}
