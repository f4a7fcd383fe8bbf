//! Closing: queued batches are committed, and every waiting caller gets an answer.

use store::{Batch, Error};

use crate::support::{Made, NOTES, note, numbered, stream};

pub(crate) async fn answers_all_that_was_handed_in(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    let append = |after| {
        made.store
            .commit(Batch::new().append(&s, after, numbered(after + 1)))
    };
    let before: Vec<_> = (0..100).map(append).collect();
    let (store, other) = (made.store.clone(), made.store.clone());
    tokio::join!(store.close(), other.close());
    for commit in before {
        commit.await.unwrap();
    }
    assert_eq!(made.store.stats().events, 100);
    assert!(matches!(append(100).await, Err(Error::Closed)));
}

pub(crate) async fn refuses_everything_afterwards(make: fn() -> Made) {
    let made = make();
    made.commit(Batch::new().put(&NOTES, note("k", "ada", "new", 1)))
        .await
        .unwrap();
    made.store.close().await;
    made.store.close().await;
    assert!(matches!(
        made.commit(Batch::new()).await,
        Err(Error::Closed)
    ));
    let read = made.store.read(|view| view.row(&NOTES, "k")).await;
    assert!(matches!(read, Err(Error::Closed)));
    assert!(made.store.follow(&stream("s"), 0).next().await.is_none());
}

pub(crate) async fn ends_followers(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    made.commit(Batch::new().append(&s, 0, numbered(1)))
        .await
        .unwrap();
    let mut waiting = tokio::task::JoinSet::new();
    for after in [0, 0, 1, 1, 5] {
        let mut follow = made.store.follow(&s, after);
        waiting.spawn(async move {
            while let Some(entry) = follow.next().await {
                assert_eq!(entry.unwrap().sequence(), 1);
            }
        });
    }
    made.store.close().await;
    while let Some(ended) = waiting.join_next().await {
        ended.unwrap();
    }
}
