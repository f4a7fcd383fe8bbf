//! The settings of the writing connection, as SQLite reports them.

use super::*;

fn setting(connection: &Connection, name: &str) -> String {
    let value = |row: &rusqlite::Row<'_>| row.get::<_, rusqlite::types::Value>(0);
    match connection.pragma_query_value(None, name, value).unwrap() {
        rusqlite::types::Value::Integer(number) => number.to_string(),
        rusqlite::types::Value::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn full_durability_waits_for_the_disk_at_every_commit() {
    for (durability, synchronous) in [(Durability::Full, "2"), (Durability::Normal, "1")] {
        let folder = tempfile::tempdir().unwrap();
        let options = Options::new(folder.path()).durability(durability);
        // Asks the engine's own connection: settings belong to a connection, not to the file.
        let (engine, _pool) = super::super::Sqlite::open(&options).unwrap();
        assert_eq!(setting(&engine.connection, "synchronous"), synchronous);
        assert_eq!(setting(&engine.connection, "journal_mode"), "wal");
    }
    assert_eq!(Options::new("data").durability, Durability::Full);
}

#[test]
fn readers_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("monas.db");
    writer(&path, &Options::new(folder.path())).unwrap();
    let reader = reader(&path).unwrap();
    let written = reader.execute_batch("INSERT INTO stream (name, first, last) VALUES ('s', 1, 0)");
    assert!(written.unwrap_err().to_string().contains("readonly"));
}
