//! A database on a server as the place of a store.

use std::fmt;
use std::path::PathBuf;

use crate::Durability;
use crate::engine::postgres::without_password;
use crate::table::Table;

/// Where the database is, and how it is used.
#[derive(Clone)]
pub struct Remote {
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, as libpq reads it: several hosts, `sslmode`, `sslrootcert`,
    /// `target_session_attrs`, `options`.
    pub url: String,
    /// All tables that batches and queries may name.
    pub tables: Vec<&'static Table>,
    pub durability: Durability,
    /// The name of this node, which another node that finds the database in use reports.
    pub holder: String,
    /// A folder with files of this node, made if it is not there. It is locked as a folder with data is, so that its lock
    /// names the node.
    pub folder: Option<PathBuf>,
    /// The most reads at the same time, each on a connection of its own.
    pub readers: usize,
}

impl Remote {
    /// A database, no tables yet, full durability, 16 readers.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            tables: Vec::new(),
            durability: Durability::default(),
            holder: "another node".to_owned(),
            folder: None,
            readers: 16,
        }
    }

    #[must_use]
    pub fn tables(mut self, tables: &[&'static Table]) -> Self {
        self.tables = tables.to_vec();
        self
    }

    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The URL without its password, for messages and logs.
    pub fn shown(&self) -> String {
        without_password(&self.url)
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("url", &self.shown())
            .field("durability", &self.durability)
            .finish_non_exhaustive()
    }
}
