//! The connections that read: opened when they are needed, kept for the next reader.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::errors::ResultExt;
use super::open;
use super::statements::Tables;
use super::view::SqliteView;
use crate::Error;
use crate::engine::Views;
use crate::view::View;

/// Idle connections. At most as many are open as there are readers at once.
#[derive(Debug)]
pub(crate) struct Pool {
    path: Arc<Path>,
    tables: Arc<Tables>,
    /// Nothing once it is closed.
    idle: Mutex<Option<Vec<Connection>>>,
}

impl Pool {
    pub(super) fn new(path: Arc<Path>, tables: Arc<Tables>) -> Self {
        let idle = Mutex::new(Some(Vec::new()));
        Self { path, tables, idle }
    }

    fn take(&self) -> Result<Connection, Error> {
        let idle = self.idle().as_mut().ok_or(Error::Closed)?.pop();
        idle.map_or_else(|| open::reader(&self.path).store_error(&self.path), Ok)
    }

    fn give_back(&self, connection: Connection) {
        if let Some(idle) = self.idle().as_mut() {
            idle.push(connection);
        }
    }

    fn idle(&self) -> MutexGuard<'_, Option<Vec<Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Views for Pool {
    fn show(&self, reader: &mut dyn FnMut(&dyn View)) -> Result<(), Error> {
        let connection = self.take()?;
        // The transaction is what makes it one moment. A reader that panics takes the connection along.
        begin_and_end(&connection, "BEGIN").store_error(&self.path)?;
        reader(&SqliteView::new(&connection, &self.path, &self.tables));
        begin_and_end(&connection, "COMMIT").store_error(&self.path)?;
        self.give_back(connection);
        Ok(())
    }

    fn may_block(&self) -> bool {
        true
    }

    fn close(&self) {
        self.idle().take();
    }
}

fn begin_and_end(connection: &Connection, word: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(word)?.execute([])?;
    Ok(())
}
