//! The engine that keeps everything in one SQLite file.
//!
//! One connection writes; a few others read, each a consistent moment, undisturbed by the writer
//! (write-ahead log). The events of one append are one row, see [`chunk`].

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use crate::Error;
use crate::lock::Lock;
use crate::store::Options;

mod checkpoint;
mod chunk;
mod errors;
mod open;
mod pool;
mod schema;
mod statements;
mod view;
mod write;

use checkpoint::Checkpoints;
use errors::ResultExt;
pub(crate) use pool::Pool;
use statements::Tables;
use write::StreamCache;

/// The writing end. It holds the folder's lock.
#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
    path: Arc<Path>,
    tables: Arc<Tables>,
    known: StreamCache,
    checkpoints: Checkpoints,
    commit_delay: Option<Duration>,
    /// Last, so that the files are closed when it goes.
    _lock: Lock,
}

impl Sqlite {
    /// Opens or creates the file in a folder that nobody else has open.
    pub(crate) fn open(options: &Options) -> Result<(Self, Pool), Error> {
        let folder = &options.folder;
        create(folder).map_err(Error::io("create", folder))?;
        let lock = Lock::take(folder, &options.holder)?;
        let path: Arc<Path> = path(folder).into();
        let mut connection = open::writer(&path, options)?;
        let checkpoints = Checkpoints::of(&mut connection).store_error(&path)?;
        let tables = Arc::new(Tables::new(&options.tables));
        let pool = Pool::new(Arc::clone(&path), Arc::clone(&tables));
        let writer = Self {
            connection,
            path,
            tables,
            known: StreamCache::default(),
            checkpoints,
            commit_delay: options.commit_delay,
            _lock: lock,
        };
        Ok((writer, pool))
    }
}

/// Makes a folder, and makes sure that it is there also after a power failure. What is in it is SQLite's
/// business.
fn create(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    private_dir_builder().create(folder)?;
    for above in folder.canonicalize()?.ancestors().skip(1) {
        // Not every folder above is ours to open, and those were there before.
        if let Ok(above) = File::open(above) {
            above.sync_all()?;
        }
    }
    Ok(())
}

/// Makes folders that nobody else on the machine looks into: what agents know is theirs.
fn private_dir_builder() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// The file in a folder.
fn path(folder: &Path) -> PathBuf {
    folder.join("monas.db")
}
