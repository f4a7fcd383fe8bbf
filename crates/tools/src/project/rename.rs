//! Moving and deleting: one entry of a folder, never what a symlink of that name leads to.

use std::io;
use std::path::Path;

use cap_std::fs::{Dir, Metadata};

use crate::error::{Error, Kind};
use crate::path::ProjectPath;
use crate::project::{ABSENT, Project, bytes, hash};

/// Where `seen` stands for a folder: what is in it does not count.
const FOLDER: &str = "folder";

/// An entry as it was found: the open folder, its name there, what it is.
struct Entry {
    folder: Dir,
    name: String,
    found: Metadata,
}

impl Project {
    /// What tells the present state of an entry from another: the hash of a file, or [`ABSENT`]. Of a file too large to
    /// be read it is size and time.
    pub fn stamp(&self, path: &ProjectPath) -> Result<String, Error> {
        match self.entry(path) {
            Ok(entry) => entry.stamp(path, self.limits().file_bytes),
            Err(Error::NotFound(_)) => Ok(ABSENT.to_owned()),
            Err(error) => Err(error),
        }
    }

    /// The size of a file; None for a folder, and for a symlink, which is not followed.
    pub(crate) fn file_size(&self, path: &ProjectPath) -> Result<Option<u64>, Error> {
        let found = self.entry(path)?.found;
        Ok(found.is_file().then(|| found.len()))
    }

    /// Deletes a file, a symlink or an empty folder, for good. With `seen`, the [`stamp`](Self::stamp) of an earlier look,
    /// something that has changed since is left and is an error, and something that is gone already is not.
    ///
    /// Returns false if it was gone already.
    pub fn delete(&self, path: &ProjectPath, seen: Option<&str>) -> Result<bool, Error> {
        let failed = |error| Error::io(path, error);
        let entry = match self.entry(path) {
            Err(Error::NotFound(_)) if seen.is_some_and(|it| it != ABSENT) => return Ok(false),
            entry => entry?,
        };
        entry.check(path, seen, self.limits().file_bytes)?;
        if !entry.found.is_dir() {
            entry.folder.remove_file(&entry.name).map_err(failed)?;
            return Ok(true);
        }
        match entry.folder.remove_dir(&entry.name) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                Err(Error::NotEmpty(path.clone()))
            }
            removed => removed.map_err(failed).map(|()| true),
        }
    }

    /// Where something that is moved to `to` comes to lie: inside of `to` if that is a folder, or written as one with a slash
    /// at its end.
    pub fn destination(&self, from: &ProjectPath, to: &str) -> Result<ProjectPath, Error> {
        let is_written_as_folder = to.ends_with('/');
        let to = &ProjectPath::parse(to)?;
        let is_folder = to.is_root()
            || is_written_as_folder
            || match self.root().metadata(to.as_path()) {
                Ok(found) => found.is_dir(),
                Err(error) if error.kind() == io::ErrorKind::NotFound => false,
                Err(error) => return Err(Error::io(to, error)),
            };
        match (is_folder, from.split()) {
            (true, Some((_, name))) => to.join(name).map_err(|_| Error::Outside(to.clone())),
            _ => Ok(to.clone()),
        }
    }

    /// Moves a file or a folder to a path where there is nothing yet; missing folders of that path are created. `seen` is
    /// as in [`delete`](Self::delete): what was moved already is not moved again, which returns false.
    pub fn rename(
        &self,
        from: &ProjectPath,
        to: &ProjectPath,
        seen: Option<&str>,
    ) -> Result<bool, Error> {
        let entry = match self.entry(from) {
            Err(Error::NotFound(_)) if seen.is_some_and(|it| self.is_stamped(to, it)) => {
                return Ok(false);
            }
            entry => entry?,
        };
        entry.check(from, seen, self.limits().file_bytes)?;
        let below = to.as_str().strip_prefix(from.as_str());
        if entry.found.is_dir() && below.is_some_and(|it| it.starts_with('/')) {
            return Err(Error::IntoItself(from.clone()));
        }
        let taken = || Error::Exists(to.clone());
        let (parent, name) = to.split().ok_or_else(taken)?;
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => taken(),
            _ => Error::io(to, error),
        };
        let folder = self.folder(&parent).map_err(failed)?;
        match folder.symlink_metadata(name) {
            Ok(_) => return Err(taken()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        entry.rename(&folder, name).map_err(failed)?;
        Ok(true)
    }

    fn is_stamped(&self, path: &ProjectPath, seen: &str) -> bool {
        seen != ABSENT && self.stamp(path).is_ok_and(|it| it == seen)
    }

    /// The entry of a path. Symlinks on the way to it are followed, the entry itself is not.
    fn entry(&self, path: &ProjectPath) -> Result<Entry, Error> {
        let failed = |error| Error::io(path, error);
        let (parent, name) = path.split().ok_or_else(|| Error::kind(path, Kind::Root))?;
        let folder = self.root().open_dir(parent.as_path()).map_err(failed)?;
        let found = folder.symlink_metadata(name).map_err(failed)?;
        let name = name.to_owned();
        Ok(Entry {
            folder,
            name,
            found,
        })
    }
}

impl Entry {
    fn stamp(&self, path: &ProjectPath, limit: u64) -> Result<String, Error> {
        let failed = |error| Error::io(path, error);
        match () {
            () if self.found.is_dir() => Ok(FOLDER.to_owned()),
            () if self.found.is_symlink() => {
                let target = self.folder.read_link_contents(&self.name).map_err(failed)?;
                Ok(hash(target.as_os_str().as_encoded_bytes()))
            }
            () if self.found.is_file() && self.found.len() <= limit => {
                let read = bytes(&self.folder, Path::new(&self.name), path, limit)?;
                Ok(hash(&read))
            }
            () => {
                let changed = self.found.modified().map_err(failed)?.into_std();
                let since = changed.duration_since(std::time::UNIX_EPOCH);
                let since = since.unwrap_or_default().as_nanos();
                Ok(format!("{} bytes at {since}", self.found.len()))
            }
        }
    }

    fn check(&self, path: &ProjectPath, seen: Option<&str>, limit: u64) -> Result<(), Error> {
        match seen {
            Some(seen) if self.stamp(path, limit)? != seen => Err(Error::Changed(path.clone())),
            _ => Ok(()),
        }
    }

    /// Moves it. On Linux the system refuses if the name was taken in the meantime.
    #[cfg(target_os = "linux")]
    fn rename(&self, folder: &Dir, name: &str) -> io::Result<()> {
        use rustix::fs::{RenameFlags, renameat_with};
        use rustix::io::Errno;
        let flags = RenameFlags::NOREPLACE;
        match renameat_with(&self.folder, self.name.as_str(), folder, name, flags) {
            // File systems that do not know the flag.
            Err(Errno::INVAL | Errno::NOSYS) => self.folder.rename(&self.name, folder, name),
            moved => Ok(moved?),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn rename(&self, folder: &Dir, name: &str) -> io::Result<()> {
        self.folder.rename(&self.name, folder, name)
    }
}
