//! Opening the file: it is inspected first and changed only if it is usable.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::errors::{ResultExt, damaged};
use super::schema;
use crate::Error;
use crate::store::{Durability, Options};

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;

/// SQLite's application id of our files: "Mona".
const APPLICATION: u32 = 0x4d6f_6e61;

/// The largest file that is checked completely before use, which takes a fraction of a second. In a larger
/// file damage is found when the damaged page is read.
const CHECKED_BYTES: u64 = 32 << 20;

/// Opens the writing connection. A damaged, foreign or newer file is refused and not changed.
pub(super) fn writer(path: &Path, options: &Options) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).store_error(path)?;
    // Without this, closing would checkpoint the log into a file that we may be about to refuse.
    let keep_log = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    connection.set_db_config(keep_log, true).store_error(path)?;
    let length = check_file(&connection, path)?;
    if length == 0 {
        // An empty file has nothing that a journal could bring back, and its first page is written in one sector; so it
        // becomes a file with a write-ahead log without a journal, which would have to be synced three times.
        set(&connection, "journal_mode", &"memory").store_error(path)?;
    }
    configure(&connection, options).store_error(path)?;
    schema::prepare(&mut connection, path, APPLICATION, &options.tables)?;
    connection
        .set_db_config(keep_log, false)
        .store_error(path)?;
    Ok(connection)
}

/// Opens a reading connection.
pub(super) fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "cache_size", -1024)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// The wait for an exclusive lock of SQLite, for instance while it recovers the file after a crash.
const BUSY: Duration = Duration::from_secs(10);

/// Fails unless the file is empty, or ours, readable and undamaged. Returns its length.
fn check_file(connection: &Connection, path: &Path) -> Result<u64, Error> {
    let number = |name: &str| -> rusqlite::Result<u32> {
        connection.pragma_query_value(None, name, |row| row.get(0))
    };
    let application = number("application_id").store_error(path)?;
    let version = number("user_version").store_error(path)?;
    let objects: u32 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .store_error(path)?;
    if application != APPLICATION && (application, version, objects) != (0, 0, 0) {
        return Err(damaged(path, "the file belongs to another program"));
    }
    if application == APPLICATION && version == 0 && objects > 0 {
        let problem = "its format has no version (user_version is 0), so it was changed by hand or is damaged; \
                       restore it from a backup";
        return Err(damaged(path, problem));
    }
    if version > schema::VERSION {
        return Err(Error::Newer {
            path: path.to_owned(),
            found: version,
            known: schema::VERSION,
        });
    }
    let length = std::fs::metadata(path)
        .map_err(Error::io("look at", path))?
        .len();
    if length <= CHECKED_BYTES {
        check_pages(connection, path, "PRAGMA quick_check(1)")?;
    }
    Ok(length)
}

/// Fails unless the file has data, is ours, readable and undamaged to its last page.
pub(super) fn check_whole(connection: &Connection, path: &Path) -> Result<(), Error> {
    if check_file(connection, path)? == 0 {
        return Err(damaged(path, "the file is empty"));
    }
    check_pages(connection, path, "PRAGMA integrity_check(1)")
}

fn check_pages(connection: &Connection, path: &Path, pragma: &str) -> Result<(), Error> {
    let first = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    let found = connection.query_row(pragma, [], first).store_error(path)?;
    match &*found {
        "ok" => Ok(()),
        _ => Err(damaged(path, found)),
    }
}

fn configure(connection: &Connection, options: &Options) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(128);
    set(connection, "journal_mode", &"wal")?;
    let synchronous = match options.durability {
        Durability::Full => "full",
        Durability::Normal => "normal",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "cache_size", -8192)?;
    connection.pragma_update(None, "temp_store", "memory")?;
    // See `checkpoint`.
    set(connection, "wal_autocheckpoint", &0)?;
    set(connection, "journal_size_limit", &(32 << 20))?;
    if let Some(bytes) = options.max_bytes {
        let page: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let pages = i64::try_from(bytes).unwrap_or(i64::MAX) / page;
        set(connection, "max_page_count", &pages.max(1))?;
    }
    Ok(())
}

/// Sets what answers with its new value.
fn set(connection: &Connection, pragma: &str, value: &dyn rusqlite::ToSql) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, pragma, value, |_| Ok(()))
}
