//! A store with a manual writer: before the test commits, nothing is kept and no caller is answered.

use store::{Batch, Error, Store, StreamState};

use crate::support::{NOTES, numbered, stream};

async fn last(store: &Store) -> u64 {
    let read = store.read(|view| view.stream(&stream("s"))).await;
    read.unwrap().map_or(0, |StreamState { last, .. }| last)
}

fn append(store: &Store, after: u64) -> store::Commit {
    store.commit(Batch::new().append(&stream("s"), after, numbered(after + 1)))
}

#[tokio::test]
async fn commits_and_answers_one_batch_at_a_time() {
    let (store, steps) = Store::with_manual_writer(&[&NOTES]);
    let (first, second) = (append(&store, 0), append(&store, 1));
    assert_eq!((steps.waiting(), last(&store).await), (vec![1, 1], 0));
    steps.commit();
    first.await.unwrap();
    assert_eq!((steps.waiting(), last(&store).await), (vec![1], 1));
    steps.commit();
    second.await.unwrap();
    assert_eq!((steps.waiting(), last(&store).await), (vec![], 2));
}

#[tokio::test]
async fn a_process_may_end_before_the_commit_or_before_the_answer() {
    let (store, steps) = Store::with_manual_writer(&[&NOTES]);
    let kept = append(&store, 0);
    steps.commit_unanswered();
    assert!(matches!(kept.await, Err(Error::Closed)));
    let lost = append(&store, 1);
    steps.lose();
    assert!(matches!(lost.await, Err(Error::Closed)));
    assert_eq!((steps.waiting(), last(&store).await), (vec![], 1));
}

#[tokio::test]
async fn closing_commits_what_waits() {
    let (store, _steps) = Store::with_manual_writer(&[&NOTES]);
    let waiting = append(&store, 0);
    store.close().await;
    waiting.await.unwrap();
    assert!(matches!(append(&store, 1).await, Err(Error::Closed)));
}
