//! The reading connections: opened on demand, kept for the next reader.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;

use super::errors::ResultExt;
use super::statements::Tables;
use super::view::SqliteView;
use super::{backup, open};
use crate::Error;
use crate::backup::BackupFile;
use crate::engine::Views;
use crate::view::View;

/// Idle reading connections. At most `READERS` are open, because a read needs a permit of the store.
#[derive(Debug)]
pub(crate) struct Pool {
    path: Arc<Path>,
    tables: Arc<Tables>,
    /// None once the pool is closed.
    idle: Mutex<Option<Vec<Connection>>>,
}

impl Pool {
    pub(super) fn new(path: Arc<Path>, tables: Arc<Tables>) -> Self {
        let idle = Mutex::new(Some(Vec::new()));
        Self { path, tables, idle }
    }

    fn take(&self) -> Result<Connection, Error> {
        let idle = self.idle.lock().as_mut().ok_or(Error::Closed)?.pop();
        idle.map_or_else(|| open::reader(&self.path).store_error(&self.path), Ok)
    }

    fn give_back(&self, connection: Connection) {
        if let Some(idle) = self.idle.lock().as_mut() {
            idle.push(connection);
        }
    }
}

impl Views for Pool {
    fn show(&self, reader: &mut dyn FnMut(&dyn View)) -> Result<(), Error> {
        let connection = self.take()?;
        // The transaction makes it one snapshot. If the reader panics, the connection is dropped with it.
        begin_and_end(&connection, "BEGIN").store_error(&self.path)?;
        reader(&SqliteView::new(&connection, &self.path, &self.tables));
        begin_and_end(&connection, "COMMIT").store_error(&self.path)?;
        self.give_back(connection);
        Ok(())
    }

    fn back_up(&self, to: &Path, files: &[BackupFile]) -> Result<(), Error> {
        backup::copy(&self.path, to, files)
    }

    fn may_block(&self) -> bool {
        true
    }

    fn close(&self) {
        self.idle.lock().take();
    }
}

fn begin_and_end(connection: &Connection, word: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(word)?.execute([])?;
    Ok(())
}
