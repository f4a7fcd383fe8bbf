//! A folder is open in one store at a time.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use store::{Batch, Error, Store};

use crate::support::{numbered, options, stream};

/// The environment variable that makes the child process hold a folder.
const FOLDER: &str = "MONAS_TEST_HOLD_FOLDER";

#[cfg(unix)]
#[tokio::test]
async fn a_new_folder_has_mode_0700() {
    use std::os::unix::fs::PermissionsExt as _;
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("a/b");
    let store = Store::open(&options(&folder)).unwrap();
    for made in [above.path().join("a"), folder] {
        let mode = std::fs::metadata(made).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
    store.close().await;
}

#[tokio::test]
async fn a_second_store_on_a_folder_is_refused_and_told_which_process_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut held = options(folder.path());
    held.holder = "http://127.0.0.1:8080".to_owned();
    let store = Store::open(&held).unwrap();
    let error = Store::open(&options(folder.path())).unwrap_err();
    let Error::InUse { folder: named, by } = &error else {
        panic!("in use, not {error:?}");
    };
    assert_eq!(named, folder.path());
    assert_eq!(
        *by,
        format!("http://127.0.0.1:8080 (process {})", std::process::id())
    );

    // Closing releases the folder, also while handles are left.
    store.close().await;
    let second = Store::open(&options(folder.path())).unwrap();
    second
        .commit(Batch::new().append(&stream("s"), 0, numbered(1)))
        .await
        .unwrap();
    // Dropping the last handle does too, after the queued batches are committed.
    drop(second.commit(Batch::new().append(&stream("s"), 1, numbered(2))));
    drop(second);
    let third = Store::open(&options(folder.path())).unwrap();
    let state = third.read(|view| view.stream(&stream("s"))).await.unwrap();
    assert_eq!(state.map(|state| state.last), Some(2));
}

/// The test binary starts itself as the other process.
#[test]
fn a_folder_held_by_another_process_is_free_when_that_is_killed() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let mut held = options(folder.as_ref());
        held.holder = "the other one".to_owned();
        let _store = Store::open(&held).unwrap();
        writeln!(std::io::stderr(), "held").unwrap();
        std::io::stdin().lines().for_each(drop);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let name = "sqlite::holding::a_folder_held_by_another_process_is_free_when_that_is_killed";
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(FOLDER, folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(other.stderr.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "held");

    let error = Store::open(&options(folder.path())).unwrap_err();
    let by = format!("the other one (process {})", other.id());
    assert!(
        matches!(&error, Error::InUse { by: named, .. } if *named == by),
        "{error}"
    );
    other.kill().unwrap();
    other.wait().unwrap();
    Store::open(&options(folder.path())).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_deleted_lock_file_admits_no_second_store() {
    let folder = tempfile::tempdir().unwrap();
    let first = Store::open(&options(folder.path())).unwrap();
    std::fs::remove_file(folder.path().join("lock")).unwrap();
    let error = Store::open(&options(folder.path())).unwrap_err();
    assert!(matches!(error, Error::InUse { .. }), "{error:?}");
    let written = first.commit(Batch::new().append(&stream("s"), 0, numbered(1)));
    written.await.unwrap();
    first.close().await;
    drop(first);
    Store::open(&options(folder.path())).unwrap();
}
