//! SQLite's errors mapped to [`Error`].

use std::path::Path;
use std::sync::Arc;

use rusqlite::ErrorCode;

use crate::Error;

/// The store's error for an error of SQLite on this file.
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

/// The error for a damaged or foreign file.
pub(super) fn damaged(path: &Path, problem: impl Into<String>) -> Error {
    Error::Corrupt {
        path: path.to_owned(),
        problem: problem.into(),
    }
}

/// Maps the error of a SQLite result to the store's error.
pub(super) trait ResultExt<T> {
    fn store_error(self, path: &Path) -> Result<T, Error>;
}

impl<T> ResultExt<T> for rusqlite::Result<T> {
    fn store_error(self, path: &Path) -> Result<T, Error> {
        self.map_err(|error| store_error(path, error))
    }
}
