//! The engine that keeps everything in one SQLite file.
//!
//! One connection writes; a few others read, each a consistent moment, undisturbed by the writer
//! (write-ahead log). The events of one append are one row, see [`chunk`].

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use crate::Error;
use crate::lock::Lock;
use crate::store::Options;

mod chunk;
mod failure;
mod open;
mod pool;
mod schema;
mod statements;
mod view;
mod write;

pub(crate) use pool::Pool;
use statements::Tables;
use write::Known;

/// The writing end. It holds the folder's lock.
#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
    path: Arc<Path>,
    tables: Arc<Tables>,
    known: Known,
    commit_delay: Option<Duration>,
    /// Last, so that the files are closed when it goes.
    _lock: Lock,
}

impl Sqlite {
    /// Opens or creates the file in a folder that nobody else has open.
    pub(crate) fn open(options: &Options) -> Result<(Self, Pool), Error> {
        let folder = &options.folder;
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let lock = Lock::take(folder, &options.holder)?;
        let path: Arc<Path> = path(folder).into();
        let connection = open::writer(&path, options)?;
        let tables = Arc::new(Tables::new(&options.tables));
        let pool = Pool::new(Arc::clone(&path), Arc::clone(&tables));
        let writer = Self {
            connection,
            path,
            tables,
            known: Known::default(),
            commit_delay: options.commit_delay,
            _lock: lock,
        };
        Ok((writer, pool))
    }
}

/// The file in a folder.
fn path(folder: &Path) -> PathBuf {
    folder.join("monas.db")
}
