//! The reading connections: opened on demand, kept for the next reader.

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use super::address::Address;
use super::link::Link;
use super::statements::Tables;
use super::view::{Reader, Snapshot};
use crate::Error;
use crate::backup::BackupFile;
use crate::engine::Views;
use crate::view::View;

/// Idle reading connections. As many are open as the store lets callers read at the same time.
#[derive(Debug)]
pub(crate) struct Pool {
    address: Arc<Address>,
    tables: Arc<Tables>,
    link: Arc<Link>,
    /// None once the pool is closed.
    idle: Mutex<Option<Vec<Reader>>>,
}

impl Pool {
    pub(super) fn new(address: Arc<Address>, tables: Arc<Tables>, link: Arc<Link>) -> Self {
        let idle = Mutex::new(Some(Vec::new()));
        Self {
            address,
            tables,
            link,
            idle,
        }
    }

    fn take(&self) -> Result<Reader, Error> {
        let idle = self.idle.lock().as_mut().ok_or(Error::Closed)?.pop();
        let new = || {
            Reader::new(
                Arc::clone(&self.address),
                Arc::clone(&self.tables),
                Arc::clone(&self.link),
            )
        };
        idle.map_or_else(new, Ok)
    }
}

impl Views for Pool {
    fn show(&self, reader: &mut dyn FnMut(&dyn View)) -> Result<(), Error> {
        // If the reader panics, the connection is dropped with it.
        let snapshot = Snapshot::new(self.take()?);
        reader(&snapshot);
        if let (Some(kept), Some(idle)) = (snapshot.end(), self.idle.lock().as_mut()) {
            idle.push(kept);
        }
        Ok(())
    }

    fn back_up(&self, to: &Path, _: &[BackupFile]) -> Result<(), Error> {
        let unkept = std::io::Error::other(
            "the data are in a PostgreSQL database: back it up with pg_dump or pg_basebackup, or copy it into a folder with \
             `monas export`",
        );
        Err(Error::io("write", to)(unkept))
    }

    fn may_block(&self) -> bool {
        true
    }

    fn close(&self) {
        self.idle.lock().take();
    }
}
