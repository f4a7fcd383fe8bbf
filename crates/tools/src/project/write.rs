//! Writing a file atomically: a temporary file in the same folder, then a rename.

use std::io::{self, Write as _};
use std::path::Path;

use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use crate::error::{Error, Kind};
use crate::path::ProjectPath;
use crate::project::{Project, bytes, hash};

/// Prefix of the names of temporary files. Searches skip them.
pub(crate) const TEMPORARY: &str = ".monas-";

/// Where `seen` stands for a file that does not exist.
pub const ABSENT: &str = "absent";

/// The result of [`Project::write`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The file did not exist before.
    pub created: bool,
    /// The content differs from the one before.
    pub changed: bool,
    pub bytes: usize,
    /// SHA-256 of the written content.
    pub hash: String,
}

/// An open folder, a name in it, and the file of that name if there is one.
struct TargetFile {
    folder: Dir,
    name: String,
    file: Option<Metadata>,
}

impl Project {
    /// Replaces the content of a file; missing files and folders are created. A concurrent reader gets all of the old
    /// content or all of the new. Permissions are kept; a file that is marked read-only is an error. If the path is a
    /// symlink, its target is written. If the file has several hard links, only the one of this name changes.
    ///
    /// With `seen`, the hash that an earlier read returned or [`ABSENT`], the write fails with [`Error::Changed`] if the
    /// file has another content by now. That is checked last, when the new content is on disk and only its name is
    /// missing.
    pub fn write(
        &self,
        path: &ProjectPath,
        content: &str,
        seen: Option<&str>,
    ) -> Result<Written, Error> {
        self.check_size(path, content)?;
        let place = self.place(path)?;
        let written = |created, changed| Written {
            created,
            changed,
            bytes: content.len(),
            hash: hash(content.as_bytes()),
        };
        let unchanged = || place.is_as_seen(path, seen, self.limits().file_bytes);
        if let Some(file) = &place.file {
            if seen.is_some() || file.len() == content.len() as u64 {
                let now = place.bytes(path, self.limits().file_bytes)?;
                // The same content: perhaps this write was done before a restart. Repeating it succeeds.
                if now == content.as_bytes() {
                    return Ok(written(false, false));
                }
            }
            unchanged()?;
            if file.permissions().readonly() {
                return Err(Error::Denied(path.clone()));
            }
        }
        unchanged()?;
        place.put(path, content.as_bytes(), unchanged)?;
        Ok(written(place.file.is_none(), true))
    }

    /// Makes a file of any content, which is as large as the caller allows. A file that is there already is
    /// [`Error::Exists`].
    pub fn create(&self, path: &ProjectPath, content: &[u8]) -> Result<(), Error> {
        let place = self.place(path)?;
        let free = || match place.folder.symlink_metadata(&place.name) {
            Ok(_) => Err(Error::Exists(path.clone())),
            Err(_) => Ok(()),
        };
        free()?;
        place.put(path, content, free)
    }

    /// The place that a path stands for, after all symlinks, and the hash of the file there or [`ABSENT`]. Nothing is
    /// created.
    pub fn state(&self, path: &ProjectPath) -> Result<(ProjectPath, String), Error> {
        let real = self.real(path)?;
        let seen = match self.bytes(&real) {
            Ok(now) => hash(&now),
            Err(Error::NotFound(_)) => ABSENT.to_owned(),
            Err(error) => return Err(error),
        };
        Ok((real, seen))
    }

    /// Whether the file has this content already.
    pub(crate) fn has(&self, path: &ProjectPath, content: &str) -> Result<bool, Error> {
        let (_, now) = self.state(path)?;
        Ok(now == hash(content.as_bytes()))
    }

    /// Fails if the file is neither the one that was seen nor already what is to be written.
    pub(crate) fn check_seen(
        &self,
        path: &ProjectPath,
        content: &str,
        seen: &str,
    ) -> Result<(), Error> {
        let (_, now) = self.state(path)?;
        match now == seen || now == hash(content.as_bytes()) {
            true => Ok(()),
            false => Err(Error::Changed(path.clone())),
        }
    }

    /// A path after all symlinks. Of a path that does not exist it is the part that does.
    fn real(&self, path: &ProjectPath) -> Result<ProjectPath, Error> {
        let failed = |error| Error::io(path, error);
        match self.root().canonicalize(path.as_path()) {
            Ok(real) => {
                let real = real.to_str().filter(|it| !it.is_empty()).unwrap_or(".");
                ProjectPath::parse(real)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (parent, name) = path.split().ok_or_else(|| failed(error))?;
                // A symlink to nothing would be written through: no path stands for its target yet.
                if self.root().symlink_metadata(path.as_path()).is_ok() {
                    return Err(Error::kind(path, Kind::NoFolder));
                }
                let parent = self.real(&parent)?;
                parent.join(name).map_err(|_| Error::Outside(path.clone()))
            }
            Err(error) => Err(failed(error)),
        }
    }

    pub(super) fn check_size(&self, path: &ProjectPath, content: &str) -> Result<(), Error> {
        let limit = self.limits().write_bytes;
        match content.len() > limit {
            true => Err(Error::TooLarge {
                path: path.clone(),
                bytes: content.len() as u64,
                limit: limit as u64,
            }),
            false => Ok(()),
        }
    }

    /// Resolves a path and creates the folders it needs. From here on the open folder is used and not its path, so that
    /// the file is written there even if the path changes meanwhile.
    fn place(&self, path: &ProjectPath) -> Result<TargetFile, Error> {
        let failed = |error| Error::io(path, error);
        let mut to = path.clone();
        // The second round follows a symlink to its canonical target. If that is a symlink again, it was created in
        // the meantime: give up.
        for _ in 0..2 {
            let (parent, name) = to.split().ok_or_else(|| Error::kind(path, Kind::Folder))?;
            let folder = self.folder(&parent).map_err(failed)?;
            let file = match folder.symlink_metadata(name) {
                Ok(found) if found.is_symlink() => {
                    let real = self.root().canonicalize(to.as_path()).map_err(failed)?;
                    let real = real.to_str().map(ProjectPath::parse);
                    to = real.ok_or_else(|| Error::Outside(path.clone()))??;
                    continue;
                }
                Ok(found) if found.is_file() => Some(found),
                Ok(found) => return Err(Error::kind(path, Kind::of(found.file_type()))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(failed(error)),
            };
            return Ok(TargetFile {
                folder,
                name: name.to_owned(),
                file,
            });
        }
        Err(Error::Changed(path.clone()))
    }

    /// Opens a folder; creates it and its parents if they are missing.
    pub(super) fn folder(&self, path: &ProjectPath) -> io::Result<Dir> {
        match self.root().open_dir(path.as_path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.root().create_dir_all(path.as_path())?;
                self.root().open_dir(path.as_path())
            }
            opened => opened,
        }
    }
}

impl TargetFile {
    fn bytes(&self, path: &ProjectPath, limit: u64) -> Result<Vec<u8>, Error> {
        bytes(&self.folder, Path::new(&self.name), path, limit)
    }

    /// Fails if the file is not the one that was seen.
    fn is_as_seen(&self, path: &ProjectPath, seen: Option<&str>, limit: u64) -> Result<(), Error> {
        let Some(seen) = seen else {
            return Ok(());
        };
        let now = match self.bytes(path, limit) {
            Ok(now) => hash(&now),
            Err(Error::NotFound(_)) => ABSENT.to_owned(),
            Err(error) => return Err(error),
        };
        match now == seen {
            true => Ok(()),
            false => Err(Error::Changed(path.clone())),
        }
    }

    /// Writes a temporary file and renames it over the old one, if that may still be done then.
    fn put(
        &self,
        path: &ProjectPath,
        content: &[u8],
        may: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let failed = |error| Error::io(path, error);
        let temporary = format!("{TEMPORARY}{}", uuid::Uuid::new_v4().simple());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let file = self.folder.open_with(&temporary, &options);
        let mut file = file.map_err(failed)?;
        let rename = || self.folder.rename(&temporary, &self.folder, &self.name);
        let filled = self.fill(&mut file, content).map_err(failed);
        let outcome = filled
            .and_then(|()| may())
            .and_then(|()| rename().map_err(failed));
        if outcome.is_err() {
            // A temporary file that cannot be removed is skipped by searches, because of its prefix.
            let _ = self.folder.remove_file(&temporary);
        }
        outcome
    }

    fn fill(&self, file: &mut File, content: &[u8]) -> io::Result<()> {
        // Before the content is written: it may be private.
        if let Some(old) = &self.file {
            file.set_permissions(ordinary(old))?;
        }
        file.write_all(content)?;
        // Without the sync a power failure after the rename could leave an empty file.
        file.sync_all()
    }
}

/// The permission bits of the old file without setuid, setgid and sticky, which must not pass to a new content.
fn ordinary(old: &Metadata) -> cap_std::fs::Permissions {
    #[cfg(unix)]
    {
        use cap_std::fs::PermissionsExt as _;
        cap_std::fs::Permissions::from_mode(old.permissions().mode() & 0o777)
    }
    #[cfg(not(unix))]
    old.permissions()
}
