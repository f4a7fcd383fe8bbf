//! Following: committed and new events as one sequence.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures_core::Stream;
use store::{Batch, Error, Follow, NewEvent, Store, StreamId};
use tokio::sync::Barrier;

use crate::support::{Made, events, numbered, stream, text};

pub(crate) async fn follows_what_was_and_what_comes(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    made.commit(Batch::new().append(&s, 0, events(["a", "b"])))
        .await
        .unwrap();
    let mut follow = made.store.follow(&s, 0);
    assert_eq!(next(&mut follow).await, (1, "a".to_owned()));
    made.commit(Batch::new().append(&s, 2, events(["c"])))
        .await
        .unwrap();
    assert_eq!(next(&mut follow).await, (2, "b".to_owned()));
    assert_eq!(next(&mut follow).await, (3, "c".to_owned()));
    assert_eq!(follow.cursor(), 3);
    assert!(waits(&mut follow).await);
    made.commit(Batch::new().append(&s, 3, events(["d"])))
        .await
        .unwrap();
    let entry = poll_fn(|cx| pin!(&mut follow).poll_next(cx)).await;
    assert_eq!(text(&entry.unwrap().unwrap()), (4, "d".to_owned()));
}

pub(crate) async fn waits_for_a_stream_that_is_not_there_yet(make: fn() -> Made) {
    let made = make();
    let mut follow = made.store.follow(&stream("s"), 0);
    assert!(waits(&mut follow).await);
    made.commit(Batch::new().append(&stream("other"), 0, events(["x"])))
        .await
        .unwrap();
    assert!(waits(&mut follow).await);
    made.commit(Batch::new().append(&stream("s"), 0, events(["a"])))
        .await
        .unwrap();
    assert_eq!(next(&mut follow).await, (1, "a".to_owned()));
}

pub(crate) async fn begins_at_a_cursor(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    made.commit(Batch::new().append(&s, 0, events(["a", "b", "c"])))
        .await
        .unwrap();
    let mut middle = made.store.follow(&s, 1);
    assert_eq!(next(&mut middle).await, (2, "b".to_owned()));
    let mut end = made.store.follow(&s, 3);
    let mut ahead = made.store.follow(&s, 4);
    assert!(waits(&mut end).await && waits(&mut ahead).await);
    made.commit(Batch::new().append(&s, 3, events(["d", "e"])))
        .await
        .unwrap();
    assert_eq!(next(&mut end).await, (4, "d".to_owned()));
    assert_eq!(next(&mut ahead).await, (5, "e".to_owned()));
}

pub(crate) async fn gives_many_at_once(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    let mut follow = made.store.follow(&s, 0);
    assert!(waits(&mut follow).await);
    made.commit(Batch::new().append(&s, 0, events(["a", "b", "c", "d", "e"])))
        .await
        .unwrap();
    let sizes = [(2, 2), (0, 1), (9, 2)];
    for (limit, size) in sizes {
        assert_eq!(follow.next_many(limit).await.unwrap().unwrap().len(), size);
    }
    assert_eq!(follow.cursor(), 5);
}

pub(crate) async fn shares_entries_and_what_is_derived_from_them(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    let (mut one, mut two) = (made.store.follow(&s, 0), made.store.follow(&s, 0));
    // At the end of the log, further events come from the live tail.
    made.commit(Batch::new().append(&s, 0, events(["11"])))
        .await
        .unwrap();
    assert_eq!(next(&mut one).await, next(&mut two).await);
    let known = NewEvent::new("12").with_derived(Arc::new(12_u64));
    let plain = NewEvent::new("13");
    made.commit(Batch::new().append(&s, 1, vec![known, plain]))
        .await
        .unwrap();
    let made_of =
        |payload: &bytes::Bytes| -> u64 { str::from_utf8(payload).unwrap().parse().unwrap() };
    for expected in [12, 13] {
        let (left, right) = (
            one.next().await.unwrap().unwrap(),
            two.next().await.unwrap().unwrap(),
        );
        assert!(Arc::ptr_eq(&left, &right));
        let derived = match expected {
            12 => left.derived::<u64>(|_| panic!("the writer had made it")),
            _ => left.derived(made_of),
        };
        assert_eq!(*derived, expected);
        assert!(Arc::ptr_eq(
            &derived,
            &right.derived::<u64>(|_| panic!("it was made already"))
        ));
    }
}

pub(crate) async fn loses_nothing_when_a_wait_is_given_up(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    let mut follow = made.store.follow(&s, 0);
    for sequence in 1..=50 {
        // Polled once and dropped, sometimes in the middle of reading the log.
        let _ = once(&mut follow).await;
        made.commit(Batch::new().append(&s, sequence - 1, numbered(sequence)))
            .await
            .unwrap();
    }
    let mut seen = follow.cursor();
    while seen < 50 {
        let entry = match once(&mut follow).await {
            Some(entry) => entry,
            None => follow.next().await.unwrap().unwrap(),
        };
        seen += 1;
        assert_eq!(text(&entry), (seen, seen.to_string()));
    }
}

pub(crate) async fn never_makes_the_writer_wait(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    let mut follow = made.store.follow(&s, 0);
    assert!(waits(&mut follow).await);
    // Far more than a live tail keeps, in number and in bytes, while the follower takes none.
    let mut last = 0;
    for size in [1_000, 1, 3_000, 40] {
        let batch: Vec<_> = (last + 1..=last + size).flat_map(numbered).collect();
        made.commit(Batch::new().append(&s, last, batch))
            .await
            .unwrap();
        last += size;
    }
    for _ in 0..4 {
        let large = NewEvent::new(vec![0; 400_000]);
        made.commit(Batch::new().append(&s, last, vec![large]))
            .await
            .unwrap();
        last += 1;
    }
    for sequence in 1..=last {
        let entry = follow.next().await.unwrap().unwrap();
        assert_eq!(entry.sequence(), sequence);
        if sequence <= last - 4 {
            assert_eq!(text(&entry).1, sequence.to_string());
        }
    }
    assert!(waits(&mut follow).await);
}

pub(crate) async fn reads_large_events_a_few_at_a_time(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    let large = || NewEvent::new(vec![0; 400_000]);
    made.commit(Batch::new().append(&s, 0, (0..8).map(|_| large()).collect()))
        .await
        .unwrap();
    let mut follow = made.store.follow(&s, 0);
    let mut pages = 0;
    while follow.cursor() < 8 {
        let page = follow.next_many(usize::MAX).await.unwrap().unwrap();
        assert!(page.len() <= 3);
        pages += 1;
    }
    assert_eq!(pages, 3);
    assert!(waits(&mut follow).await);
}

pub(crate) async fn goes_on_after_finish_and_ends_with_forget(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    let mut follow = made.store.follow(&s, 0);
    made.commit(Batch::new().append(&s, 0, events(["a"])).finish(&s, 1))
        .await
        .unwrap();
    assert_eq!(next(&mut follow).await, (1, "a".to_owned()));
    assert!(waits(&mut follow).await);
    made.commit(Batch::new().forget(&s)).await.unwrap();
    assert!(follow.next().await.is_none());
    assert!(follow.next_many(3).await.is_none());
    // A later follower follows the new stream of this name.
    let mut later = made.store.follow(&s, 0);
    assert!(waits(&mut later).await);
    made.commit(Batch::new().append(&s, 0, events(["new"])))
        .await
        .unwrap();
    assert_eq!(next(&mut later).await, (1, "new".to_owned()));
    assert!(follow.next().await.is_none());
}

pub(crate) async fn says_that_what_it_lacks_was_dropped(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    made.commit(
        Batch::new()
            .append(&s, 0, events(["a", "b", "c"]))
            .truncate(&s, 2),
    )
    .await
    .unwrap();
    let mut follow = made.store.follow(&s, 1);
    for _ in 0..2 {
        let lacking = follow.next().await.unwrap();
        assert!(
            matches!(lacking, Err(Error::Compacted { first: 3, .. })),
            "{lacking:?}"
        );
    }
    let mut follow = made.store.follow(&s, 2);
    assert_eq!(next(&mut follow).await, (3, "c".to_owned()));
}

/// Writers race for every event of two streams. Followers begin before, during and after, at any cursor;
/// some are slow, some give up waits, some start again where they were.
pub(crate) async fn sees_every_event_once_with_any_writers_and_any_start(make: fn() -> Made) {
    const LAST: u64 = 1_500;
    let made = make();
    let streams = [stream("left"), stream("right")];
    let barrier = Arc::new(Barrier::new(4 + 8));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (store, streams, barrier) = (made.store.clone(), streams.clone(), Arc::clone(&barrier));
        tasks.spawn(async move {
            barrier.wait().await;
            for stream in streams.iter().cycle() {
                if write_some(&store, stream, LAST).await >= LAST {
                    break;
                }
            }
            for stream in &streams {
                while write_some(&store, stream, LAST).await < LAST {}
            }
        });
    }
    for number in 0..24_u64 {
        let (store, barrier) = (made.store.clone(), Arc::clone(&barrier));
        let stream = streams[number as usize % 2].clone();
        tasks.spawn(async move {
            if number < 8 {
                barrier.wait().await;
            } else {
                // This follower begins when the stream has reached the given length.
                let mut ahead = store.follow(&stream, (number - 8) * LAST / 16);
                ahead.next().await.unwrap().unwrap();
            }
            let start = number * 7 % 50;
            let mut follow = store.follow(&stream, start);
            let mut cursor = start;
            while cursor < LAST {
                let entry = match number % 4 {
                    0 => follow.next().await.unwrap().unwrap(),
                    1 => match once(&mut follow).await {
                        Some(entry) => entry,
                        None => continue,
                    },
                    2 if cursor % 100 == 99 => {
                        follow = store.follow(&stream, cursor);
                        follow.next().await.unwrap().unwrap()
                    }
                    _ => {
                        for _ in 0..cursor % 20 {
                            tokio::task::yield_now().await;
                        }
                        follow.next().await.unwrap().unwrap()
                    }
                };
                cursor += 1;
                assert_eq!(text(&entry), (cursor, cursor.to_string()));
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
}

/// Appends one to three events at the end of the stream, and returns its new last event.
async fn write_some(store: &Store, stream: &StreamId, end: u64) -> u64 {
    let s = stream.clone();
    let last = store
        .read(move |view| view.stream(&s))
        .await
        .unwrap()
        .map_or(0, |state| state.last);
    let to = (last + 1 + last % 3).min(end);
    let events = (last + 1..=to).flat_map(numbered).collect();
    match store
        .commit(Batch::new().append(stream, last, events))
        .await
    {
        Ok(()) => to,
        Err(Error::Conflict { found, .. }) => found,
        Err(other) => panic!("{other}"),
    }
}

async fn next(follow: &mut Follow) -> (u64, String) {
    text(&follow.next().await.unwrap().unwrap())
}

/// Polls the follower once and drops the future.
async fn once(follow: &mut Follow) -> Option<Arc<store::Entry>> {
    let mut next = pin!(follow.next());
    let polled = poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await;
    tokio::task::yield_now().await;
    match polled {
        Poll::Ready(entry) => Some(entry.unwrap().unwrap()),
        Poll::Pending => None,
    }
}

/// Whether the follower has given all committed events. A running read of the log is awaited.
async fn waits(follow: &mut Follow) -> bool {
    let mut next = pin!(follow.next());
    for _ in 0..50 {
        let polled = poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx).is_ready())).await;
        if polled {
            return false;
        }
        tokio::task::yield_now().await;
    }
    true
}
