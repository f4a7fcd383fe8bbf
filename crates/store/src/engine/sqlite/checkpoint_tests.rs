//! The write-ahead log restarts from its beginning, also while reads go on.

use super::*;

/// A file with a table, and the connection that writes.
fn writer(folder: &tempfile::TempDir) -> Connection {
    let connection = Connection::open(folder.path().join("file")).unwrap();
    let wal = "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0;
               CREATE TABLE t (x BLOB)";
    connection.execute_batch(wal).unwrap();
    connection
}

fn write(connection: &Connection, pages: i32) {
    let bytes = vec![0_u8; 4_096 * pages as usize];
    connection
        .execute("INSERT INTO t VALUES (?)", [bytes])
        .unwrap();
}

#[test]
fn a_long_log_is_moved_and_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = writer(&folder);
    let checkpoints = Checkpoints::of(&mut connection).unwrap();
    write(&connection, DUE / 2);
    checkpoints.run(&connection);
    write(&connection, DUE / 2);
    assert!(
        checkpoints.pages.load(Ordering::Relaxed) >= DUE,
        "it was not due before"
    );
    checkpoints.run(&connection);
    write(&connection, 1);
    assert!(checkpoints.pages.load(Ordering::Relaxed) < 10);
}

#[test]
fn a_log_that_is_overdue_waits_for_its_reader() {
    let folder = tempfile::tempdir().unwrap();
    let mut connection = writer(&folder);
    connection
        .busy_timeout(std::time::Duration::from_secs(60))
        .unwrap();
    let checkpoints = Checkpoints::of(&mut connection).unwrap();
    let reader = Connection::open(folder.path().join("file")).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM t")
        .unwrap();
    while checkpoints.pages.load(Ordering::Relaxed) < OVERDUE {
        write(&connection, DUE / 2);
        if checkpoints.pages.load(Ordering::Relaxed) < OVERDUE {
            // A passive checkpoint runs, but cannot restart the log under a reader.
            checkpoints.run(&connection);
        }
    }
    let leave = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(20));
        reader.execute_batch("COMMIT").unwrap();
    });
    checkpoints.run(&connection);
    leave.join().unwrap();
    write(&connection, 1);
    assert!(checkpoints.pages.load(Ordering::Relaxed) < 10);
}
