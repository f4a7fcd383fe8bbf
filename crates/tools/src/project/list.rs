//! Listing a folder, or the files below it whose names fit a pattern.

use std::ops::ControlFlow;
use std::time::SystemTime;

use cap_std::fs::{FileType, Metadata};

use crate::error::Error;
use crate::path::ProjectPath;
use crate::project::Project;
use crate::project::search::glob;
use crate::project::walk::{Incomplete, Stop, Walk};
use crate::project::write::TEMPORARY;

/// The result of [`Project::list`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Sorted by path.
    pub entries: Vec<Listing>,
    /// Set when the listing ended early: why there may be more.
    pub incomplete: Option<Incomplete>,
}

/// A file or folder of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    pub path: ProjectPath,
    pub kind: ListingKind,
    /// Size of a file; 0 for everything else.
    pub bytes: u64,
    /// When it was last changed, where the system knows.
    pub modified: Option<SystemTime>,
}

/// What an entry of a folder is. A symlink is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListingKind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device.
    Special,
}

impl ListingKind {
    fn of(kind: FileType) -> Self {
        match () {
            () if kind.is_file() => Self::File,
            () if kind.is_dir() => Self::Folder,
            () if kind.is_symlink() => Self::Link,
            () => Self::Special,
        }
    }
}

impl Project {
    /// Lists what is directly in a folder, at most `most` entries; of a file, the file itself.
    ///
    /// With a pattern it lists the files below the folder that fit it instead, except those that `.gitignore` excludes.
    pub fn list(
        &self,
        path: &ProjectPath,
        pattern: Option<&str>,
        most: usize,
    ) -> Result<Listed, Error> {
        let failed = |error| Error::io(path, error);
        let most = most.clamp(1, self.limits().hits);
        let there = self.root().metadata(path.as_path()).map_err(failed)?;
        if !there.is_dir() {
            return Ok(Listed {
                entries: vec![listing(path.clone(), &there)],
                incomplete: None,
            });
        }
        match pattern {
            Some(pattern) => self.list_below(path, pattern, most),
            None => self.list_folder(path, most),
        }
    }

    fn list_folder(&self, path: &ProjectPath, most: usize) -> Result<Listed, Error> {
        let failed = |error| Error::io(path, error);
        let folder = self.root().open_dir(path.as_path()).map_err(failed)?;
        let mut listed = Listed::default();
        for (count, entry) in folder.entries().map_err(failed)?.enumerate() {
            if count == self.limits().entries {
                listed.incomplete = Some(Incomplete::Entries);
                break;
            }
            // An entry that disappears meanwhile is skipped, and so is one with a name that no path can hold.
            let Some((name, found)) = entry
                .ok()
                .and_then(|it| Some((it.file_name().into_string().ok()?, it.metadata().ok()?)))
            else {
                continue;
            };
            if name.starts_with(TEMPORARY) {
                continue;
            }
            if let Ok(path) = path.join(&name) {
                listed.entries.push(listing(path, &found));
            }
        }
        listed.entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        if listed.entries.len() > most {
            listed.entries.truncate(most);
            listed.incomplete = Some(Incomplete::Hits);
        }
        Ok(listed)
    }

    fn list_below(&self, path: &ProjectPath, pattern: &str, most: usize) -> Result<Listed, Error> {
        let glob = glob(pattern, self.limits().query_bytes)?;
        let folder = self.root().open_dir(path.as_path());
        let folder = folder.map_err(|error| Error::io(path, error))?;
        let mut entries = Vec::new();
        let mut visit = |file: &Stop<'_>| {
            if !glob.matches(&file.path) {
                return ControlFlow::Continue(());
            }
            if entries.len() == most {
                return ControlFlow::Break(Incomplete::Hits);
            }
            if let Ok(found) = file.folder.symlink_metadata(file.name) {
                entries.push(listing(file.path.clone(), &found));
            }
            ControlFlow::Continue(())
        };
        let walk = Walk::new(self.limits(), self.root(), path, &mut visit);
        let incomplete = walk.run(&folder, path);
        Ok(Listed {
            entries,
            incomplete,
        })
    }
}

fn listing(path: ProjectPath, found: &Metadata) -> Listing {
    let kind = ListingKind::of(found.file_type());
    Listing {
        path,
        kind,
        modified: found
            .modified()
            .ok()
            .map(cap_std::time::SystemTime::into_std),
        bytes: match kind {
            ListingKind::File => found.len(),
            _ => 0,
        },
    }
}
