//! The lock on a folder: it excludes other processes, and its file names the holder.

use std::fs::{self, File, TryLockError};
use std::io::{Seek, Write};
use std::path::Path;
use std::time::Duration;

use crate::Error;

/// How often a lock is tried, and the pause between. [`holder`] has it for a moment, which must not keep a store from
/// being opened.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(10);

/// The process that has a folder open, as its lock file names it; none if no process has.
pub fn holder(folder: &Path) -> Option<String> {
    let path = folder.join("lock");
    let file = File::open(&path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => fs::read_to_string(&path).ok(),
        _ => None,
    }
}

/// Holds a folder until it is dropped. The operating system releases the lock of a process that dies.
///
/// Two files are locked: `lock`, which names the holder, and the database itself, so that a folder whose `lock` was
/// deleted is not opened twice. SQLite's own locks are of another kind and do not see this one. It is dropped after
/// SQLite has closed its files: closing a second handle of a file ends the locks that SQLite has on it.
#[derive(Debug)]
pub(crate) struct Lock {
    _named: File,
    _database: Option<File>,
}

impl Lock {
    /// Takes the lock for `holder`, or fails with the name of the present holder. `database` is made if it does not
    /// exist; without one the folder has files beside data that are elsewhere.
    pub(crate) fn take(
        folder: &Path,
        database: Option<&Path>,
        holder: &str,
    ) -> Result<Self, Error> {
        let path = folder.join("lock");
        let open = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let mut file = open.map_err(Error::io("open", &path))?;
        match patiently(|| file.try_lock()) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let by = fs::read_to_string(&path).unwrap_or_default();
                return Err(Error::InUse {
                    folder: folder.to_owned(),
                    by: if by.is_empty() {
                        "a process that left no name".to_owned()
                    } else {
                        by
                    },
                });
            }
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
        }
        let named = format!("{holder} (process {})", std::process::id());
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(named.as_bytes())
        };
        let database = database.map(|database| Self::database(database, folder));
        let database = database.transpose()?.flatten();
        write(&mut file).map_err(Error::io("write", &path))?;
        Ok(Self {
            _named: file,
            _database: database,
        })
    }

    /// Locks the database file. Elsewhere than on Unix a lock would keep SQLite itself out.
    #[cfg(unix)]
    fn database(path: &Path, folder: &Path) -> Result<Option<File>, Error> {
        let mut options = File::options();
        let open = options.read(true).write(true).create(true).truncate(false);
        let file = open.open(path).map_err(Error::io("open", path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Err(Error::InUse {
                folder: folder.to_owned(),
                by: "a process that locks the database; the file `lock` was deleted".to_owned(),
            }),
            Err(TryLockError::Error(error)) => Err(Error::io("lock", path)(error)),
        }
    }

    #[cfg(not(unix))]
    fn database(_: &Path, _: &Path) -> Result<Option<File>, Error> {
        Ok(None)
    }
}

/// Tries a lock again while another process has it, for a moment.
fn patiently(lock: impl Fn() -> Result<(), TryLockError>) -> Result<(), TryLockError> {
    for _ in 1..TRIES {
        match lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
    lock()
}
