//! Stores: in memory for one server, or in a folder that outlives servers.

use std::path::Path;
use std::sync::Arc;

use a2a::server::TABLES;
use store::{Durability, Options, Store, Table};
use tempfile::TempDir;

/// A store in memory with the tables of the task server.
pub fn memory_store() -> Store {
    memory_store_with(&[])
}

/// The same, with more tables.
pub fn memory_store_with(more: &[&'static Table]) -> Store {
    Store::memory(&tables(more))
}

/// A temporary folder for a store. It is removed with the last clone.
#[derive(Clone, Debug)]
pub struct DataFolder(Arc<TempDir>);

impl DataFolder {
    /// An empty folder.
    #[expect(clippy::new_without_default, reason = "it makes a folder on disk")]
    pub fn new() -> Self {
        Self(Arc::new(tempfile::tempdir().unwrap()))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Opens the store of a task server in it. Only one store can be open at a time, as in one process.
    pub fn store(&self) -> Store {
        self.store_with(&[])
    }

    /// The same, with more tables.
    pub fn store_with(&self, more: &[&'static Table]) -> Store {
        let options = Options::new(self.path()).tables(&tables(more));
        Store::open(&options.durability(Durability::Normal)).unwrap()
    }
}

fn tables(more: &[&'static Table]) -> Vec<&'static Table> {
    TABLES.iter().chain(more).copied().collect()
}
