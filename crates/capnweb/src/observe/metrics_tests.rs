//! What is counted.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::*;
use crate::testing::Peers;
use crate::{Any, Capability, Connection, Options, Tasks, target};

struct Shop;

#[target(pub(crate))]
impl Shop {
    pub fn price(&self, item: String) -> Result<f64> {
        match item.as_str() {
            "tea" => Ok(2.5),
            _ => Err(Error::range_error("no such item")),
        }
    }

    /// Takes so many seconds.
    pub async fn brew(&self, seconds: u32) -> String {
        tokio::time::sleep(Duration::from_secs(seconds.into())).await;
        "x".repeat(1000)
    }

    #[method(cancel)]
    pub async fn wait(&self) {
        std::future::pending().await
    }
}

fn shop(options: &Options) -> Peers {
    let mut peers = Peers::new();
    peers.server = Connection::new(Shop.into_stub(), options);
    peers
}

/// Compares the counts, one name on each line.
#[expect(clippy::needless_pass_by_value, reason = "so that tests read well")]
fn check(metrics: &Metrics, expected: Expect) {
    let mut lines = String::new();
    for calls in metrics.snapshot().calls {
        let CallStats {
            interface,
            member,
            in_flight,
            succeeded,
            failed,
            cancelled,
            ..
        } = calls;
        writeln!(
            lines,
            "{interface}.{member}: {in_flight} running, {succeeded} ok, {failed} failed, {cancelled} cancelled"
        )
        .expect("a string takes it");
    }
    expected.assert_eq(&lines);
}

#[tokio::test(start_paused = true)]
async fn calls_are_counted_by_name_and_outcome() {
    let metrics = Metrics::new();
    let peers = shop(&Options::default().metrics(&metrics));
    let stub = peers.stub();
    peers
        .result(stub.call("price", ("tea",)))
        .expect("it has a price");
    peers
        .result(stub.call("price", ("gold",)))
        .expect_err("none");
    peers
        .result(stub.call("prize", ("tea",)))
        .expect_err("none");
    peers
        .result(stub.call("x".repeat(100).as_str(), ()))
        .expect_err("none");
    let waiting = stub.call("wait", ());
    let brewing = stub.call("brew", (7,));
    peers.pump();
    check(
        &metrics,
        expect![[r#"
            Shop.brew: 1 running, 0 ok, 0 failed, 0 cancelled
            Shop.other: 0 running, 0 ok, 2 failed, 0 cancelled
            Shop.price: 0 running, 1 ok, 1 failed, 0 cancelled
            Shop.wait: 1 running, 0 ok, 0 failed, 0 cancelled
        "#]],
    );
    drop(waiting);
    peers.wait(brewing).await.expect("it is done");
    check(
        &metrics,
        expect![[r#"
            Shop.brew: 0 running, 1 ok, 0 failed, 0 cancelled
            Shop.other: 0 running, 0 ok, 2 failed, 0 cancelled
            Shop.price: 0 running, 1 ok, 1 failed, 0 cancelled
            Shop.wait: 0 running, 0 ok, 0 failed, 1 cancelled
        "#]],
    );
}

#[tokio::test(start_paused = true)]
async fn time_and_bytes_are_added_up() {
    let metrics = Metrics::new();
    let peers = shop(&Options::default().metrics(&metrics));
    for seconds in [3, 1, 20] {
        let promise = peers.stub().call("brew", (seconds,));
        peers.wait(promise).await.expect("it is done");
    }
    let snapshot = metrics.snapshot();
    let [brew] = snapshot.calls.as_slice() else {
        panic!("one name was called");
    };
    assert_eq!(brew.time.as_secs(), 24);
    assert_eq!(brew.longest.as_secs(), 20);
    assert_eq!(brew.times, [0, 0, 0, 0, 0, 0, 1, 1, 1]);
    assert!((3..300).contains(&brew.argument_bytes));
    assert!((3000..4000).contains(&brew.answer_bytes));
}

#[tokio::test]
async fn a_call_that_is_dropped_counts_as_cancelled() {
    let (metrics, tasks) = (Metrics::new(), Tasks::new());
    let options = Options::default().tasks(tasks.clone()).metrics(&metrics);
    let peers = shop(&options);
    let promise = peers.stub().call("brew", (3,));
    peers.pump();
    tasks.stop().await;
    check(
        &metrics,
        expect![[r#"
            Shop.brew: 0 running, 0 ok, 0 failed, 1 cancelled
        "#]],
    );
    drop(promise);
}

#[test]
fn sessions_and_their_tables_are_counted_while_they_are_open() {
    let metrics = Metrics::new();
    let options = Options::default().metrics(&metrics);
    let read = || {
        let snapshot = metrics.snapshot();
        (
            snapshot.sessions,
            snapshot.tables.imports,
            snapshot.tables.exports,
        )
    };
    assert_eq!(read(), (0, 0, 0));
    let one = Connection::new(Shop.into_stub(), &options);
    let other = Connection::new(Shop.into_stub(), &options);
    assert_eq!(read(), (2, 2, 2));
    one.receive(r#"["push",["pipeline",0,["price"],["tea"]]]"#);
    other.receive(r#"["push",["pipeline",0,["price"],["tea"]]]"#);
    one.receive(r#"["pull",1]"#);
    assert_eq!(read(), (2, 2, 4));
    let stub = one.remote::<Any>();
    let promise = stub.call("x", ());
    assert_eq!(read(), (2, 3, 4));
    // A session that has ended is not open, also while handles are left.
    one.end(Error::new("over"));
    assert_eq!(read(), (1, 1, 2));
    drop((one, other, stub, promise));
    assert_eq!(read(), (0, 0, 0));
    assert_eq!(metrics.snapshot().sessions_opened, 2);
    assert!(metrics.sessions().open.is_empty());
}

#[test]
fn two_servers_of_one_process_are_counted_apart() {
    let (one, other) = (Metrics::new(), Metrics::new());
    let peers = shop(&Options::default().metrics(&one));
    peers
        .result(peers.stub().call("price", ("tea",)))
        .expect("it has a price");
    assert_eq!(one.snapshot().calls.len(), 1);
    assert_eq!(other.snapshot(), Snapshot::default());
}

#[test]
fn functions_count_under_their_own_name() {
    let metrics = Metrics::new();
    let function = Capability::from_fn(|_arguments| async { 1 });
    let connection = Connection::new(function, &Options::default().metrics(&metrics));
    connection.receive(r#"["push",["pipeline",0,[],[]]]"#);
    check(
        &metrics,
        expect![[r#"
            Function.: 0 running, 1 ok, 0 failed, 0 cancelled
        "#]],
    );
}
