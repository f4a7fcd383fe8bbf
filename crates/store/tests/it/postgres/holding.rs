//! One node has the database; a later one fences what is left of it.

use std::time::{Duration, Instant};

use store::{Batch, Error, Remote, Store};

use super::server::Server;
use crate::support::{NOTES, numbered, stream};

fn connect(address: &str, holder: &str) -> Result<Store, Error> {
    let mut remote = Remote::new(address).tables(&[&NOTES]);
    remote.holder = holder.to_owned();
    Store::connect(&remote)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_node_is_refused_with_the_name_of_the_first() {
    let address = Server::shared().new_schema();
    let first = connect(&address, "the first node").unwrap();
    let second = connect(&address, "the second node");
    assert!(
        matches!(&second, Err(Error::InUse { by, .. }) if by == "the first node"),
        "{second:?}"
    );
    first
        .commit(Batch::new().append(&stream("s"), 0, numbered(1)))
        .await
        .unwrap();
    first.close().await;
    drop(first);
    let since = Instant::now();
    let later = connect(&address, "a later node").unwrap();
    assert!(
        since.elapsed() < Duration::from_secs(4),
        "the lease of a node that has ended is over"
    );
    let last = later.read(|view| view.stream(&stream("s"))).await.unwrap();
    assert_eq!(last.map(|state| state.last), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fenced_node_writes_nothing_and_says_so() {
    let server = Server::shared();
    let address = server.new_schema();
    let schema = address.rsplit("%3D").next().unwrap();
    let store = connect(&address, "a node").unwrap();
    store.check_writable().await.unwrap();
    server.run(&format!(
        "UPDATE {schema}.lane SET fenced = true; UPDATE {schema}.node SET state = 3"
    ));
    let late = store
        .commit(Batch::new().append(&stream("s"), 0, numbered(1)))
        .await;
    assert!(matches!(late, Err(Error::Fenced)), "{late:?}");
    assert!(matches!(store.check_writable().await, Err(Error::Fenced)));
    let found = store.read(|view| view.stream(&stream("s"))).await.unwrap();
    assert_eq!(found, None);
}
