//! Errors of the store: refused batches, and failures of the storage.

use std::path::PathBuf;
use std::sync::Arc;

use crate::StreamId;

/// The reason why a commit, a read or an opening failed. In every case nothing was written by half.
///
/// Cloning is cheap: when a transaction fails, every batch of the group gets the same error.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The compare-and-set failed: another batch appended to the stream first.
    #[error("append to {stream} after event {expected}: its last event is {found}")]
    Conflict {
        stream: StreamId,
        /// The last event according to the batch.
        expected: u64,
        /// The last event of the stream; 0 when there is none.
        found: u64,
    },
    /// The stream is finished and takes no more events.
    #[error("append to {stream}: it is finished")]
    Finished { stream: StreamId },
    /// The key of an inserted row is taken.
    #[error("insert {key:?} into {table}: the key exists already")]
    Exists { table: &'static str, key: String },
    /// The cursor is older than what is kept of the stream.
    #[error("read {stream}: the events before {first} have been dropped")]
    Compacted {
        stream: StreamId,
        /// The oldest event that is still kept.
        first: u64,
    },
    /// No space is left on the disk, or within `Options::max_bytes`. Reading goes on, and writing does too once
    /// streams have been truncated or forgotten.
    #[error("write: no space left on the disk or within the size limit")]
    Full,
    /// The file is damaged or belongs to another program. It was not changed.
    #[error("use {path}: {problem}")]
    Corrupt {
        path: PathBuf,
        /// The fault that was found.
        problem: String,
    },
    /// Another process has this folder open.
    #[error("open {folder}: in use by {by}; stop that process, or use another folder")]
    InUse {
        folder: PathBuf,
        /// The holder's name and process id, from the lock file.
        by: String,
    },
    /// The file was written by a newer version of this program. It was not changed.
    #[error(
        "open {path}: its format is {found}, and this version reads up to {known}; use a newer version"
    )]
    Newer {
        path: PathBuf,
        /// The version of its format.
        found: u32,
        /// The newest version that this program reads.
        known: u32,
    },
    /// The schema of the database is of an older version of this program.
    #[error(
        "open {address}: its schema is step {found}, and this version needs {known}; run `monas migrate` once"
    )]
    Older {
        address: String,
        /// The steps that it has taken.
        found: u32,
        /// The steps that there are.
        known: u32,
    },
    /// The address of a database has a fault.
    #[error("use the database {address}: {problem}")]
    Address {
        /// Without the password.
        address: String,
        /// The fault that was found.
        problem: String,
    },
    /// The database cannot be reached. A commit that ends with this may have been kept: the journal says whether it was.
    #[error("reach the database {address}: {problem}")]
    Away {
        /// Without the password.
        address: String,
        problem: String,
    },
    /// Another node has taken the place of this one, which may write nothing from now on. Whether the last commit was kept
    /// is for the journal to say.
    #[error("write: another node has taken the place of this one; restart it")]
    Fenced,
    /// A name, a key or a text of a row has the character NUL, which not every engine can keep.
    #[error("write {name:?}: it contains the character NUL")]
    Nul {
        /// The text, or its beginning.
        name: String,
    },
    /// The store that everything is to be copied into holds data.
    #[error("copy into {name}: it holds data; name an empty folder or database")]
    Occupied {
        /// A stream or a table that is there.
        name: String,
    },
    /// The store is closed.
    #[error("use the store: closed")]
    Closed,
    /// A table was used in a way that contradicts its declaration: a fault in the calling code.
    #[error("use table {table}: {problem}")]
    Declaration {
        table: &'static str,
        /// The contradiction.
        problem: String,
    },
    /// The operating system refused something.
    #[error("{what} {path}: {source}")]
    Io {
        /// The attempted operation, as a verb.
        what: &'static str,
        path: PathBuf,
        source: Arc<std::io::Error>,
    },
    /// The database engine failed in a way that has no variant of its own.
    #[error("use the database: {source}")]
    Engine {
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// For `map_err`: an I/O error with the attempted operation and its path.
    pub(crate) fn io(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            what,
            path,
            source: Arc::new(source),
        }
    }

    /// A use of a table that contradicts its declaration.
    pub(crate) fn declaration(table: &'static str, problem: impl Into<String>) -> Self {
        Self::Declaration {
            table,
            problem: problem.into(),
        }
    }
}
