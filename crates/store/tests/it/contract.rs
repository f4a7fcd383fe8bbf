//! What any engine has to fulfil. Each scenario is written once, for a function that makes an empty store.

use std::sync::Arc;

use store::{
    Batch, Column, Durability, Error, NewEvent, Options, Order, Query, Row, Store, StreamId,
    StreamState, Table, Value,
};
use tempfile::TempDir;

pub(crate) static NOTES: Table = Table {
    name: "notes",
    columns: &[Column::text("owner"), Column::integer("time")],
    indexes: &[&["owner", "time"]],
};

/// A store, and the folder that lives as long as it.
pub(crate) struct Made {
    pub(crate) store: Store,
    _folder: Option<TempDir>,
}

fn memory() -> Made {
    Made {
        store: Store::memory(&[&NOTES]),
        _folder: None,
    }
}

fn sqlite() -> Made {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new(folder.path())
        .tables(&[&NOTES])
        .durability(Durability::Normal);
    Made {
        store: Store::open(&options).unwrap(),
        _folder: Some(folder),
    }
}

fn events(texts: &[&str]) -> Vec<NewEvent> {
    texts
        .iter()
        .map(|text| NewEvent::new(text.as_bytes().to_vec()))
        .collect()
}

async fn first(made: Made) {
    let store = &made.store;
    let s = StreamId::new("s");
    let row = Row {
        key: "k".into(),
        columns: vec!["me".into(), 3.into()],
        body: "b".into(),
    };
    let mut follow = store.follow(&s, 0);
    store
        .commit(
            Batch::new()
                .append(&s, 0, events(&["a", "b"]))
                .insert(&NOTES, row.clone()),
        )
        .await
        .unwrap();
    assert!(matches!(
        store
            .commit(Batch::new().append(&s, 1, events(&["c"])))
            .await,
        Err(Error::Conflict {
            expected: 1,
            found: 2,
            ..
        })
    ));
    store
        .commit(Batch::new().append(&s, 2, events(&["c"])))
        .await
        .unwrap();
    for (text, n) in ["a", "b", "c"].iter().zip(1..) {
        let entry = follow.next().await.unwrap().unwrap();
        assert_eq!(
            (entry.sequence(), &entry.payload()[..]),
            (n, text.as_bytes())
        );
    }
    let query = Query::of(&NOTES)
        .equal("owner", "me")
        .order(Order::Descending("time"))
        .limit(3);
    let rows = store.read(move |view| view.rows(&query)).await.unwrap();
    assert_eq!(rows, [row]);
    store
        .commit(Batch::new().finish(&s, 5).truncate(&s, 1))
        .await
        .unwrap();
    let (t, u) = (s.clone(), s.clone());
    let state = store
        .read(move |view| view.stream(&t))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        state,
        StreamState {
            first: 2,
            last: 3,
            finished: Some(5)
        }
    );
    assert!(matches!(
        store.read(move |v| v.events(&u, 0, 9)).await,
        Err(Error::Compacted { first: 2, .. })
    ));
    store.commit(Batch::new().forget(&s)).await.unwrap();
    assert!(follow.next().await.is_none());
    store.close().await;
    assert!(matches!(
        store.commit(Batch::new()).await,
        Err(Error::Closed)
    ));
    let _: (Arc<()>, Value) = (Arc::new(()), 3.into());
}

#[tokio::test]
async fn memory_first() {
    first(memory()).await;
}

#[tokio::test]
async fn sqlite_first() {
    first(sqlite()).await;
}
