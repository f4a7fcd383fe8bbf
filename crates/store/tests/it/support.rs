//! Stores under test, and helpers that the scenarios share.

use std::path::Path;

use store::{
    Batch, Column, Durability, Entry, Error, NewEvent, Options, Query, Row, Rule, Store, StreamId,
    StreamState, Table,
};
use tempfile::TempDir;

/// A table with indexes by owner and time, by owner, and by state.
pub(crate) static NOTES: Table = Table {
    name: "notes",
    columns: &[
        Column::text("owner"),
        Column::text("state"),
        Column::integer("time"),
    ],
    indexes: &[
        &["owner", "time"],
        &["owner"],
        &["state", "time"],
        &["time"],
    ],
};

/// The same columns without an index.
pub(crate) static HEAPS: Table = Table {
    name: "heaps",
    columns: NOTES.columns,
    indexes: &[],
};

/// A table with rules on its columns.
pub(crate) static CLAIMS: Table = Table {
    name: "claims",
    columns: &[
        Column::text("source").with(Rule::Filled),
        Column::text("layer").with(Rule::OneOf(&["belief", "reader's"])),
        Column::integer("weight").with(Rule::Within(0, 1000)),
    ],
    indexes: &[],
};

/// A store under test, and its folder if it has one.
pub(crate) struct Made {
    pub(crate) store: Store,
    _folder: Option<TempDir>,
}

impl Made {
    pub(crate) fn memory() -> Self {
        let store = Store::memory(&[&NOTES, &HEAPS, &CLAIMS]);
        let _folder = None;
        Self { store, _folder }
    }

    pub(crate) fn sqlite_full() -> Self {
        Self::sqlite(Durability::Full)
    }

    pub(crate) fn sqlite_normal() -> Self {
        Self::sqlite(Durability::Normal)
    }

    fn sqlite(durability: Durability) -> Self {
        Self::open(tempfile::tempdir().unwrap(), durability)
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn postgres() -> Self {
        let address = crate::postgres::server::Server::shared().new_schema();
        let remote = store::Remote::new(address).tables(&[&NOTES, &HEAPS, &CLAIMS]);
        let store = Store::connect(&remote).unwrap();
        let _folder = None;
        Self { store, _folder }
    }

    /// Opens the store in a folder, empty or not.
    pub(crate) fn open(folder: TempDir, durability: Durability) -> Self {
        let store = Store::open(&options(folder.path()).durability(durability)).unwrap();
        let _folder = Some(folder);
        Self { store, _folder }
    }
}

/// Options for a folder with the tables above.
pub(crate) fn options(folder: &Path) -> Options {
    Options::new(folder).tables(&[&NOTES, &HEAPS, &CLAIMS])
}

pub(crate) fn stream(name: &str) -> StreamId {
    StreamId::new(name)
}

pub(crate) fn events<const N: usize>(texts: [&str; N]) -> Vec<NewEvent> {
    let events = texts.map(|text| NewEvent::new(text.as_bytes().to_vec()));
    events.into_iter().collect()
}

/// One event with its number as the payload.
pub(crate) fn numbered(sequence: u64) -> Vec<NewEvent> {
    vec![NewEvent::new(sequence.to_string())]
}

pub(crate) fn note(key: &str, owner: &str, state: &str, time: i64) -> Row {
    Row {
        key: key.to_owned(),
        columns: vec![owner.into(), state.into(), time.into()],
        body: format!("the body of {key}").into(),
    }
}

pub(crate) fn text(entry: &Entry) -> (u64, String) {
    let payload = entry.payload().to_vec();
    (entry.sequence(), String::from_utf8(payload).unwrap())
}

/// Shorthands for reading.
impl Made {
    pub(crate) async fn commit(&self, batch: Batch) -> Result<(), Error> {
        self.store.commit(batch).await
    }

    pub(crate) async fn state(&self, name: &str) -> Option<StreamState> {
        let stream = stream(name);
        self.store
            .read(move |view| view.stream(&stream))
            .await
            .unwrap()
    }

    pub(crate) async fn read(&self, name: &str, after: u64) -> Result<Vec<(u64, String)>, Error> {
        let stream = stream(name);
        let read = self
            .store
            .read(move |view| view.events(&stream, after, usize::MAX))
            .await?;
        Ok(read.iter().map(|entry| text(entry)).collect())
    }

    pub(crate) async fn row(&self, key: &str) -> Option<Row> {
        let key = key.to_owned();
        self.store
            .read(move |view| view.row(&NOTES, &key))
            .await
            .unwrap()
    }

    pub(crate) async fn keys(&self, query: &Query) -> Vec<String> {
        let query = query.clone();
        let rows = self
            .store
            .read(move |view| view.rows(&query))
            .await
            .unwrap();
        rows.into_iter().map(|row| row.key).collect()
    }
}
