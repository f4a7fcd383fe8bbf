//! What a store refuses, and what can go wrong beneath it.

use std::path::PathBuf;
use std::sync::Arc;

use crate::StreamId;

/// Why a change, a reading or an opening did not happen. Whatever the variant, nothing was half written.
///
/// Cloning is cheap: when a transaction fails, everyone who had a part in it gets the same error.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The compare-and-set failed: someone else appended first.
    #[error("append to {stream} after event {expected}: its last event is {found}")]
    Conflict {
        /// The stream.
        stream: StreamId,
        /// The event the writer thought was the last one.
        expected: u64,
        /// The one that is; 0 when there is none.
        found: u64,
    },
    /// The stream is finished and takes no more events.
    #[error("append to {stream}: it is finished")]
    Finished {
        /// The stream.
        stream: StreamId,
    },
    /// A row was to be inserted where there is one.
    #[error("insert {key:?} into {table}: there is one already")]
    Exists {
        /// The table's name.
        table: &'static str,
        /// The row's key.
        key: String,
    },
    /// The cursor is older than what is kept of the stream.
    #[error("read {stream}: what was before event {first} has been dropped")]
    Compacted {
        /// The stream.
        stream: StreamId,
        /// The oldest event that is still kept.
        first: u64,
    },
    /// No space is left on the disk, or within the limit that was set. Reading goes on, and so does
    /// writing once streams have been truncated or forgotten.
    #[error("write: no space is left for the data")]
    Full,
    /// The file is damaged or not one of ours. It was left as it is.
    #[error("use {path}: {problem}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// Someone else has this folder open.
    #[error("open {folder}: in use by {by}")]
    InUse {
        /// The folder.
        folder: PathBuf,
        /// Who holds it, in their own words.
        by: String,
    },
    /// The file was written by a newer version of this program. It was left as it is.
    #[error("open {path}: its format is {found}, and {known} is the newest known here")]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its format.
        found: u32,
        /// The newest one that is understood.
        known: u32,
    },
    /// The store is closed.
    #[error("use the store: it is closed")]
    Closed,
    /// A table was used otherwise than it was declared: a fault in the calling code.
    #[error("use table {table}: {problem}")]
    Declaration {
        /// The table's name.
        table: &'static str,
        /// What does not fit.
        problem: String,
    },
    /// The operating system refused something.
    #[error("{what} {path}: {source}")]
    Io {
        /// What was tried: a verb.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// The answer.
        source: Arc<std::io::Error>,
    },
    /// The database engine failed in a way that has no variant of its own.
    #[error("use the database: {source}")]
    Engine {
        /// What it said.
        source: Arc<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// For `map_err`: what was tried, and on what.
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

    /// A fault in the code that uses a table.
    pub(crate) fn declaration(table: &'static str, problem: impl Into<String>) -> Self {
        Self::Declaration {
            table,
            problem: problem.into(),
        }
    }
}
