//! A batch is acknowledged after it is committed, never before.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use store::{Batch, Durability, Store};

use super::outsider;
use crate::support::{NOTES, note, numbered, options, stream};

/// The number of events of a stream, as a second connection sees it.
fn seen(outsider: &Connection, name: &str) -> u64 {
    let sql = "SELECT coalesce(max(last), 0) FROM stream WHERE name = ?";
    outsider
        .query_row(sql, [name], |row| row.get::<_, u32>(0))
        .unwrap()
        .into()
}

#[tokio::test]
async fn another_reader_of_the_file_finds_what_was_acknowledged() {
    for durability in [Durability::Full, Durability::Normal] {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&options(folder.path()).durability(durability)).unwrap();
        let outsider = outsider(folder.path());
        for after in 0..50 {
            let row = note("k", "ada", "new", after);
            let after = after.cast_unsigned();
            let batch = Batch::new().append(&stream("s"), after, numbered(after + 1));
            store.commit(batch.put(&NOTES, row)).await.unwrap();
            assert_eq!(seen(&outsider, "s"), after + 1);
            let sql = "SELECT time FROM t_notes WHERE key = 'k'";
            let time = outsider
                .query_row(sql, [], |row| row.get::<_, i64>(0))
                .unwrap();
            assert_eq!(time.cast_unsigned(), after);
        }
    }
}

#[tokio::test]
async fn there_is_no_acknowledgement_while_there_is_no_commit() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&options(folder.path())).unwrap();
    let outsider = outsider(folder.path());
    // While the second connection holds SQLite's write lock, the writer cannot commit.
    outsider.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut commit = pin!(store.commit(Batch::new().append(&stream("s"), 0, numbered(1))));
    for _ in 0..20 {
        let polled = poll_fn(|cx| Poll::Ready(commit.as_mut().poll(cx).is_ready())).await;
        assert!(!polled);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    outsider.execute_batch("ROLLBACK").unwrap();
    commit.await.unwrap();
    assert_eq!(seen(&outsider, "s"), 1);
}

#[tokio::test]
async fn the_delay_for_measurements_comes_before_the_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    let delay = Duration::from_millis(30);
    options.commit_delay = Some(delay);
    let store = Store::open(&options).unwrap();
    let outsider = outsider(folder.path());
    let begun = Instant::now();
    let mut commit = pin!(store.commit(Batch::new().append(&stream("s"), 0, numbered(1))));
    loop {
        let seen = seen(&outsider, "s");
        let took = begun.elapsed();
        assert!(seen == 0 || took >= delay, "visible after {took:?}");
        if poll_fn(|cx| Poll::Ready(commit.as_mut().poll(cx).is_ready())).await {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert!(begun.elapsed() >= delay);
    // Reads do not wait for the writer.
    let waiting = store.commit(Batch::new().append(&stream("s"), 1, numbered(2)));
    store.read(|view| view.stream(&stream("s"))).await.unwrap();
    waiting.await.unwrap();
}
