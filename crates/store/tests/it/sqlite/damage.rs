//! Damaged and foreign files are refused with a clear error and are not changed.

use std::fs;
use std::path::Path;

use store::{Batch, Error, NewEvent, Store};

use super::outsider;
use crate::support::{NOTES, note, numbered, options, stream};

/// Writes a store with some data into the folder, and closes it.
async fn filled(folder: &Path) {
    let store = Store::open(&options(folder)).unwrap();
    for number in 0..200 {
        let s = stream(&format!("s{number}"));
        let event = NewEvent::new(vec![7; 700]);
        let row = note(s.as_str(), "ada", "new", number);
        store
            .commit(Batch::new().append(&s, 0, vec![event]).put(&NOTES, row))
            .await
            .unwrap();
    }
    store.close().await;
}

/// The error on opening; asserts that no byte of the file changed.
fn refused(folder: &Path) -> Error {
    let file = folder.join("monas.db");
    let before = fs::read(&file).unwrap();
    let error = Store::open(&options(folder)).unwrap_err();
    assert!(fs::read(&file).unwrap() == before, "the file is untouched");
    // A second attempt fails in the same way, so the first one released the lock.
    let again = Store::open(&options(folder)).unwrap_err();
    assert_eq!(again.to_string(), error.to_string());
    error
}

#[tokio::test]
async fn refuses_a_file_that_is_no_database() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("monas.db"), "Dear diary, ".repeat(1_000)).unwrap();
    let error = refused(folder.path());
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .contains("monas.db: file is not a database"),
        "{error}"
    );
}

#[tokio::test]
async fn refuses_a_database_of_another_program() {
    let folder = tempfile::tempdir().unwrap();
    let stranger = outsider(folder.path());
    stranger
        .execute_batch("CREATE TABLE diary (page TEXT); PRAGMA user_version = 1")
        .unwrap();
    drop(stranger);
    let error = refused(folder.path());
    assert!(
        error
            .to_string()
            .ends_with("the file belongs to another program"),
        "{error}"
    );
}

#[tokio::test]
async fn refuses_a_file_that_was_cut() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    let path = folder.path().join("monas.db");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    let error = refused(folder.path());
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
}

#[tokio::test]
async fn refuses_a_file_with_a_page_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    filled(folder.path()).await;
    let path = folder.path().join("monas.db");
    let whole = fs::read(&path).unwrap();
    let pages = whole.len() / 4096;
    assert!(pages > 40);
    for page in [3, pages / 2, pages - 1] {
        let mut bytes = whole.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0xa5);
        fs::write(&path, bytes).unwrap();
        let error = refused(folder.path());
        assert!(
            matches!(error, Error::Corrupt { .. }),
            "page {page}: {error:?}"
        );
    }
    // With the original bytes restored all data is there.
    fs::write(&path, whole).unwrap();
    let store = Store::open(&options(folder.path())).unwrap();
    let count = store
        .read(|view| view.count(&store::Query::of(&NOTES)))
        .await
        .unwrap();
    assert_eq!(count, 200);
}

#[tokio::test]
async fn reports_damage_that_is_found_later() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&options(folder.path())).unwrap();
    let (s, t) = (stream("s"), stream("t"));
    let both = Batch::new()
        .append(&s, 0, numbered(1))
        .append(&t, 0, numbered(1));
    store.commit(both).await.unwrap();
    outsider(folder.path())
        .execute_batch("UPDATE chunk SET events = x'ff' WHERE stream = 1")
        .unwrap();
    let read = |stream: &store::StreamId| {
        let stream = stream.clone();
        store.read(move |view| view.events(&stream, 0, 9))
    };
    let error = read(&s).await.unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .ends_with("the events of s are incomplete"),
        "{error}"
    );
    // The undamaged stream can still be read.
    assert_eq!(read(&t).await.unwrap().len(), 1);
    store
        .commit(Batch::new().append(&t, 1, numbered(2)))
        .await
        .unwrap();
}
