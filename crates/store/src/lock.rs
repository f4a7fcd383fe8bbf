//! The lock on a folder: it excludes other processes, and its file names the holder.

use std::fs::{self, File, TryLockError};
use std::io::{Seek, Write};
use std::path::Path;

use crate::Error;

/// Holds a folder until it is dropped. The operating system releases the lock of a process that dies.
#[derive(Debug)]
pub(crate) struct Lock(#[expect(dead_code, reason = "held, not used")] File);

impl Lock {
    /// Takes the lock for `holder`, or fails with the name of the present holder.
    pub(crate) fn take(folder: &Path, holder: &str) -> Result<Self, Error> {
        let path = folder.join("lock");
        let open = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path);
        let mut file = open.map_err(Error::io("open", &path))?;
        match file.try_lock() {
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
        write(&mut file).map_err(Error::io("write", &path))?;
        Ok(Self(file))
    }
}
