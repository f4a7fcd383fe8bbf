//! Streams: appending with compare-and-set, batches, reading.

use store::{Batch, Error, NewEvent, Stats, StreamState};

use crate::support::{HEAPS, Made, NOTES, events, note, numbered, stream};

pub(crate) async fn appends_after_the_last_event(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    made.commit(Batch::new().append(&s, 0, events(["a", "b"])))
        .await
        .unwrap();
    made.commit(Batch::new().append(&s, 2, events(["c"])))
        .await
        .unwrap();
    let all = [
        (1, "a".to_owned()),
        (2, "b".to_owned()),
        (3, "c".to_owned()),
    ];
    assert_eq!(made.read("s", 0).await.unwrap(), all);
    let state = StreamState {
        first: 1,
        last: 3,
        finished: None,
    };
    assert_eq!(made.state("s").await, Some(state));
    assert_eq!(made.state("t").await, None);
}

pub(crate) async fn refuses_to_append_after_another_event(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    made.commit(Batch::new().append(&s, 0, events(["a", "b"])))
        .await
        .unwrap();
    for wrong in [0, 1, 3, u64::MAX] {
        let refused = made
            .commit(Batch::new().append(&s, wrong, events(["c"])))
            .await;
        let Err(Error::Conflict {
            stream,
            expected,
            found,
        }) = refused
        else {
            panic!("a conflict, not {refused:?}");
        };
        assert_eq!((stream, expected, found), (s.clone(), wrong, 2));
    }
    let unknown = made
        .commit(Batch::new().append(&stream("t"), 1, events(["a"])))
        .await;
    assert!(matches!(unknown, Err(Error::Conflict { found: 0, .. })));
    assert_eq!(made.read("s", 0).await.unwrap().len(), 2);
}

pub(crate) async fn lets_one_of_many_writers_win(make: fn() -> Made) {
    let made = make();
    for round in 0..20 {
        let tries = (0..8).map(|writer| {
            let event = NewEvent::new(writer.to_string());
            made.store
                .commit(Batch::new().append(&stream("s"), round, vec![event]))
        });
        let mut won = 0;
        for outcome in tries.collect::<Vec<_>>() {
            match outcome.await {
                Ok(()) => won += 1,
                Err(Error::Conflict { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!(won, 1);
    }
    assert_eq!(made.read("s", 0).await.unwrap().len(), 20);
}

pub(crate) async fn refuses_to_append_to_a_finished_stream(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    made.commit(Batch::new().append(&s, 0, events(["a"])).finish(&s, 9))
        .await
        .unwrap();
    let refused = made.commit(Batch::new().append(&s, 1, events(["b"]))).await;
    assert!(matches!(refused, Err(Error::Finished { stream }) if stream == s));
    // On a finished stream a wrong position is reported first.
    let refused = made.commit(Batch::new().append(&s, 0, events(["b"]))).await;
    assert!(matches!(refused, Err(Error::Conflict { found: 1, .. })));
    // Finishing an unknown stream does not create it.
    made.commit(Batch::new().finish(&stream("t"), 9))
        .await
        .unwrap();
    assert_eq!(made.state("t").await, None);
}

pub(crate) async fn checks_without_events(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    made.commit(Batch::new().append(&s, 0, Vec::new()))
        .await
        .unwrap();
    assert_eq!(made.state("s").await, None);
    let row = note("k", "ada", "new", 1);
    let refused = made
        .commit(Batch::new().put(&NOTES, row).append(&s, 1, Vec::new()))
        .await;
    assert!(matches!(refused, Err(Error::Conflict { .. })));
    assert_eq!(made.row("k").await, None);
}

pub(crate) async fn applies_the_changes_of_a_batch_in_order(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    let row = |time| note("k", "ada", "new", time);
    let batch = Batch::new()
        .append(&s, 0, events(["old"]))
        .append(&s, 1, events(["older"]))
        .forget(&s)
        .append(&s, 0, events(["a"]))
        .append(&s, 1, events(["b", "c"]))
        .truncate(&s, 1)
        .put(&NOTES, row(1))
        .delete(&NOTES, "k")
        .insert(&NOTES, row(2))
        .finish(&s, 5);
    made.commit(batch).await.unwrap();
    let state = StreamState {
        first: 2,
        last: 3,
        finished: Some(5),
    };
    assert_eq!(made.state("s").await, Some(state));
    assert_eq!(
        made.read("s", 1).await.unwrap(),
        [(2, "b".to_owned()), (3, "c".to_owned())]
    );
    assert_eq!(made.row("k").await, Some(row(2)));
}

pub(crate) async fn keeps_nothing_of_a_refused_batch(make: fn() -> Made) {
    let made = make();
    let (s, t, u) = (stream("s"), stream("t"), stream("u"));
    let old = note("k", "ada", "new", 1);
    let first = Batch::new()
        .append(&s, 0, events(["a", "b"]))
        .insert(&NOTES, old.clone());
    made.commit(first.append(&u, 0, events(["x"])))
        .await
        .unwrap();
    let everything = || {
        Batch::new()
            .append(&s, 2, events(["c"]))
            .append(&t, 0, events(["a"]))
            .truncate(&s, 1)
            .finish(&s, 3)
            .forget(&u)
            .put(&NOTES, note("k", "eve", "new", 2))
            .put(&HEAPS, note("h", "eve", "new", 2))
            .delete(&NOTES, "k")
    };
    let late = everything().append(&t, 7, events(["b"]));
    assert!(matches!(
        made.commit(late).await,
        Err(Error::Conflict { .. })
    ));
    let finished = everything().append(&s, 3, events(["d"]));
    assert!(matches!(
        made.commit(finished).await,
        Err(Error::Finished { .. })
    ));
    let twice = everything().insert(&HEAPS, note("h", "eve", "new", 2));
    assert!(matches!(
        made.commit(twice).await,
        Err(Error::Exists { .. })
    ));

    assert_eq!(made.read("s", 0).await.unwrap().len(), 2);
    assert_eq!(made.read("u", 0).await.unwrap().len(), 1);
    assert_eq!(made.state("t").await, None);
    assert_eq!(made.row("k").await, Some(old));
    assert_eq!(
        made.store.read(|view| view.row(&HEAPS, "h")).await.unwrap(),
        None
    );
    // The writer's cache holds nothing of the refused batch either.
    made.commit(everything().append(&t, 1, events(["b"])))
        .await
        .unwrap();
    assert_eq!(made.read("t", 0).await.unwrap().len(), 2);
}

pub(crate) async fn commits_also_without_a_waiting_caller(make: fn() -> Made) {
    let made = make();
    drop(
        made.store
            .commit(Batch::new().append(&stream("s"), 0, events(["a"]))),
    );
    made.commit(Batch::new()).await.unwrap();
    assert_eq!(made.read("s", 0).await.unwrap().len(), 1);
}

pub(crate) async fn keeps_the_order_in_which_batches_were_handed_in(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    let handed_in = (0..200).map(|after| {
        made.store
            .commit(Batch::new().append(&s, after, numbered(after + 1)))
    });
    for commit in handed_in.collect::<Vec<_>>() {
        commit.await.unwrap();
    }
    assert_eq!(made.read("s", 0).await.unwrap().len(), 200);
}

pub(crate) async fn reads_from_a_cursor_in_pages(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    let mut last = 0;
    for size in [1, 5, 2, 40, 3] {
        let events = (last + 1..=last + size).flat_map(numbered).collect();
        made.commit(Batch::new().append(&s, last, events))
            .await
            .unwrap();
        last += size;
    }
    for limit in [1, 2, 7, 50, usize::MAX] {
        let mut cursor = 0;
        while cursor < last {
            let s = s.clone();
            let page = made
                .store
                .read(move |view| view.events(&s, cursor, limit))
                .await
                .unwrap();
            assert!(!page.is_empty() && page.len() <= limit);
            for entry in page {
                cursor += 1;
                assert_eq!(entry.sequence(), cursor);
                assert_eq!(&entry.payload()[..], cursor.to_string().as_bytes());
            }
        }
    }
    assert_eq!(made.read("s", last).await.unwrap(), []);
    assert_eq!(made.read("s", u64::MAX).await.unwrap(), []);
    assert_eq!(made.read("unknown", 0).await.unwrap(), []);
}

pub(crate) async fn reads_events_of_any_size(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    let sizes = [
        0, 1, 127, 128, 129, 4_000, 16_383, 16_384, 100_000, 3_000_000, 0,
    ];
    for (after, size) in sizes.into_iter().enumerate() {
        let event = NewEvent::new(vec![after as u8; size]);
        made.commit(Batch::new().append(&s, after as u64, vec![event]))
            .await
            .unwrap();
    }
    let t = s.clone();
    let read = made
        .store
        .read(move |view| view.events(&t, 0, usize::MAX))
        .await
        .unwrap();
    assert_eq!(read.len(), sizes.len());
    for (place, (entry, size)) in read.iter().zip(sizes).enumerate() {
        assert_eq!(entry.payload().len(), size);
        assert!(entry.payload().iter().all(|byte| *byte == place as u8));
    }
    // A page ends with the event that fills it.
    let pages = [
        (0, 0),
        (1, 2),
        (128, 3),
        (129, 4),
        (256, 4),
        (257, 5),
        (usize::MAX, 11),
    ];
    for (bytes, events) in pages {
        let s = s.clone();
        let page = made
            .store
            .read(move |view| view.page(&s, 0, usize::MAX, bytes))
            .await
            .unwrap();
        assert_eq!(page.len(), events, "{bytes}");
    }
}

pub(crate) async fn shows_a_view_of_one_moment(make: fn() -> Made) {
    let made = make();
    let (s, t) = (stream("s"), stream("t"));
    let writer = {
        let (store, s, t) = (made.store.clone(), s.clone(), t.clone());
        tokio::spawn(async move {
            for after in 0..300 {
                let both = Batch::new()
                    .append(&s, after, numbered(after + 1))
                    .append(&t, after, numbered(after + 1))
                    .put(&NOTES, note("k", "ada", "new", after as i64 + 1));
                store.commit(both).await.unwrap();
            }
        })
    };
    let mut seen = 0;
    while seen < 300 {
        let (s, t) = (s.clone(), t.clone());
        let look = made.store.read(move |view| {
            let left = view.stream(&s)?.map_or(0, |state| state.last);
            // Commits made meanwhile do not show in the same view.
            std::thread::yield_now();
            let row = view.row(&NOTES, "k")?;
            let row = row.map_or(0.into(), |row| row.columns[2].clone());
            let right = view.events(&t, 0, usize::MAX)?.len() as u64;
            Ok((left, row, right))
        });
        let (left, row, right) = look.await.unwrap();
        assert_eq!((row, right), ((left as i64).into(), left));
        seen = left;
    }
    writer.await.unwrap();
}

pub(crate) async fn counts_transactions_batches_and_events(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    assert_eq!(made.store.stats(), Stats::default());
    made.commit(Batch::new().append(&s, 0, events(["a", "b", "c"])))
        .await
        .unwrap();
    made.commit(Batch::new().finish(&s, 3)).await.unwrap();
    assert!(
        made.commit(Batch::new().append(&s, 0, events(["d"])))
            .await
            .is_err()
    );
    let stats = Stats {
        commits: 2,
        batches: 2,
        events: 3,
    };
    assert_eq!(made.store.stats(), stats);
}
