//! Truncation, forgetting, and the streams that retention reports as due.

use std::time::Duration;

use store::{Batch, Due, Error, Retention, StreamState, due};

use crate::support::{HEAPS, Made, NOTES, events, note, numbered, stream};

pub(crate) async fn drops_the_beginning_of_a_stream(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    // Appends of one and of many events, so that cuts fall between appends and into them.
    made.commit(Batch::new().append(&s, 0, numbered(1)))
        .await
        .unwrap();
    made.commit(Batch::new().append(&s, 1, (2..=9).flat_map(numbered).collect()))
        .await
        .unwrap();
    made.commit(Batch::new().append(&s, 9, numbered(10)))
        .await
        .unwrap();
    for through in [0, 1, 4, 3, 8, 9] {
        made.commit(Batch::new().truncate(&s, through))
            .await
            .unwrap();
        let dropped = through.max(if through == 3 { 4 } else { 0 });
        let state = made.state("s").await.unwrap();
        assert_eq!((state.first, state.last), (dropped + 1, 10));
        let rest: Vec<_> = (dropped + 1..=10).map(|n| (n, n.to_string())).collect();
        assert_eq!(made.read("s", dropped).await.unwrap(), rest);
        if dropped > 0 {
            let older = made.read("s", dropped - 1).await;
            assert!(matches!(older, Err(Error::Compacted { first, .. }) if first == dropped + 1));
        }
    }
    made.commit(Batch::new().truncate(&s, u64::MAX))
        .await
        .unwrap();
    let state = made.state("s").await.unwrap();
    assert_eq!((state.first, state.last), (11, 10));
    assert_eq!(made.read("s", 10).await.unwrap(), []);
    assert!(matches!(
        made.read("s", 9).await,
        Err(Error::Compacted { first: 11, .. })
    ));
    // Sequence numbers go on after the last event.
    made.commit(Batch::new().append(&s, 10, numbered(11)))
        .await
        .unwrap();
    assert_eq!(made.read("s", 10).await.unwrap(), [(11, "11".to_owned())]);
    made.commit(Batch::new().truncate(&stream("unknown"), 3))
        .await
        .unwrap();
    assert_eq!(made.state("unknown").await, None);
}

pub(crate) async fn replaces_the_payload_of_an_event_and_nothing_else(make: fn() -> Made) {
    let made = make();
    let s = stream("s");
    made.commit(Batch::new().append(&s, 0, numbered(1)))
        .await
        .unwrap();
    made.commit(Batch::new().append(&s, 1, (2..=9).flat_map(numbered).collect()))
        .await
        .unwrap();
    let state = made.state("s").await;
    // In appends of one and of many events, shorter and longer, also of a stream that is finished; and where there is none.
    let batch = Batch::new()
        .replace(&s, 1, "first")
        .replace(&s, 5, "")
        .finish(&s, 1);
    made.commit(batch).await.unwrap();
    let batch = Batch::new()
        .replace(&s, 9, "the last one")
        .replace(&s, 0, "none")
        .replace(&s, 10, "none")
        .replace(&stream("unknown"), 1, "none");
    made.commit(batch).await.unwrap();
    let expected: Vec<_> = (1..=9)
        .map(|n| match n {
            1 => (n, "first".to_owned()),
            5 => (n, String::new()),
            9 => (n, "the last one".to_owned()),
            _ => (n, n.to_string()),
        })
        .collect();
    assert_eq!(made.read("s", 0).await.unwrap(), expected);
    let now = made.state("s").await;
    assert_eq!(now.map(|it| it.last), state.map(|it| it.last));
    assert_eq!(made.state("unknown").await, None);
}

pub(crate) async fn forgets_a_stream_as_if_it_had_never_been(make: fn() -> Made) {
    let made = make();
    let (s, t) = (stream("s"), stream("t"));
    let both = Batch::new()
        .append(&s, 0, events(["a", "b"]))
        .append(&t, 0, events(["x"]));
    made.commit(both.finish(&s, 1)).await.unwrap();
    made.commit(Batch::new().forget(&s).forget(&stream("unknown")))
        .await
        .unwrap();
    assert_eq!(made.state("s").await, None);
    assert_eq!(made.read("s", 0).await.unwrap(), []);
    assert_eq!(
        made.store.read(|view| view.finished_count()).await.unwrap(),
        0
    );
    made.commit(Batch::new().append(&s, 0, events(["c"])))
        .await
        .unwrap();
    assert_eq!(made.read("s", 0).await.unwrap(), [(1, "c".to_owned())]);
    assert_eq!(made.read("t", 0).await.unwrap(), [(1, "x".to_owned())]);
}

pub(crate) async fn lists_finished_streams_the_oldest_first(make: fn() -> Made) {
    let made = make();
    for (name, at) in [("c", 30), ("a", 10), ("d", 40), ("b", 20)] {
        finished(&made, name, at).await;
    }
    made.commit(Batch::new().append(&stream("open"), 0, numbered(1)))
        .await
        .unwrap();
    made.commit(Batch::new().truncate(&stream("b"), 9))
        .await
        .unwrap();
    made.commit(Batch::new().finish(&stream("a"), 25))
        .await
        .unwrap();
    let list = |before, limit| {
        made.store.read(move |view| {
            let names = |(stream, state): &(_, StreamState)| (name(stream), state.finished);
            let all: Vec<_> = view.finished(before, limit)?.iter().map(names).collect();
            let full: Vec<_> = view.compactable(before, limit)?.iter().map(names).collect();
            Ok((all, full, view.finished_count()?))
        })
    };
    let listed = |names: &[(&str, i64)]| {
        names
            .iter()
            .map(|(name, at)| ((*name).to_owned(), Some(*at)))
            .collect::<Vec<_>>()
    };
    let (all, full, count) = list(i64::MAX, 9).await.unwrap();
    assert_eq!(all, listed(&[("b", 20), ("a", 25), ("c", 30), ("d", 40)]));
    assert_eq!(full, listed(&[("a", 25), ("c", 30), ("d", 40)]));
    assert_eq!(count, 4);
    let (all, full, count) = list(40, 2).await.unwrap();
    assert_eq!(all, listed(&[("b", 20), ("a", 25)]));
    assert_eq!(full, listed(&[("a", 25), ("c", 30)]));
    assert_eq!(count, 4);
}

pub(crate) async fn says_what_is_due_by_age(make: fn() -> Made) {
    let made = make();
    for (name, at) in [("a", 1_000), ("b", 2_000), ("c", 3_000), ("d", 4_000)] {
        finished(&made, name, at).await;
    }
    let retention = Retention {
        max_age: Duration::from_secs(8),
        max_count: 100,
        compact_after: Duration::from_secs(6),
    };
    // A stream is due after its time, not exactly at it.
    assert_eq!(
        names(&due_at(&made, retention, 7_000, 9).await),
        (vec![], vec![])
    );
    assert_eq!(
        names(&due_at(&made, retention, 8_001, 9).await),
        (vec![], vec!["a", "b"])
    );
    let later = due_at(&made, retention, 9_001, 9).await;
    assert_eq!(names(&later), (vec!["a"], vec!["b", "c"]));
    assert_eq!(
        names(&due_at(&made, retention, 99_999, 2).await),
        (vec!["a", "b"], vec!["c", "d"])
    );
    let forever = Retention {
        max_age: Duration::MAX,
        compact_after: Duration::MAX,
        ..retention
    };
    assert_eq!(due_at(&made, forever, i64::MAX, 9).await, Due::default());
}

pub(crate) async fn says_what_is_due_by_count(make: fn() -> Made) {
    let made = make();
    for (name, at) in [("a", 1_000), ("b", 2_000), ("c", 3_000), ("d", 4_000)] {
        finished(&made, name, at).await;
    }
    let retention = Retention {
        max_age: Duration::from_secs(100),
        max_count: 2,
        compact_after: Duration::from_secs(100),
    };
    assert_eq!(
        names(&due_at(&made, retention, 5_000, 9).await),
        (vec!["a", "b"], vec![])
    );
    assert_eq!(
        names(&due_at(&made, retention, 5_000, 1).await),
        (vec!["a"], vec![])
    );
    // Age and count both apply; the one that forgets more streams decides.
    assert_eq!(
        names(&due_at(&made, retention, 103_001, 9).await),
        (vec!["a", "b", "c"], vec![])
    );
}

pub(crate) async fn compacts_each_stream_once(make: fn() -> Made) {
    let made = make();
    for number in 0..10 {
        finished(&made, &format!("s{number}"), number).await;
    }
    let retention = Retention {
        max_age: Duration::from_secs(100),
        max_count: 100,
        compact_after: Duration::ZERO,
    };
    let mut rounds = 0;
    loop {
        let due = due_at(&made, retention, 1_000, 3).await;
        if due.compact.is_empty() {
            break;
        }
        rounds += 1;
        let each = due.compact.iter();
        let batch = each.fold(Batch::new(), |batch, (stream, state)| {
            batch.truncate(stream, state.last)
        });
        made.commit(batch).await.unwrap();
    }
    assert_eq!(rounds, 4);
}

async fn finished(made: &Made, name: &str, at: i64) {
    let s = stream(name);
    made.commit(Batch::new().append(&s, 0, numbered(1)).finish(&s, at))
        .await
        .unwrap();
}

async fn due_at(made: &Made, retention: Retention, now: i64, limit: usize) -> Due {
    made.store
        .read(move |view| due(view, &retention, now, limit))
        .await
        .unwrap()
}

fn names(due: &Due) -> (Vec<&str>, Vec<&str>) {
    let forget = due
        .forget
        .iter()
        .map(|(stream, _)| stream.as_str())
        .collect();
    let compact = due
        .compact
        .iter()
        .map(|(stream, _)| stream.as_str())
        .collect();
    (forget, compact)
}

fn name(stream: &store::StreamId) -> String {
    stream.as_str().to_owned()
}

pub(crate) async fn is_copied_whole_into_another_store(make: fn() -> Made) {
    let (made, target) = (make(), make());
    let s = stream("s");
    made.commit(Batch::new().append(&s, 0, (1..=1_500).flat_map(numbered).collect()))
        .await
        .unwrap();
    made.commit(Batch::new().truncate(&s, 700)).await.unwrap();
    finished(&made, "ended", 7).await;
    finished(&made, "emptied", 8).await;
    made.commit(Batch::new().truncate(&stream("emptied"), 1))
        .await
        .unwrap();
    let rows = (0..1_100).map(|number| note(&format!("k{number:04}"), "ada", "new", number));
    made.commit(rows.fold(Batch::new(), |batch, row| batch.put(&NOTES, row)))
        .await
        .unwrap();
    let tables: [&'static store::Table; 2] = [&NOTES, &HEAPS];
    let copied = store::copy(&made.store, &target.store, &tables)
        .await
        .unwrap();
    assert_eq!(
        (copied.streams, copied.events, copied.rows),
        (3, 801, 1_100)
    );
    for name in ["s", "ended", "emptied"] {
        let state = made.state(name).await.unwrap();
        assert_eq!(target.state(name).await, Some(state));
        let after = state.first - 1;
        assert_eq!(
            target.read(name, after).await.unwrap(),
            made.read(name, after).await.unwrap()
        );
    }
    let all = store::Query::of(&NOTES);
    assert_eq!(target.keys(&all).await, made.keys(&all).await);
    assert_eq!(target.row("k0007").await, made.row("k0007").await);
    let again = store::copy(&made.store, &target.store, &tables).await;
    assert!(
        matches!(&again, Err(Error::Occupied { name }) if name == "stream emptied"),
        "{again:?}"
    );
}
