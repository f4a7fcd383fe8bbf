//! Copies of the file: made while it is used, and checked before they take its place.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::errors::{ResultExt, damaged};
use super::{create, open, path};
use crate::Error;
use crate::backup::BackupFile;
use crate::lock::Lock;

/// The table of a copy with the files that belong to the data. A store has none of this name.
const FILES: &str = "backup_file";

/// Copies the file at `from` as it is at one moment, with `files` in a table of their own. Writing goes on meanwhile. On
/// failure nothing is left. `to` may be there if it is empty, so that a caller can decide on its mode.
pub(super) fn copy(from: &Path, to: &Path, files: &[BackupFile]) -> Result<(), Error> {
    if fs::metadata(to).is_ok_and(|file| file.len() > 0) {
        let exists = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        return Err(Error::io("write", to)(exists));
    }
    let source = open::reader(from).store_error(from)?;
    let written = write(&source, from, to, files);
    if written.is_err() {
        // The error that counts is the first one.
        let _ = fs::remove_file(to);
    }
    written
}

fn write(source: &Connection, from: &Path, to: &Path, files: &[BackupFile]) -> Result<(), Error> {
    vacuum_into(source, from, to)?;
    let copy = Connection::open(to).store_error(to)?;
    copy.execute_batch(&format!(
        "CREATE TABLE {FILES} (name TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT"
    ))
    .store_error(to)?;
    let insert = format!("INSERT INTO {FILES} VALUES (?1, ?2)");
    for file in files {
        copy.execute(&insert, (&file.name, &file.content))
            .store_error(to)?;
    }
    drop(copy);
    sync(to)
}

/// Checks a copy, and gives the files in it.
pub(crate) fn read(backup: &Path) -> Result<Vec<BackupFile>, Error> {
    if !backup.is_file() {
        let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
        return Err(Error::io("read", backup)(missing));
    }
    let copy = open::reader(backup).store_error(backup)?;
    open::check_whole(&copy, backup)?;
    files(&copy, backup)
}

/// Puts the data of a copy into a folder that has none, and gives the files in the copy. The folder is locked meanwhile; its
/// data appear at once and whole, or not at all.
pub(crate) fn restore(backup: &Path, folder: &Path) -> Result<Vec<BackupFile>, Error> {
    let files = read(backup)?;
    create(folder).map_err(Error::io("create", folder))?;
    let target = path(folder);
    // Taking the lock makes this file; the data are written into it, and it gets its name when they are whole.
    let beside: PathBuf = folder.join("monas.db.restoring");
    let lock = Lock::take(folder, Some(&beside), "a restore")?;
    let restored = if target.exists() {
        let exists = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        Err(Error::io("write", &target)(exists))
    } else {
        fill(backup, &beside).and_then(|()| {
            fs::rename(&beside, &target).map_err(Error::io("rename", &beside))?;
            sync(folder)
        })
    };
    if restored.is_err() {
        let _ = fs::remove_file(&beside);
    }
    drop(lock);
    restored.map(|()| files)
}

fn fill(backup: &Path, to: &Path) -> Result<(), Error> {
    let source = open::reader(backup).store_error(backup)?;
    vacuum_into(&source, backup, to)?;
    let copy = Connection::open(to).store_error(to)?;
    let drop_files = format!("DROP TABLE {FILES}; VACUUM");
    copy.execute_batch(&drop_files).store_error(to)?;
    copy.close().map_err(|(_, error)| error).store_error(to)?;
    sync(to)
}

/// Copies all pages that are in use. The new file has to be empty or not there.
fn vacuum_into(source: &Connection, from: &Path, to: &Path) -> Result<(), Error> {
    let name = to.to_str().ok_or_else(|| {
        let problem = std::io::Error::other("the path is not valid Unicode");
        Error::io("write", to)(problem)
    })?;
    source.execute("VACUUM INTO ?1", [name]).store_error(from)?;
    Ok(())
}

fn files(copy: &Connection, path: &Path) -> Result<Vec<BackupFile>, Error> {
    let found: u32 = copy
        .query_row(
            "SELECT count(*) FROM sqlite_schema WHERE name = ?1",
            [FILES],
            |row| row.get(0),
        )
        .store_error(path)?;
    if found == 0 {
        return Err(damaged(path, "the file is not a backup"));
    }
    let select = format!("SELECT name, content FROM {FILES} ORDER BY name");
    let mut statement = copy.prepare(&select).store_error(path)?;
    let rows = statement.query_map([], |row| {
        Ok(BackupFile {
            name: row.get(0)?,
            content: row.get(1)?,
        })
    });
    let rows: rusqlite::Result<Vec<_>> = rows.and_then(Iterator::collect);
    rows.store_error(path)
}

fn sync(path: &Path) -> Result<(), Error> {
    let synced = File::open(path).and_then(|file| file.sync_all());
    synced.map_err(Error::io("sync", path))
}
