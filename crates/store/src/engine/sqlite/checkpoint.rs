//! Moving what the write-ahead log holds into the file: when nobody waits for it, and before the log is
//! too long.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, MAIN_DB};

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;

/// From so many pages on the log is moved: a page that changes often is written to the file once for all.
const DUE: i32 = 4_000;

/// From so many on, moving waits for readers. They are short, but if there is always one, the log would
/// never begin anew.
const OVERDUE: i32 = 4 * DUE;

/// How long the log is.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    pages: Arc<AtomicI32>,
}

impl Checkpoints {
    /// Watches a connection, in place of SQLite's own checkpoints, which would come before the
    /// acknowledgements.
    pub(super) fn of(connection: &mut Connection) -> rusqlite::Result<Self> {
        let watch = Self::default();
        let pages = Arc::clone(&watch.pages);
        connection.wal_hook(Some(move |_: &mut Wal, length: c_int| {
            pages.store(length, Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(watch)
    }

    /// Moves the log if it is due. It is no harm if that fails: the log is as good, and it is tried again.
    pub(super) fn run(&self, connection: &Connection) {
        let mode = match self.pages.load(Ordering::Relaxed) {
            ..DUE => return,
            DUE..OVERDUE => CheckpointMode::PASSIVE,
            OVERDUE.. => CheckpointMode::RESTART,
        };
        if let Err(error) = connection.wal_checkpoint_v2(Some(MAIN_DB), mode) {
            tracing::warn!(%error, "the write-ahead log could not be moved into the file");
        }
    }
}
