//! The engine that keeps everything in one SQLite file, in write-ahead-log mode.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use crate::Error;
use crate::lock::Lock;
use crate::store::Options;

pub(crate) mod backup;
mod checkpoint;
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

/// The writing half: the one connection that writes, and the folder's lock.
///
/// A group of batches is one transaction ([`write`]). `BEGIN IMMEDIATE` takes the write lock first, each batch
/// is checked against the rules and then written, and `COMMIT` makes the group durable with one `fsync`. A
/// failure rolls all of it back and clears the [`StreamCache`], which mirrors uncommitted changes while a
/// transaction runs; the cache is right only because there is one writer and a lock on the folder.
///
/// The events of one append are one row of the table `chunk`: (stream, last, first, events). SQLite pays for a
/// row, with its key and its place in the tree, far more than for the bytes of a small event, and events
/// appended together are read together. The key ends with `last`, so the chunks after a cursor are one range.
/// Truncating into the middle of a chunk rewrites that one row.
///
/// Readers ([`Pool`]) have up to `READERS` connections of their own, each in a read transaction, so a read sees
/// one snapshot and neither waits for the writer nor holds it up. They are opened on demand and kept.
///
/// SQLite's automatic checkpoint is off. It would run inside `COMMIT`, before the callers have their answers;
/// [`checkpoint`] moves the log after the answers are sent.
///
/// A file is inspected before it is changed ([`open`]): a damaged file, another program's file and a newer
/// format are refused unmodified. Fields are dropped in order, the lock last: the folder is free only after the
/// connection has closed its files.
#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
    path: Arc<Path>,
    tables: Arc<Tables>,
    known: StreamCache,
    checkpoints: Checkpoints,
    commit_delay: Option<Duration>,
    /// Declared last, so that it is dropped after the connection has closed the files.
    _lock: Lock,
}

impl Sqlite {
    /// Takes the folder's lock, then opens or creates the file.
    pub(crate) fn open(options: &Options) -> Result<(Self, Pool), Error> {
        let folder = &options.folder;
        create(folder).map_err(Error::io("create", folder))?;
        let path: Arc<Path> = path(folder).into();
        let lock = Lock::take(folder, Some(&path), &options.holder)?;
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

/// Creates a folder and syncs the folders that have a new entry by it, so that it is still there after a power failure.
/// SQLite does the same for the files inside.
pub(crate) fn create(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let missing = folder.ancestors().take_while(is_missing).count();
    private_dir_builder().create(folder)?;
    for above in folder.canonicalize()?.ancestors().skip(1).take(missing) {
        // One that we may write to and not read cannot be synced.
        if let Ok(above) = File::open(above) {
            above.sync_all()?;
        }
    }
    Ok(())
}

/// Creates folders with mode 0700: the data of agents is private to the user of this process.
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
