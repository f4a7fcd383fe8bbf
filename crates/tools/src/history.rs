//! Changes that agents made in a project, so that they can be taken back.
//!
//! A change is recorded before it is made: a crash between the two leaves a record of something that did not happen,
//! which undoing finds out, and never a change without a record. A record has the whole content before, and the
//! difference back. If the file is as the change left it, undoing restores the content exactly. If it has changed
//! since, only the lines of the change are taken back, and only if they and the lines around them are as they were left;
//! otherwise nothing is done, and the error says so. Undoing is a change itself, and can be undone.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use similar::TextDiff;

use crate::error::Error;
use crate::path::ProjectPath;
use crate::project::{ABSENT, Accepted, Project, apply_exactly};

/// Limits of a [`History`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryLimits {
    /// Changes that are kept; the oldest go first.
    pub changes: usize,
    /// Size of all records.
    pub bytes: u64,
}

impl Default for HistoryLimits {
    fn default() -> Self {
        Self {
            changes: 2_000,
            bytes: 256 << 20,
        }
    }
}

/// A change of one file, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// What it is known by. Later changes have greater ids.
    pub id: String,
    /// When it was made, in milliseconds since 1970.
    pub at: u64,
    /// For which caller.
    pub by: String,
    /// The skill that made it.
    pub skill: String,
    pub what: ChangeKind,
    /// It was taken back by this later change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<String>,
}

impl FileChange {
    /// What it changed in the text of a file, as a unified diff; empty for a move.
    pub fn diff(&self) -> String {
        let ChangeKind::Content {
            path,
            before,
            after,
            ..
        } = &self.what
        else {
            return String::new();
        };
        let text = |side: &Option<String>| side.clone().unwrap_or_default();
        let name = |letter: &str, side: &Option<String>| match side {
            Some(_) => format!("{letter}/{path}"),
            None => "/dev/null".to_owned(),
        };
        let (old, new) = (text(before), text(after));
        let diff = TextDiff::from_lines(&old, &new);
        let mut unified = diff.unified_diff();
        unified
            .header(&name("a", before), &name("b", after))
            .to_string()
    }
}

/// What a change did. Paths are relative to the project; hashes as [`Project::stamp`] gives them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// A file got another content. None: it did not exist before, or does not exist after.
    Content {
        path: String,
        before: Option<String>,
        after: Option<String>,
        /// The hash after, or `absent`.
        left: String,
    },
    Moved {
        from: String,
        to: String,
        left: String,
    },
}

/// What taking back a change would do, or did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The change that was taken back.
    pub change: String,
    /// The file; of a move where it is again.
    pub path: ProjectPath,
    /// What became of it: created, modified, deleted or moved.
    pub operation: &'static str,
    /// The id of the change that this is, and by which it can be taken back itself.
    pub id: String,
}

/// The changes of agents in one project, kept in a folder. Clones are the same.
///
/// It owns the folder, one file for each change, and is the only writer there; a lock orders writers within the
/// process and holds the last id, so that ids grow also within a millisecond. The folder lies outside of the project
/// and of every sandbox, since it holds the content of files.
///
/// The order is: record, then change. After a crash in between, the record is about a change that did not happen;
/// undoing compares the hash that the change should have left with the file, and does nothing. The other order could
/// leave a change that cannot be undone. A record that cannot be written therefore stops the change; one of a change
/// that failed is removed. Content that is not text is changed without a record.
///
/// Old records are removed when there are too many or they are too large, the oldest first; the change itself is not
/// affected. Undoing is recorded as a change, too, and marks the first record with its id, so that nothing is taken
/// back twice and an undo can be undone. A version control system was not used: a project need not be a repository,
/// and an agent must not make commits in one.
#[derive(Clone)]
pub struct History {
    inner: Arc<Inner>,
}

struct Inner {
    project: Project,
    folder: PathBuf,
    limits: HistoryLimits,
    /// One writer at a time; it holds the last id, so that ids grow also within a millisecond.
    last: Mutex<u128>,
}

impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History").finish_non_exhaustive()
    }
}

const SUFFIX: &str = ".json";

impl History {
    /// The history of a project, in a folder that no command can read or write: it holds content of files.
    pub fn open(project: Project, folder: impl Into<PathBuf>) -> Result<Self, Error> {
        Self::with_limits(project, folder, HistoryLimits::default())
    }

    /// Like [`open`](Self::open), with other limits than the default ones.
    pub fn with_limits(
        project: Project,
        folder: impl Into<PathBuf>,
        limits: HistoryLimits,
    ) -> Result<Self, Error> {
        let folder = folder.into();
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder
            .recursive(true)
            .create(&folder)
            .map_err(|source| Error::Folder {
                folder: folder.display().to_string(),
                source,
            })?;
        Ok(Self {
            inner: Arc::new(Inner {
                project,
                folder,
                limits,
                last: Mutex::new(0),
            }),
        })
    }

    pub fn project(&self) -> &Project {
        &self.inner.project
    }

    /// The changes, the last first, without those that were taken back.
    pub fn changes(&self, most: usize) -> Vec<FileChange> {
        let ids = self.ids().into_iter().rev();
        let changes = ids.filter_map(|id| self.get(&id).ok());
        changes
            .filter(|it| it.undone.is_none())
            .take(most)
            .collect()
    }

    /// The change of this id.
    pub fn get(&self, id: &str) -> Result<FileChange, Error> {
        let unknown = || Error::NoChange(id.to_owned());
        // An id is a file name here.
        if !id.bytes().all(|it| it.is_ascii_hexdigit()) || id.is_empty() || id.len() > 64 {
            return Err(unknown());
        }
        let text = fs::read(self.file(id)).map_err(|_| unknown())?;
        serde_json::from_slice(&text).map_err(|_| unknown())
    }

    /// The last change that was not taken back and does not take back another: undoing twice takes back two changes.
    pub fn last(&self) -> Result<FileChange, Error> {
        let changes = self.changes(usize::MAX);
        let last = changes.into_iter().find(|it| it.skill != UNDO);
        last.ok_or(Error::NothingToUndo)
    }

    /// Writes a file, and keeps what was there.
    pub fn write(
        &self,
        (by, skill): (&str, &str),
        path: &ProjectPath,
        content: &str,
        seen: Option<&str>,
    ) -> Result<crate::Written, Error> {
        let (real, _) = self.project().state(path)?;
        let before = match self.project().text(&real) {
            Ok(text) => Some(text),
            Err(Error::NotFound(_)) => None,
            // The old content is not text, so that no undo is recorded.
            Err(Error::NotText(_)) => return self.project().write(path, content, seen),
            Err(error) => return Err(error),
        };
        if before.as_deref() == Some(content) {
            return self.project().write(path, content, seen);
        }
        let what = ChangeKind::Content {
            path: real.as_str().to_owned(),
            before,
            after: Some(content.to_owned()),
            left: crate::project::hash(content.as_bytes()),
        };
        let make = || self.project().write(path, content, seen);
        self.recorded((by, skill), what, make, |it| it.changed)
    }

    /// Deletes a file or an empty folder, and keeps the text of the file. What is not text is not kept.
    pub fn delete(
        &self,
        (by, skill): (&str, &str),
        path: &ProjectPath,
        seen: Option<&str>,
    ) -> Result<bool, Error> {
        let is_file = matches!(self.project().file_size(path), Ok(Some(_)));
        let text = is_file.then(|| self.project().text(path).ok());
        let before = text.flatten();
        if before.is_none() {
            return self.project().delete(path, seen);
        }
        let what = ChangeKind::Content {
            path: path.as_str().to_owned(),
            before,
            after: None,
            left: ABSENT.to_owned(),
        };
        let make = || self.project().delete(path, seen);
        self.recorded((by, skill), what, make, |changed| *changed)
    }

    /// Moves a file or a folder.
    pub fn rename(
        &self,
        (by, skill): (&str, &str),
        from: &ProjectPath,
        to: &ProjectPath,
        seen: Option<&str>,
    ) -> Result<bool, Error> {
        let what = ChangeKind::Moved {
            from: from.as_str().to_owned(),
            to: to.as_str().to_owned(),
            left: self.project().stamp(from)?,
        };
        let make = || self.project().rename(from, to, seen);
        self.recorded((by, skill), what, make, |changed| *changed)
    }

    /// Records a change and makes it. The record goes if the change fails or has been made before.
    fn recorded<T>(
        &self,
        (by, skill): (&str, &str),
        what: ChangeKind,
        make: impl FnOnce() -> Result<T, Error>,
        has_changed: impl FnOnce(&T) -> bool,
    ) -> Result<T, Error> {
        let (id, at) = self.next_id();
        let change = FileChange {
            id: id.clone(),
            at,
            by: by.to_owned(),
            skill: skill.to_owned(),
            what,
            undone: None,
        };
        self.put(&change)?;
        let made = make();
        match made.as_ref().is_ok_and(has_changed) {
            true => self.prune(),
            false => drop(fs::remove_file(self.file(&id))),
        }
        made
    }

    /// What taking back a change would make of the file: the path, the content (none: it is deleted), and the state that
    /// this is about. For a move the two paths.
    fn plan(&self, change: &FileChange) -> Result<Plan, Error> {
        let refused = |path: &ProjectPath| Error::NotUndone {
            path: path.clone(),
            change: change.id.clone(),
        };
        match &change.what {
            ChangeKind::Moved { from, to, left } => {
                let (from, to) = (ProjectPath::parse(from)?, ProjectPath::parse(to)?);
                let there = self.project().stamp(&to)?;
                if there != *left || self.project().stamp(&from)? != ABSENT {
                    return Err(refused(&to));
                }
                Ok(Plan::Move {
                    from: to,
                    to: from,
                    seen: there,
                })
            }
            ChangeKind::Content {
                path,
                before,
                after,
                left,
            } => {
                let path = ProjectPath::parse(path)?;
                let seen = self.project().stamp(&path)?;
                if seen == *left {
                    let content = before.clone();
                    return Ok(Plan::Content {
                        path,
                        content,
                        seen,
                    });
                }
                // Only the lines of the change are taken back.
                let (Some(before), Some(after)) = (before, after) else {
                    return Err(refused(&path));
                };
                let now = self.project().text(&path).map_err(|_| refused(&path))?;
                let back = TextDiff::from_lines(after, before);
                let back = back.unified_diff().header("after", "before").to_string();
                let patched = apply_exactly(&now, &back, &Accepted::All);
                let content = Some(patched.map_err(|_| refused(&path))?.content);
                Ok(Plan::Content {
                    path,
                    content,
                    seen,
                })
            }
        }
    }

    /// What taking back a change would do: the diff, or the paths of a move. With the state that it is about.
    pub fn preview(&self, id: &str) -> Result<(String, String), Error> {
        let change = self.get(id)?;
        Ok(match self.plan(&change)? {
            Plan::Move { from, to, seen } => {
                (format!("This would move {from} back to {to}."), seen)
            }
            Plan::Content {
                path,
                content,
                seen,
            } => {
                let shown = match &content {
                    Some(content) => self.project().diff(&path, content)?,
                    None => {
                        let lost = self.project().diff(&path, "")?;
                        format!("This would delete {path}, which the change created:\n{lost}")
                    }
                };
                (shown, seen)
            }
        })
    }

    /// Takes back a change. With `seen`, the state that [`preview`](Self::preview) gave, a file that changed since is an
    /// error.
    pub fn undo(&self, by: &str, id: &str, seen: Option<&str>) -> Result<Undone, Error> {
        let mut change = self.get(id)?;
        let as_shown = |path: &ProjectPath, now: &str| match seen.is_some_and(|it| it != now) {
            true => Err(Error::Changed(path.clone())),
            false => Ok(()),
        };
        let before = self.ids().pop();
        let (path, operation) = match self.plan(&change)? {
            Plan::Move { from, to, seen } => {
                as_shown(&from, &seen)?;
                self.rename((by, UNDO), &from, &to, Some(&seen))?;
                (to, "moved")
            }
            Plan::Content {
                path,
                content,
                seen,
            } => {
                as_shown(&path, &seen)?;
                let operation = match content {
                    Some(content) => {
                        let written = self.write((by, UNDO), &path, &content, Some(&seen))?;
                        match written.created {
                            true => "created",
                            false => "modified",
                        }
                    }
                    None => {
                        self.delete((by, UNDO), &path, Some(&seen))?;
                        "deleted"
                    }
                };
                (path, operation)
            }
        };
        let own = self.ids().pop().filter(|it| Some(it) != before.as_ref());
        let own = own.unwrap_or_default();
        change.undone = Some(own.clone());
        self.put(&change)?;
        Ok(Undone {
            change: change.id,
            path,
            operation,
            id: own,
        })
    }

    fn next_id(&self) -> (String, u64) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default();
        let mut last = self
            .inner
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *last = now.as_micros().max(*last + 1);
        let at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        // The time in hexadecimal digits; the rest tells processes apart.
        let other = &uuid::Uuid::new_v4().simple().to_string()[..4];
        (format!("{:014x}{other}", *last), at)
    }

    fn file(&self, id: &str) -> PathBuf {
        self.inner.folder.join(format!("{id}{SUFFIX}"))
    }

    /// The ids of all records, the oldest first.
    fn ids(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.inner.folder)
            .into_iter()
            .flatten()
            .flatten();
        let names = entries.filter_map(|it| it.file_name().into_string().ok());
        let mut ids: Vec<String> = names
            .filter_map(|it| it.strip_suffix(SUFFIX).map(str::to_owned))
            .collect();
        ids.sort_unstable();
        ids
    }

    fn put(&self, change: &FileChange) -> Result<(), Error> {
        let put = || -> io::Result<()> {
            let bytes = serde_json::to_vec(change)?;
            let temporary = self.inner.folder.join(format!("{}.new", change.id));
            let mut file = fs::File::create(&temporary)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, self.file(&change.id))
        };
        put().map_err(|source| Error::Folder {
            folder: self.inner.folder.display().to_string(),
            source,
        })
    }

    /// Removes the oldest records beyond the limits.
    fn prune(&self) {
        let mut bytes = 0;
        for (count, id) in self.ids().into_iter().rev().enumerate() {
            bytes += fs::metadata(self.file(&id)).map_or(0, |it| it.len());
            let over = bytes > self.inner.limits.bytes && count > 0;
            if count >= self.inner.limits.changes || over {
                let _ = fs::remove_file(self.file(&id));
            }
        }
    }
}

/// The skill that a change by undoing is recorded for.
const UNDO: &str = "undo";

/// How a change is taken back.
enum Plan {
    Content {
        path: ProjectPath,
        content: Option<String>,
        seen: String,
    },
    Move {
        from: ProjectPath,
        to: ProjectPath,
        seen: String,
    },
}
