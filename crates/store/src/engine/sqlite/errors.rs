//! SQLite's errors as ours.

use std::path::Path;
use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::Error;

/// What a failure of SQLite on this file means.
pub(super) fn store_error(path: &Path, error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Error::Full,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            damaged(path, error.to_string())
        }
        _ => Error::Engine {
            source: Arc::new(error),
        },
    }
}

/// The file is not as we have left it.
pub(super) fn damaged(path: &Path, problem: impl Into<String>) -> Error {
    Error::Corrupt {
        path: path.to_owned(),
        problem: problem.into(),
    }
}

/// For results of SQLite.
pub(super) trait ResultExt<T> {
    /// Ours for its error.
    fn store_error(self, path: &Path) -> Result<T, Error>;
}

impl<T> ResultExt<T> for rusqlite::Result<T> {
    fn store_error(self, path: &Path) -> Result<T, Error> {
        self.map_err(|error| store_error(path, error))
    }
}
