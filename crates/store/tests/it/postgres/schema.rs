//! The schema: set up once, refused when it is of another release or of another program.

use store::{Batch, Column, Error, Query, Remote, Row, Store, Table};

use super::server::Server;
use crate::support::{NOTES, note};

fn remote(address: &str) -> Remote {
    Remote::new(address).tables(&[&NOTES])
}

fn schema(address: &str) -> &str {
    address.rsplit("%3D").next().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_step_is_refused_with_the_word_that_helps() {
    let server = Server::shared();
    let address = server.new_schema();
    drop(Store::connect(&remote(&address)).unwrap());
    server.run(&format!("UPDATE {}.monas SET step = 0", schema(&address)));
    let refused = Store::connect(&remote(&address)).unwrap_err();
    assert!(
        matches!(
            refused,
            Error::Older {
                found: 0,
                known: 1,
                ..
            }
        ),
        "{refused:?}"
    );
    assert!(refused.to_string().contains("monas migrate"), "{refused}");
    assert_eq!(Store::migrate(&remote(&address)).unwrap(), 1);
    assert_eq!(Store::migrate(&remote(&address)).unwrap(), 0);
    drop(Store::connect(&remote(&address)).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_step_and_the_tables_of_another_program_are_refused() {
    let server = Server::shared();
    let address = server.new_schema();
    drop(Store::connect(&remote(&address)).unwrap());
    server.run(&format!("UPDATE {}.monas SET step = 99", schema(&address)));
    let refused = Store::connect(&remote(&address)).unwrap_err();
    assert!(
        matches!(refused, Error::Newer { found: 99, .. }),
        "{refused:?}"
    );
    let foreign = server.new_schema();
    server.run(&format!(
        "CREATE TABLE {}.orders (id int)",
        schema(&foreign)
    ));
    let refused = Store::connect(&remote(&foreign)).unwrap_err();
    assert!(
        matches!(&refused, Error::Corrupt { problem, .. } if problem.contains("orders")),
        "{refused:?}"
    );
}

/// A later release of [`NOTES`].
static LATER: Table = Table {
    name: "notes",
    columns: &[
        Column::text("owner"),
        Column::text("state"),
        Column::integer("time"),
        Column::integer("weight"),
    ],
    indexes: &[&["owner", "weight"]],
};

#[tokio::test(flavor = "multi_thread")]
async fn a_later_release_adds_its_columns() {
    let address = Server::shared().new_schema();
    let store = Store::connect(&remote(&address)).unwrap();
    store
        .commit(Batch::new().put(&NOTES, note("k", "ada", "new", 7)))
        .await
        .unwrap();
    drop(store);
    let later = Store::connect(&Remote::new(&address).tables(&[&LATER])).unwrap();
    let row = later
        .read(|view| view.row(&LATER, "k"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        row.columns,
        vec!["ada".into(), "new".into(), 7.into(), 0.into()]
    );
    let heavier = Row {
        columns: vec!["ada".into(), "new".into(), 7.into(), 9.into()],
        ..row
    };
    later
        .commit(Batch::new().put(&LATER, heavier))
        .await
        .unwrap();
    let heavy = Query::of(&LATER)
        .equal("owner", "ada")
        .at_least("weight", 9);
    assert_eq!(later.read(move |view| view.count(&heavy)).await.unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_is_the_same_is_not_written() {
    let server = Server::shared();
    let address = server.new_schema();
    let store = Store::connect(&remote(&address)).unwrap();
    let place = || server.ask(&format!("SELECT ctid FROM {}.t_notes", schema(&address)));
    store
        .commit(Batch::new().put(&NOTES, note("k", "ada", "new", 7)))
        .await
        .unwrap();
    let first = place();
    store
        .commit(Batch::new().put(&NOTES, note("k", "ada", "new", 7)))
        .await
        .unwrap();
    assert_eq!(place(), first);
    store
        .commit(Batch::new().put(&NOTES, note("k", "ada", "new", 8)))
        .await
        .unwrap();
    assert_ne!(place(), first);
}
