//! Backups: one file with all streams and tables, and files that belong to them.

use std::path::Path;

use crate::Error;
use crate::engine::sqlite::backup;

/// A file that is kept in a backup beside the data, such as a key.
#[derive(Clone, PartialEq, Eq)]
pub struct BackupFile {
    /// Its name in the folder of the data.
    pub name: String,
    pub content: Vec<u8>,
}

impl std::fmt::Debug for BackupFile {
    /// Without the content, which may be a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackupFile")
            .field("name", &self.name)
            .field("bytes", &self.content.len())
            .finish()
    }
}

/// Checks all of a backup; a damaged, foreign or newer file is refused. This reads the whole file.
pub fn check_backup(file: &Path) -> Result<(), Error> {
    backup::read(file).map(|_| ())
}

/// Restores a backup into a folder without data, which is made if it is not there; gives the files that the backup has
/// beside the data. Refuses a folder with data with [`Error::Io`], and one that a process has open with [`Error::InUse`].
/// This waits for the disk.
pub fn restore(file: &Path, folder: &Path) -> Result<Vec<BackupFile>, Error> {
    backup::restore(file, folder)
}
