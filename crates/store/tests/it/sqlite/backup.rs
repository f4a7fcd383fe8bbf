//! A backup has everything up to one moment, and becomes a store again.

use std::fs;

use store::{BackupFile, Batch, Error, Query, Store, check_backup, holder, restore};

use super::outsider;
use crate::support::{NOTES, note, numbered, options, stream};

fn key() -> BackupFile {
    BackupFile {
        name: "a.key".to_owned(),
        content: vec![1, 2, 3],
    }
}

#[tokio::test]
async fn a_store_that_is_written_meanwhile_is_copied_as_of_one_moment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("copy");
    let store = Store::open(&options(&folder.path().join("data"))).unwrap();
    // Each batch writes an event and a row: a copy has both or neither.
    let write = async || {
        for number in 0..300 {
            let name = format!("s{number}");
            let batch = Batch::new().append(&stream(&name), 0, numbered(1));
            let batch = batch.put(&NOTES, note(&name, "ada", "new", number));
            store.commit(batch).await.unwrap();
        }
    };
    let copy = async {
        while store.stats().commits < 50 {
            tokio::task::yield_now().await;
        }
        store.back_up(&file, vec![key()]).await.unwrap();
    };
    tokio::join!(write(), copy);
    store.close().await;
    check_backup(&file).unwrap();

    let restored = folder.path().join("restored");
    assert_eq!(restore(&file, &restored).unwrap(), [key()]);
    let store = Store::open(&options(&restored)).unwrap();
    let counted = store
        .read(|view| {
            let rows = view.rows(&Query::of(&NOTES))?;
            for row in &rows {
                assert!(view.stream(&stream(&row.key))?.is_some(), "{}", row.key);
            }
            let beyond = stream(&format!("s{}", rows.len()));
            assert!(view.stream(&beyond)?.is_none());
            Ok(rows.len())
        })
        .await
        .unwrap();
    assert!((50..=300).contains(&counted), "{counted}");
    store.close().await;
    let outsider = outsider(&restored);
    let left = outsider.prepare("SELECT * FROM backup_file");
    assert!(
        left.is_err(),
        "the files of the backup are no part of the store"
    );
}

#[tokio::test]
async fn data_that_are_there_and_data_in_use_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("copy"));
    let store = Store::open(&options(&data)).unwrap();
    store.back_up(&file, Vec::new()).await.unwrap();
    assert!(holder(&data).is_some());
    let in_use = restore(&file, &data).unwrap_err();
    assert!(matches!(in_use, Error::InUse { .. }), "{in_use}");
    let again = store.back_up(&file, Vec::new()).await.unwrap_err();
    assert!(matches!(again, Error::Io { .. }), "{again}");
    store.close().await;
    drop(store);
    assert_eq!(holder(&data), None);
    let before = fs::read(data.join("monas.db")).unwrap();
    let taken = restore(&file, &data).unwrap_err();
    assert!(matches!(taken, Error::Io { .. }), "{taken}");
    assert!(fs::read(data.join("monas.db")).unwrap() == before);
    Store::open(&options(&data)).unwrap().close().await;
}
