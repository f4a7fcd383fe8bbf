//! Checkpoints: moving the write-ahead log into the file after callers are answered, before it grows too long.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, MAIN_DB};

#[cfg(test)]
#[path = "checkpoint_tests.rs"]
mod tests;

/// The pages in the log from which it is moved. Not earlier, so that a page that changes often is written to
/// the file once.
const DUE: i32 = 4_000;

/// The pages from which the checkpoint waits for readers. Reads are short, but with one always running the
/// log would never restart from its beginning.
const OVERDUE: i32 = 4 * DUE;

/// The length of the write-ahead log, as SQLite last reported it.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    pages: Arc<AtomicI32>,
}

impl Checkpoints {
    /// Watches a connection. SQLite's own checkpoints are off, since they would run before the answers are sent.
    pub(super) fn of(connection: &mut Connection) -> rusqlite::Result<Self> {
        let watch = Self::default();
        let pages = Arc::clone(&watch.pages);
        connection.wal_hook(Some(move |_: &mut Wal, length: c_int| {
            pages.store(length, Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(watch)
    }

    /// Moves the log if it is long enough. A failure does no harm: the data stays in the log, and the next group
    /// tries again.
    pub(super) fn run(&self, connection: &Connection) {
        let mode = match self.pages.load(Ordering::Relaxed) {
            ..DUE => return,
            DUE..OVERDUE => CheckpointMode::PASSIVE,
            OVERDUE.. => CheckpointMode::RESTART,
        };
        if let Err(error) = connection.wal_checkpoint_v2(Some(MAIN_DB), mode) {
            tracing::warn!(%error, "checkpoint of the write-ahead log failed; it is tried again after the next commit");
        }
    }
}
