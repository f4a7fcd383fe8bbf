//! Batches that wait at the same time share a transaction.

use std::time::Duration;

use store::{Batch, Durability, Error, Store};

use crate::support::{NOTES, note, numbered, options, stream};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_waiting_callers_share_each_commit() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    options.commit_delay = Some(Duration::from_millis(5));
    let store = Store::open(&options).unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..64 {
        let store = store.clone();
        writers.spawn(async move {
            let s = stream(&format!("s{writer}"));
            for after in 0..20 {
                let row = note(&format!("{writer}-{after}"), "ada", "new", 1);
                let batch = Batch::new()
                    .append(&s, after, numbered(after + 1))
                    .insert(&NOTES, row);
                store.commit(batch).await.unwrap();
            }
        });
    }
    while let Some(ended) = writers.join_next().await {
        ended.unwrap();
    }
    let stats = store.stats();
    assert_eq!(stats.batches, 64 * 20);
    assert!(stats.batches >= 16 * stats.commits, "{stats:?}");
}

#[tokio::test]
async fn a_refused_batch_leaves_the_others_of_the_transaction_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path()).durability(Durability::Normal);
    options.commit_delay = Some(Duration::from_millis(50));
    let store = Store::open(&options).unwrap();
    let s = stream("s");
    // While this batch is being committed the others queue up.
    let first = store.commit(Batch::new().append(&s, 0, numbered(1)));
    let put = |key: &str| Batch::new().put(&NOTES, note(key, "ada", "new", 1));
    let good = store.commit(put("good").append(&s, 1, numbered(2)));
    let late = store.commit(put("late").append(&s, 1, numbered(2)));
    let next = store.commit(put("next").append(&s, 2, numbered(3)));
    first.await.unwrap();
    good.await.unwrap();
    assert!(matches!(late.await, Err(Error::Conflict { found: 2, .. })));
    next.await.unwrap();
    let has = |key: &'static str| store.read(move |view| view.row(&NOTES, key));
    assert!(has("good").await.unwrap().is_some());
    assert!(has("late").await.unwrap().is_none());
    assert!(has("next").await.unwrap().is_some());
    assert_eq!(store.stats().batches, 3);
}
