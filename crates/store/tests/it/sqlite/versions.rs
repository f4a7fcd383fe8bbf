//! Files of other versions, and tables with a changed declaration.

use std::fs;
use std::path::Path;

use store::{
    Batch, Column, Durability, Error, Options, Order, Query, Row, Rule, Store, StreamState, Table,
};

use super::outsider;
use crate::support::{Made, NOTES, note, numbered, options, stream, text};

/// The SQL dump of a file written by the first version. Never change it.
const VERSION_1: &str = "
    PRAGMA journal_mode = wal;
    CREATE TABLE stream (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        first INTEGER NOT NULL,
        last INTEGER NOT NULL,
        finished INTEGER
    ) STRICT;
    CREATE INDEX stream_finished ON stream (first > last, finished) WHERE finished IS NOT NULL;
    CREATE TABLE chunk (
        stream INTEGER NOT NULL,
        last INTEGER NOT NULL,
        first INTEGER NOT NULL,
        events BLOB NOT NULL,
        PRIMARY KEY (stream, last)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE t_notes (
        key TEXT NOT NULL PRIMARY KEY,
        owner TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL DEFAULT '',
        time INTEGER NOT NULL DEFAULT 0,
        body BLOB NOT NULL
    ) STRICT;
    INSERT INTO stream VALUES (1, 'open', 1, 3, NULL), (2, 'done', 2, 2, 77), (3, 'gone', 2, 1, 66);
    INSERT INTO chunk VALUES
        (1, 2, 1, x'036f6e650374776f'), (1, 3, 3, x'00'), (2, 2, 2, x'046c617374');
    INSERT INTO t_notes VALUES ('k', 'ada', 'new', 5, CAST('the body of k' AS BLOB));
    PRAGMA application_id = 1299148385;
    PRAGMA user_version = 1;
";

#[tokio::test]
async fn opens_a_file_of_the_first_version() {
    let folder = tempfile::tempdir().unwrap();
    outsider(folder.path()).execute_batch(VERSION_1).unwrap();
    let made = Made::open(folder, Durability::Full);
    let all = [
        (1, "one".to_owned()),
        (2, "two".to_owned()),
        (3, String::new()),
    ];
    assert_eq!(made.read("open", 0).await.unwrap(), all);
    assert_eq!(
        made.read("done", 1).await.unwrap(),
        [(2, "last".to_owned())]
    );
    let gone = StreamState {
        first: 2,
        last: 1,
        finished: Some(66),
    };
    assert_eq!(made.state("gone").await, Some(gone));
    let finished = made
        .store
        .read(|view| view.finished(i64::MAX, 9))
        .await
        .unwrap();
    let finished: Vec<_> = finished.iter().map(|(stream, _)| stream.as_str()).collect();
    assert_eq!(finished, ["gone", "done"]);
    assert_eq!(made.row("k").await, Some(note("k", "ada", "new", 5)));
    let newest = Query::of(&NOTES)
        .equal("owner", "ada")
        .order(Order::Descending("time"));
    assert_eq!(made.keys(&newest).await, ["k"]);
    made.commit(Batch::new().append(&stream("open"), 3, numbered(4)))
        .await
        .unwrap();
    let mut follow = made.store.follow(&stream("open"), 3);
    assert_eq!(
        text(&follow.next().await.unwrap().unwrap()),
        (4, "4".to_owned())
    );
}

#[tokio::test]
async fn writes_the_newest_version_in_the_same_form() {
    let folder = tempfile::tempdir().unwrap();
    Store::open(&options(folder.path())).unwrap().close().await;
    let written = outsider(folder.path());
    let version: u32 = written
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap();
    let fixture = tempfile::tempdir().unwrap();
    let fixture = outsider(fixture.path());
    let only_form = VERSION_1.split("INSERT").next().unwrap();
    fixture.execute_batch(only_form).unwrap();
    let form = |file: &rusqlite::Connection| -> Vec<String> {
        let sql =
            "SELECT sql FROM sqlite_schema WHERE name IN ('stream', 'stream_finished', 'chunk')";
        let mut statement = file.prepare(sql).unwrap();
        let found = statement
            .query_map([], |row| row.get::<_, String>(0))
            .unwrap();
        let words = |sql: String| sql.split_whitespace().collect::<Vec<_>>().join(" ");
        found.map(|sql| words(sql.unwrap())).collect()
    };
    assert_eq!(version, 1, "a new version has a fixture of its own");
    assert_eq!(form(&written), form(&fixture));
}

#[tokio::test]
async fn refuses_a_file_of_a_newer_version_and_leaves_it_alone() {
    let folder = tempfile::tempdir().unwrap();
    Store::open(&options(folder.path())).unwrap().close().await;
    outsider(folder.path())
        .pragma_update(None, "user_version", 7)
        .unwrap();
    let path = folder.path().join("monas.db");
    let before = fs::read(&path).unwrap();
    let error = Store::open(&options(folder.path())).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Newer {
                found: 7,
                known: 1,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .ends_with("its format is 7, and this version reads up to 1; use a newer version")
    );
    assert!(fs::read(&path).unwrap() == before);
}

static PEOPLE: Table = Table {
    name: "people",
    columns: &[Column::text("name"), Column::integer("born")],
    indexes: &[&["name"], &["born"]],
};

fn open(folder: &Path, table: &'static Table) -> Result<Store, Error> {
    Store::open(&Options::new(folder).tables(&[table]))
}

fn person(columns: Vec<store::Value>) -> Row {
    Row {
        key: "1".to_owned(),
        columns,
        body: "Ada".into(),
    }
}

#[tokio::test]
async fn adds_columns_and_changes_indexes() {
    static MORE: Table = Table {
        name: "people",
        columns: &[
            Column::text("town"),
            Column::integer("born"),
            Column::text("name"),
            Column::integer("height"),
        ],
        indexes: &[&["born"], &["town", "height"]],
    };
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), &PEOPLE).unwrap();
    let row = person(vec!["Lovelace".into(), 1815.into()]);
    store.commit(Batch::new().put(&PEOPLE, row)).await.unwrap();
    store.close().await;

    let store = open(folder.path(), &MORE).unwrap();
    let row = person(vec!["".into(), 1815.into(), "Lovelace".into(), 0.into()]);
    assert_eq!(
        store.read(|view| view.row(&MORE, "1")).await.unwrap(),
        Some(row)
    );
    let row = person(vec![
        "London".into(),
        1815.into(),
        "Lovelace".into(),
        160.into(),
    ]);
    store
        .commit(Batch::new().put(&MORE, row.clone()))
        .await
        .unwrap();
    let query = Query::of(&MORE)
        .equal("town", "London")
        .order(Order::Ascending("height"));
    assert_eq!(
        store.read(move |view| view.rows(&query)).await.unwrap(),
        [row]
    );
    store.close().await;
    let file = outsider(folder.path());
    let sql = "SELECT name FROM sqlite_schema WHERE tbl_name = 't_people' AND sql LIKE '%INDEX%' ORDER BY name";
    let mut indexes = file.prepare(sql).unwrap();
    let indexes = indexes
        .query_map([], |row| row.get::<_, String>(0))
        .unwrap();
    let indexes: Vec<_> = indexes.map(Result::unwrap).collect();
    assert_eq!(indexes, ["t_people.born", "t_people.town.height"]);

    // An older declaration still works on the newer file.
    let store = open(folder.path(), &PEOPLE).unwrap();
    let row = person(vec!["Lovelace".into(), 1816.into()]);
    store
        .commit(Batch::new().put(&PEOPLE, row.clone()))
        .await
        .unwrap();
    assert_eq!(
        store.read(|view| view.row(&PEOPLE, "1")).await.unwrap(),
        Some(row)
    );
}

#[tokio::test]
async fn refuses_a_column_that_was_something_else() {
    static OTHER: Table = Table {
        name: "people",
        columns: &[Column::text("born")],
        indexes: &[],
    };
    let folder = tempfile::tempdir().unwrap();
    open(folder.path(), &PEOPLE).unwrap().close().await;
    let error = open(folder.path(), &OTHER).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Declaration {
                table: "people",
                ..
            }
        ),
        "{error:?}"
    );
    assert!(
        error
            .to_string()
            .ends_with("column \"born\" is INTEGER in the file"),
        "{error}"
    );
}

#[tokio::test]
async fn refuses_declarations_that_make_no_sense() {
    static BAD: [Table; 6] = [
        Table {
            name: "Peo ple",
            columns: &[],
            indexes: &[],
        },
        Table {
            name: "people",
            columns: &[Column::text("key")],
            indexes: &[],
        },
        Table {
            name: "people",
            columns: &[Column::text("a"), Column::integer("a")],
            indexes: &[],
        },
        Table {
            name: "people",
            columns: &[Column::text("a")],
            indexes: &[&["b"]],
        },
        Table {
            name: "people",
            columns: &[Column::integer("a").with(Rule::Filled)],
            indexes: &[],
        },
        Table {
            name: "people",
            columns: &[Column::integer("a").with(Rule::Within(2, 1))],
            indexes: &[],
        },
    ];
    let folder = tempfile::tempdir().unwrap();
    for table in &BAD {
        let error = open(folder.path(), table).unwrap_err();
        assert!(matches!(error, Error::Declaration { .. }), "{error:?}");
    }
    assert!(!folder.path().join("monas.db").exists());
}

/// The error was the SQL of the first migration step.
#[tokio::test]
async fn refuses_a_file_without_a_version_in_plain_words() {
    let folder = tempfile::tempdir().unwrap();
    Store::open(&options(folder.path())).unwrap().close().await;
    outsider(folder.path())
        .pragma_update(None, "user_version", 0)
        .unwrap();
    let error = Store::open(&options(folder.path())).unwrap_err();
    let said = error.to_string();
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    assert!(said.contains("its format has no version"), "{said}");
    assert!(!said.contains("CREATE TABLE"), "{said}");
}
