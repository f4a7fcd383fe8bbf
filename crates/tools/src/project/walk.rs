//! Through the folders of a project, past what `.gitignore` says, and not for ever.

use std::ops::ControlFlow;
use std::path::Path;

use cap_std::fs::{Dir, FileType};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::limits::Limits;
use crate::path::ProjectPath;
use crate::project::bytes;
use crate::project::write::TEMPORARY;

/// How much of a `.gitignore` is read. A larger one does not count.
const IGNORE_BYTES: u64 = 256 << 10;

/// Why there may be more than was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Incomplete {
    /// As many lines were found as were asked for.
    Hits,
    /// There are more files and folders than one search looks at.
    Entries,
    /// Folders lie deeper in each other than one search goes.
    Depth,
    /// The files have more bytes than one search reads.
    Bytes,
    /// It took too long.
    Time,
    /// Nobody wants to know any more.
    Stopped,
}

/// A file that is come to: the folder it is in, its name there, its path.
pub(super) struct Stop<'a> {
    pub(super) folder: &'a Dir,
    pub(super) name: &'a str,
    pub(super) path: ProjectPath,
}

/// A walk through a folder and all in it, in the order of names. Symlinks are not followed: what they lead to is
/// come to where it is. What has no name that a [`ProjectPath`] can say, and what is gone by the time it is come
/// to, is passed over.
pub(super) struct Walk<'a> {
    pub(super) limits: &'a Limits,
    pub(super) visit: &'a mut dyn FnMut(&Stop<'_>) -> ControlFlow<Incomplete>,
    ignored: Vec<Gitignore>,
    entries: usize,
    passed: Option<Incomplete>,
}

impl<'a> Walk<'a> {
    /// A walk that begins here. What folders above say is to be ignored is.
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

    /// Walks. Says why there may be more.
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

    /// The files and folders in a folder, by name, as far as there may be more of them.
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

    /// What the nearest folder says counts. What git keeps for itself is nobody's text.
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

/// What the `.gitignore` in a folder says, if there is one. Lines that are none do not count.
fn rules(folder: &Dir, at: &ProjectPath) -> Option<Gitignore> {
    let text = bytes(folder, Path::new(".gitignore"), at, IGNORE_BYTES).ok()?;
    let mut builder = GitignoreBuilder::new(at.to_string());
    for line in String::from_utf8(text).ok()?.lines() {
        // A line that is no rule does not take the others with it.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}
