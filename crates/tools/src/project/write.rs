//! Writing a file, whole or not at all.

use std::io::{self, Write as _};
use std::path::Path;

use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use crate::error::{Error, Kind};
use crate::path::ProjectPath;
use crate::project::{Project, bytes, hash};

/// What the names of files begin with that are being written.
pub(super) const TEMPORARY: &str = ".monas-";

/// What came of writing a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// It was not there before.
    pub created: bool,
    /// It is not what it was before.
    pub changed: bool,
    /// How many bytes it has.
    pub bytes: usize,
    /// What tells this content of the file from any other.
    pub hash: String,
}

/// A name in a folder, and the file that has it.
struct Place {
    folder: Dir,
    name: String,
    file: Option<Metadata>,
}

impl Project {
    /// Gives a file this content, and makes it and its folders if they are not there. Whoever reads meanwhile reads
    /// all of the old content or all of the new. Permissions stay as they are; a file that is marked read-only is
    /// left alone. Through a symlink the file is written that it leads to; of several hard links to a file the one
    /// of this name gets the new content.
    ///
    /// With `seen`, the hash of the content that the caller has seen, a file that has another one is left alone.
    pub fn write(
        &self,
        path: &ProjectPath,
        content: &str,
        seen: Option<&str>,
    ) -> Result<Written, Error> {
        self.check_size(path, content)?;
        let failed = |error| Error::io(path, error);
        let place = self.place(path)?;
        let written = |created, changed| Written {
            created,
            changed,
            bytes: content.len(),
            hash: hash(content.as_bytes()),
        };
        match &place.file {
            Some(file) => {
                if seen.is_some() || file.len() == content.len() as u64 {
                    let limit = self.limits().file_bytes;
                    let now = bytes(&place.folder, Path::new(&place.name), path, limit)?;
                    // What is so already has been done, perhaps by ourselves before a restart.
                    if now == content.as_bytes() {
                        return Ok(written(false, false));
                    }
                    if seen.is_some_and(|seen| seen != hash(&now)) {
                        return Err(Error::Changed(path.clone()));
                    }
                }
                if file.permissions().readonly() {
                    return Err(Error::Denied(path.clone()));
                }
            }
            None if seen.is_some() => return Err(Error::Changed(path.clone())),
            None => {}
        }
        place.put(content.as_bytes()).map_err(failed)?;
        Ok(written(place.file.is_none(), true))
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

    /// Where a path leads, with the folders it needs. From here on the folder is held, not its path: whatever
    /// becomes of the path, the file is written into this folder.
    fn place(&self, path: &ProjectPath) -> Result<Place, Error> {
        let failed = |error| Error::io(path, error);
        let mut to = path.clone();
        // The second time it leads where the symlink did. If that is one again, somebody is playing with us.
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
            return Ok(Place {
                folder,
                name: name.to_owned(),
                file,
            });
        }
        Err(Error::Changed(path.clone()))
    }

    /// A folder, made with those it lies in if it is not there.
    fn folder(&self, path: &ProjectPath) -> io::Result<Dir> {
        match self.root().open_dir(path.as_path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.root().create_dir_all(path.as_path())?;
                self.root().open_dir(path.as_path())
            }
            opened => opened,
        }
    }
}

impl Place {
    /// Puts a new file in the place of the old, under another name until it is whole.
    fn put(&self, content: &[u8]) -> io::Result<()> {
        let temporary = format!("{TEMPORARY}{}", uuid::Uuid::new_v4().simple());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut file = self.folder.open_with(&temporary, &options)?;
        let outcome = self.fill(&mut file, content);
        let outcome =
            outcome.and_then(|()| self.folder.rename(&temporary, &self.folder, &self.name));
        if outcome.is_err() {
            // What cannot be removed is passed over by searches, and has a name that says what it is.
            let _ = self.folder.remove_file(&temporary);
        }
        outcome
    }

    fn fill(&self, file: &mut File, content: &[u8]) -> io::Result<()> {
        // Before the content, which not everybody may be meant to read.
        if let Some(old) = &self.file {
            file.set_permissions(ordinary(old))?;
        }
        file.write_all(content)?;
        // A power cut would otherwise leave a name that leads to a file without its content.
        file.sync_all()
    }
}

/// Who may read and write a file. That it runs as its owner does not outlive its content.
fn ordinary(old: &Metadata) -> cap_std::fs::Permissions {
    #[cfg(unix)]
    {
        use cap_std::fs::PermissionsExt as _;
        cap_std::fs::Permissions::from_mode(old.permissions().mode() & 0o777)
    }
    #[cfg(not(unix))]
    old.permissions()
}
