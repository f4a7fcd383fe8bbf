//! The connection is lost, the server is killed and started again: nothing acknowledged is lost, nothing is doubled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use store::{Batch, Error, Remote, Store};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::server::Server;
use crate::support::{NOTES, note, numbered, stream};

const LONG: Duration = Duration::from_secs(60);

/// Appends to a stream of its own until it is told to stop, and gives the number of events that were acknowledged.
async fn write(store: Store, name: String, stop: Arc<AtomicBool>) -> (String, u64) {
    let s = stream(&name);
    let mut last = 0;
    while !stop.load(Ordering::Relaxed) {
        let batch = Batch::new().append(&s, last, numbered(last + 1));
        let batch = batch.put(&NOTES, note(&name, "ada", "new", last as i64 + 1));
        store
            .commit(batch)
            .await
            .unwrap_or_else(|error| panic!("{name} after {last}: {error}"));
        last += 1;
    }
    (name, last)
}

/// Checks that a stream has exactly the events that its writer counted, and that its row is of the last of them.
async fn check(store: &Store, name: &str, last: u64) {
    let s = stream(name);
    let key = name.to_owned();
    let read =
        store.read(move |view| Ok((view.events(&s, 0, usize::MAX)?, view.row(&NOTES, &key)?)));
    let (events, row) = read.await.unwrap();
    let numbers: Vec<_> = events
        .iter()
        .map(|entry| String::from_utf8_lossy(entry.payload()).into_owned())
        .collect();
    assert_eq!(
        numbers,
        (1..=last)
            .map(|number| number.to_string())
            .collect::<Vec<_>>(),
        "{name}"
    );
    assert_eq!(row.unwrap().columns[2], (last as i64).into());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_killed_server_costs_a_wait_and_nothing_else() {
    let server = Server::start(&[]);
    server.run("CREATE SCHEMA mine");
    let store = Store::connect(&Remote::new(server.address("mine")).tables(&[&NOTES])).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for number in 0..16 {
        writers.spawn(write(
            store.clone(),
            format!("w{number}"),
            Arc::clone(&stop),
        ));
    }
    let mut follower = store.follow(&stream("w0"), 0);
    let (following, followed) = (
        Arc::clone(&stop),
        tokio::spawn(async move {
            let mut seen = 0;
            loop {
                match timeout(LONG, follower.next()).await.unwrap() {
                    Some(Ok(entry)) => {
                        seen += 1;
                        assert_eq!(entry.sequence(), seen);
                    }
                    // A page that is torn by the loss is read again.
                    Some(Err(Error::Away { .. })) => {}
                    Some(Err(error)) => panic!("{error}"),
                    None => return seen,
                }
            }
        }),
    );
    let mut server = server;
    for _round in 0..3 {
        sleep(Duration::from_millis(300)).await;
        server.kill();
        let away = timeout(LONG, async {
            while store.check_writable().await.is_ok() {
                sleep(Duration::from_millis(10)).await;
            }
            store.check_writable().await
        });
        let away = away.await.unwrap();
        assert!(matches!(away, Err(Error::Away { .. })), "{away:?}");
        server.resume();
        let back = timeout(LONG, async {
            while store.check_writable().await.is_err() {
                sleep(Duration::from_millis(10)).await;
            }
        });
        back.await.unwrap();
    }
    sleep(Duration::from_millis(300)).await;
    following.store(true, Ordering::Relaxed);
    let mut first = 0;
    while let Some(written) = timeout(LONG, writers.join_next()).await.unwrap() {
        let (name, last) = written.unwrap();
        assert!(last > 0);
        if name == "w0" {
            first = last;
        }
        check(&store, &name, last).await;
    }
    store.close().await;
    assert_eq!(followed.await.unwrap(), first);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn connections_that_are_cut_are_made_again() {
    let server = Server::shared();
    let address = server.new_schema();
    let mut remote = Remote::new(format!("{address}&application_name=cut-here")).tables(&[&NOTES]);
    remote.readers = 2;
    let store = Store::connect(&remote).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers = JoinSet::new();
    for number in 0..8 {
        writers.spawn(write(
            store.clone(),
            format!("w{number}"),
            Arc::clone(&stop),
        ));
    }
    for _cut in 0..20 {
        sleep(Duration::from_millis(50)).await;
        // A read before and after: an idle connection that was cut is no failure.
        store.read(|view| view.stream(&stream("w0"))).await.unwrap();
        server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut-here'");
        store.read(|view| view.stream(&stream("w0"))).await.unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    while let Some(written) = timeout(LONG, writers.join_next()).await.unwrap() {
        let (name, last) = written.unwrap();
        check(&store, &name, last).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_does_not_wait_for_a_server_that_stays_away() {
    let mut server = Server::start(&[]);
    server.run("CREATE SCHEMA mine");
    let store = Store::connect(&Remote::new(server.address("mine")).tables(&[&NOTES])).unwrap();
    server.kill();
    let waiting = store.commit(Batch::new().append(&stream("s"), 0, numbered(1)));
    timeout(LONG, store.close()).await.unwrap();
    let answer = waiting.await;
    assert!(matches!(answer, Err(Error::Away { .. })), "{answer:?}");
}
