//! Walking the folders of a project in order, without ignored files and within limits.

use std::ops::ControlFlow;
use std::path::Path;

use cap_std::fs::{Dir, FileType};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::limits::Limits;
use crate::path::ProjectPath;
use crate::project::bytes;
use crate::project::write::TEMPORARY;

/// Largest `.gitignore` that is read; a larger one is not applied.
const IGNORE_BYTES: u64 = 256 << 10;

/// Why a search ended before it had seen everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Incomplete {
    /// The number of lines that was asked for is reached.
    Hits,
    /// The number of [`Limits::entries`] is reached.
    Entries,
    /// Folders are nested deeper than [`Limits::depth`]; the deeper ones were skipped.
    Depth,
    /// The number of [`Limits::searched_bytes`] is reached.
    Bytes,
    /// The time of [`Limits::search_time`] is over.
    Time,
    /// The caller cancelled the search.
    Stopped,
}

/// A visited file: the open folder it is in, its name there, and its path.
pub(super) struct Stop<'a> {
    pub(super) folder: &'a Dir,
    pub(super) name: &'a str,
    pub(super) path: ProjectPath,
}

/// A depth-first walk in the order of names. Symlinks are not followed: a target inside the project is visited at its
/// own place. Names that a [`ProjectPath`] cannot hold, and entries that disappear during the walk, are skipped.
pub(super) struct Walk<'a> {
    pub(super) limits: &'a Limits,
    pub(super) visit: &'a mut dyn FnMut(&Stop<'_>) -> ControlFlow<Incomplete>,
    ignored: Vec<Gitignore>,
    entries: usize,
    passed: Option<Incomplete>,
}

impl<'a> Walk<'a> {
    /// A walk that begins at `from`. The `.gitignore` files of the folders above it are applied, too.
    pub(super) fn new(
        limits: &'a Limits,
        root: &Dir,
        from: &ProjectPath,
        visit: &'a mut dyn FnMut(&Stop<'_>) -> ControlFlow<Incomplete>,
    ) -> Self {
        let mut above = Vec::new();
        let mut at = from.clone();
        while let Some((folder, _)) = at.split() {
            above.push(folder.clone());
            at = folder;
        }
        let rules = above.iter().rev().filter_map(|at| {
            let folder = root.open_dir(at.as_path()).ok()?;
            rules(&folder, at)
        });
        Self {
            limits,
            visit,
            ignored: rules.collect(),
            entries: 0,
            passed: None,
        }
    }

    /// Visits every file. Returns why the walk is incomplete, if it is.
    pub(super) fn run(mut self, folder: &Dir, from: &ProjectPath) -> Option<Incomplete> {
        match self.folder(folder, from, 0) {
            ControlFlow::Break(why) => Some(why),
            ControlFlow::Continue(()) => self.passed,
        }
    }

    fn folder(&mut self, folder: &Dir, at: &ProjectPath, depth: usize) -> ControlFlow<Incomplete> {
        if depth >= self.limits.depth {
            self.passed = Some(Incomplete::Depth);
            return ControlFlow::Continue(());
        }
        let rules = rules(folder, at);
        let known = self.ignored.len();
        self.ignored.extend(rules);
        let walked = self.entries(folder, at, depth);
        self.ignored.truncate(known);
        walked
    }

    fn entries(&mut self, folder: &Dir, at: &ProjectPath, depth: usize) -> ControlFlow<Incomplete> {
        for (name, kind) in self.names(folder) {
            let Ok(path) = at.join(&name) else { continue };
            if self.ignores(&path, kind.is_dir()) {
                continue;
            }
            if kind.is_file() {
                let (folder, name) = (folder, &*name);
                (self.visit)(&Stop { folder, name, path })?;
            } else if let Ok(inner) = folder.open_dir(&name) {
                self.folder(&inner, &path, depth + 1)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// The files and folders in a folder, sorted by name, up to the limit on entries.
    fn names(&mut self, folder: &Dir) -> Vec<(String, FileType)> {
        let mut names = Vec::new();
        for entry in folder.entries().into_iter().flatten().flatten() {
            if self.entries == self.limits.entries {
                self.passed = Some(Incomplete::Entries);
                break;
            }
            self.entries += 1;
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if (kind.is_file() || kind.is_dir()) && !name.starts_with(TEMPORARY) {
                names.push((name, kind));
            }
        }
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        names
    }

    /// Whether a path is ignored. The nearest `.gitignore` decides, as in git; `.git` is always ignored.
    fn ignores(&self, path: &ProjectPath, is_folder: bool) -> bool {
        if path.split().is_some_and(|(_, name)| name == ".git") {
            return true;
        }
        let path = path.to_string();
        let said = self.ignored.iter().rev();
        let said = said.map(|rules| rules.matched(&path, is_folder));
        said.into_iter()
            .find(|it| !it.is_none())
            .is_some_and(|it| matches!(it, Match::Ignore(_)))
    }
}

/// The rules of the `.gitignore` in a folder, if there is one.
fn rules(folder: &Dir, at: &ProjectPath) -> Option<Gitignore> {
    let text = bytes(folder, Path::new(".gitignore"), at, IGNORE_BYTES).ok()?;
    let mut builder = GitignoreBuilder::new(at.to_string());
    for line in String::from_utf8(text).ok()?.lines() {
        // An invalid line is skipped; the other lines are applied.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}
