//! Promises of the SQLite engine beyond the contract of all engines.

use std::path::Path;

use rusqlite::Connection;

mod backup;
mod crash;
mod damage;
mod durability;
mod full;
mod grouping;
mod holding;
mod versions;

/// A second connection to the file, outside the store.
fn outsider(folder: &Path) -> Connection {
    Connection::open(folder.join("monas.db")).unwrap()
}
