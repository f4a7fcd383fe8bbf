//! What the engine with a file promises beyond the contract.

use std::path::Path;

use rusqlite::Connection;

mod crash;
mod damage;
mod durability;
mod full;
mod grouping;
mod holding;
mod versions;

/// The file, seen by someone else.
fn outsider(folder: &Path) -> Connection {
    Connection::open(folder.join("monas.db")).unwrap()
}
