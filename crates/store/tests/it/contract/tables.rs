//! Tables: rows by key, and rows by query.

use store::{Batch, Column, Error, Order, Query, Row, Table};

use crate::support::{CLAIMS, HEAPS, Made, NOTES, note, numbered, stream};

pub(crate) async fn puts_replaces_and_deletes_rows(make: fn() -> Made) {
    let made = make();
    made.commit(Batch::new().put(&NOTES, note("k", "ada", "new", 1)))
        .await
        .unwrap();
    assert_eq!(made.row("k").await, Some(note("k", "ada", "new", 1)));
    let other = Row {
        body: "".into(),
        ..note("k", "eve", "ünïcode", i64::MIN)
    };
    made.commit(Batch::new().put(&NOTES, other.clone()))
        .await
        .unwrap();
    assert_eq!(made.row("k").await, Some(other));
    let by = |owner: &str| Query::of(&NOTES).equal("owner", owner);
    assert_eq!(made.keys(&by("ada")).await, [""; 0]);
    assert_eq!(made.keys(&by("eve")).await, ["k"]);
    made.commit(Batch::new().delete(&NOTES, "k").delete(&NOTES, "absent"))
        .await
        .unwrap();
    assert_eq!(made.row("k").await, None);
    assert_eq!(made.keys(&by("eve")).await, [""; 0]);
}

pub(crate) async fn inserts_only_what_is_not_there(make: fn() -> Made) {
    let made = make();
    let insert = |time| Batch::new().insert(&NOTES, note("k", "ada", "new", time));
    made.commit(insert(1)).await.unwrap();
    let refused = made.commit(insert(2)).await;
    assert!(matches!(refused, Err(Error::Exists { table: "notes", key }) if key == "k"));
    assert_eq!(made.row("k").await, Some(note("k", "ada", "new", 1)));
    made.commit(Batch::new().delete(&NOTES, "k")).await.unwrap();
    made.commit(insert(3)).await.unwrap();
    // The same key in another table is a different row.
    made.commit(Batch::new().insert(&HEAPS, note("k", "ada", "new", 1)))
        .await
        .unwrap();
}

pub(crate) async fn pages_in_both_directions(make: fn() -> Made) {
    let made = make();
    let mut batch = Batch::new();
    // Several rows share a time, so that pages end in the middle of them.
    for number in 0..60 {
        let (owner, time) = (if number % 3 == 0 { "eve" } else { "ada" }, number / 7);
        batch = batch.put(
            &NOTES,
            note(&format!("k{:02}", (number * 7) % 60), owner, "new", time),
        );
    }
    made.commit(batch).await.unwrap();
    let whole = Query::of(&NOTES)
        .equal("owner", "ada")
        .order(Order::Ascending("time"));
    let upwards = made.keys(&whole).await;
    assert_eq!(upwards.len(), 40);
    let mut downwards = made.keys(&whole.order(Order::Descending("time"))).await;
    downwards.reverse();
    assert_eq!(downwards, upwards);
    for order in [Order::Ascending("time"), Order::Descending("time")] {
        let query = Query::of(&NOTES)
            .equal("owner", "ada")
            .order(order)
            .limit(3);
        let mut paged = Vec::new();
        let mut page = made.keys(&query).await;
        while let Some(last) = page.last() {
            let Some(row) = made.row(last).await else {
                panic!("a row that was listed is there");
            };
            let store::Value::Integer(time) = row.columns[2] else {
                panic!("times are numbers");
            };
            let next = query.clone().after(time, last);
            paged.append(&mut page);
            page = made.keys(&next).await;
        }
        if order == Order::Descending("time") {
            paged.reverse();
        }
        assert_eq!(paged, upwards);
    }
    let mut by_key = Vec::new();
    let query = Query::of(&NOTES).limit(7);
    let mut page = made.keys(&query).await;
    while let Some(last) = page.last() {
        let next = query.clone().after_key(last);
        by_key.append(&mut page);
        page = made.keys(&next).await;
    }
    let all: Vec<_> = (0..60).map(|number| format!("k{number:02}")).collect();
    assert_eq!(by_key, all);
}

pub(crate) async fn counts_without_regard_to_the_page(make: fn() -> Made) {
    let made = make();
    let mut batch = Batch::new();
    for time in 0..10 {
        let state = if time % 2 == 0 { "new" } else { "done" };
        batch = batch.put(&NOTES, note(&time.to_string(), "ada", state, time));
    }
    made.commit(batch).await.unwrap();
    let query = Query::of(&NOTES)
        .equal("owner", "ada")
        .equal("state", "new")
        .at_least("time", 3);
    let page = query.order(Order::Descending("time")).after(7, "").limit(1);
    assert_eq!(made.keys(&page).await, ["6"]);
    assert_eq!(
        made.store
            .read(move |view| view.count(&page))
            .await
            .unwrap(),
        3
    );
}

pub(crate) async fn refuses_what_was_not_declared(make: fn() -> Made) {
    static STRANGE: Table = Table {
        name: "strange",
        columns: &[Column::integer("time")],
        indexes: &[],
    };
    let made = make();
    let misfits = [
        Batch::new().delete(&STRANGE, "k"),
        Batch::new().put(
            &NOTES,
            Row {
                columns: vec![1.into()],
                ..note("k", "", "", 1)
            },
        ),
        Batch::new().insert(
            &NOTES,
            Row {
                columns: vec![1.into(), 2.into(), 3.into()],
                ..note("k", "", "", 1)
            },
        ),
    ];
    for misfit in misfits {
        assert!(matches!(
            made.commit(misfit).await,
            Err(Error::Declaration { .. })
        ));
    }
    let questions = [
        Query::of(&STRANGE),
        Query::of(&NOTES).equal("colour", "red"),
        Query::of(&NOTES).equal("owner", 3),
        Query::of(&NOTES).at_least("owner", 3),
        Query::of(&NOTES).order(Order::Ascending("state")),
        Query::of(&NOTES).after(3, "k"),
        Query::of(&NOTES)
            .order(Order::Ascending("time"))
            .after_key("k"),
    ];
    for question in questions {
        let asked = made.store.read(move |view| view.rows(&question)).await;
        assert!(matches!(asked, Err(Error::Declaration { .. })), "{asked:?}");
    }
    let asked = made.store.read(|view| view.row(&STRANGE, "k")).await;
    assert!(matches!(
        asked,
        Err(Error::Declaration {
            table: "strange",
            ..
        })
    ));
}

pub(crate) async fn refuses_what_breaks_a_rule(make: fn() -> Made) {
    let made = make();
    let claim = |source: &str, layer: &str, weight: i64| Row {
        key: "k".into(),
        columns: vec![source.into(), layer.into(), weight.into()],
        body: "".into(),
    };
    for broken in [
        claim("", "belief", 1),
        claim(" \n", "belief", 1),
        claim("ada", "rumour", 1),
        claim("ada", "belief", -1),
        claim("ada", "belief", 1001),
    ] {
        let put = made.commit(Batch::new().put(&CLAIMS, broken.clone())).await;
        assert!(
            matches!(
                put,
                Err(Error::Declaration {
                    table: "claims",
                    ..
                })
            ),
            "{put:?}"
        );
        let insert = made.commit(Batch::new().insert(&CLAIMS, broken)).await;
        assert!(
            matches!(insert, Err(Error::Declaration { .. })),
            "{insert:?}"
        );
    }
    for whole in [claim("ada", "belief", 0), claim("ada", "reader's", 1000)] {
        made.commit(Batch::new().put(&CLAIMS, whole)).await.unwrap();
    }
}

pub(crate) async fn refuses_texts_with_nul(make: fn() -> Made) {
    let made = make();
    let bad = stream("a\0b");
    for batch in [
        Batch::new().append(&bad, 0, numbered(1)),
        Batch::new().finish(&bad, 1),
        Batch::new().forget(&bad),
        Batch::new().truncate(&bad, 1),
        Batch::new().replace(&bad, 1, "x"),
        Batch::new().put(&NOTES, note("k\0", "ada", "new", 1)),
        Batch::new().insert(&NOTES, note("k", "a\0da", "new", 1)),
        Batch::new().delete(&NOTES, "k\0"),
    ] {
        let refused = made.commit(batch).await;
        assert!(matches!(refused, Err(Error::Nul { .. })), "{refused:?}");
    }
    // There is nothing by such a name.
    assert_eq!(made.state("a\0b").await, None);
    assert_eq!(made.read("a\0b", 0).await.unwrap(), []);
    assert_eq!(made.row("k\0").await, None);
    let by = Query::of(&NOTES).equal("owner", "a\0da");
    assert_eq!(made.keys(&by).await, [""; 0]);
    // A body and the payload of an event may have it.
    let whole = Row {
        body: "a\0b".into(),
        ..note("k", "ada", "new", 1)
    };
    made.commit(Batch::new().put(&NOTES, whole.clone()))
        .await
        .unwrap();
    assert_eq!(made.row("k").await, Some(whole));
}
