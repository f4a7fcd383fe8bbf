//! Handles on a session, and its end.

use std::future::IntoFuture;
use std::pin::pin;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;

use super::*;
use crate::testing::{Counter, Peers, Raw, Sample, now, show};
use crate::{Any, Promise};

#[tokio::test]
async fn closed_tells_why_a_session_ended() {
    let peers = Peers::new();
    let stub = peers.stub();
    let (mut of_connection, mut of_stub) = (pin!(peers.client.closed()), pin!(stub.closed()));
    assert!(now(of_connection.as_mut()).is_none());
    assert!(now(of_stub.as_mut()).is_none());
    peers.server.abort(Error::range_error("enough"));
    peers.pump();
    assert_eq!(of_connection.await.to_string(), "RangeError: enough");
    assert_eq!(of_stub.await.to_string(), "RangeError: enough");
    // A later caller gets the reason too.
    assert_eq!(
        peers.client.closed().await.to_string(),
        "RangeError: enough"
    );
}

#[tokio::test]
async fn closed_of_a_broken_capability_is_at_once_and_of_a_local_one_never() {
    let broken = Capability::broken(Error::new("no"));
    assert_eq!(broken.closed().await.message(), "no");
    let local = Capability::from_target(Sample::new());
    assert!(now(pin!(local.closed())).is_none());
}

#[test]
fn dropping_the_last_handle_ends_the_session() {
    let sample = Sample::new();
    let connection = Connection::new(Capability::from_target(sample.clone()), &Options::default());
    let shared = connection.shared().clone();
    let remote = connection.remote::<Any>();
    drop(connection);
    assert!(shared.ended().is_none());
    let promise = remote.call("x", ());
    drop(remote);
    assert!(shared.ended().is_none());
    drop(promise);
    let end = shared.ended().expect("nobody holds it");
    assert_eq!(
        end.message(),
        "the session was closed because its last stub was dropped"
    );
    assert_eq!(shared.lock().stats(), Stats::default());
    assert_eq!(Arc::strong_count(&sample), 1);
    shared.receive(r#"["push",["pipeline",0,["note"],[1]]]"#);
    assert_eq!(sample.notes(), "");
}

#[test]
fn the_main_object_is_not_released_when_its_stub_is_dropped() {
    let peers = Peers::new();
    drop(peers.stub());
    assert!(peers.client.take_outgoing().is_empty());
    assert_eq!(peers.call("square", vec![2.into()]), "4.0");
}

#[test]
fn a_session_that_lent_the_peers_object_back_can_end() {
    // The export leads back into the session itself, and was the last to hold it.
    let connection = Connection::new(Capability::from_target(Sample::new()), &Options::default());
    connection.receive(r#"["push",["pipeline",0,["echo"],[["export",-1]]]]"#);
    connection.receive(r#"["pull",1]"#);
    connection.receive(r#"["release",1,1]"#);
    assert_eq!(
        connection.stats(),
        Stats {
            imports: 2,
            exports: 2,
            pending: 0
        }
    );
    let shared = connection.shared().clone();
    drop(connection);
    shared.end(Error::new("the wire was cut"));
    assert_eq!(shared.lock().stats(), Stats::default());
}

#[test]
fn what_the_application_still_holds_fails_after_the_end() {
    let peers = Peers::new();
    let Ok(Value::Stub(counter)) = peers.result(peers.stub().call("counter", (1,))) else {
        panic!("a capability")
    };
    let value = peers.stub().call("echo", (5,));
    assert_eq!(show(peers.result(value.clone())), "5.0");
    peers.client.end(Error::new("the wire was cut"));
    assert_eq!(
        show(peers.result(counter.call("increment", ()))),
        "Error: the wire was cut"
    );
    assert_eq!(
        show(peers.result(peers.client.remote::<Any>().call("x", ()))),
        "Error: the wire was cut"
    );
    // What had arrived is still there.
    assert_eq!(show(peers.result(value)), "5.0");
    peers.server.end(Error::new("the wire was cut"));
}

#[test]
fn a_call_that_is_running_outlives_its_session() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let tasks = Tasks::new();
        let raw = Raw::with(&Options::default().tasks(tasks.clone()));
        raw.feed("[\"push\",[\"pipeline\",0,[\"wait\"],[1]]]\n[\"pull\",1]");
        raw.connection.end(Error::new("the wire was cut"));
        assert_eq!(tasks.len(), 1);
        tokio::task::yield_now().await;
        raw.sample.gate.notify_waiters();
        while !tasks.is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(raw.sent(), "close 3000 the wire was cut");
    });
}

#[test]
fn an_end_in_the_middle_of_everything_leaves_nothing() {
    let sample = Sample::new();
    let peers = Peers::offering(Capability::from_target(sample.clone()), &Options::default());
    let gone = Arc::default();
    let mut promises: Vec<Promise> = vec![
        peers.stub().call("later", ("x",)),
        peers.stub().call("keep", (Counter::stub(1.0, &gone),)),
        peers
            .stub()
            .call("callback", (Counter::stub(1.0, &gone), 1)),
        peers.stub().call("counter", (1,)),
    ];
    promises.push(promises[0].call("increment", (&promises[3],)));
    promises.push(
        peers
            .stub()
            .call("echo", (&promises[4], Counter::stub(1.0, &gone))),
    );
    let mut awaited: Vec<_> = promises
        .iter()
        .cloned()
        .map(|promise| Box::pin(promise.into_future()))
        .collect();
    peers.pump();
    peers.server.end(Error::new("the wire was cut"));
    peers.client.end(Error::new("the wire was cut"));
    assert!(
        awaited
            .iter_mut()
            .all(|promise| now(promise.as_mut()).is_some())
    );
    drop((promises, awaited));
    peers.sample.kept.lock().expect("not poisoned").clear();
    peers.sample.owed.lock().expect("not poisoned").clear();
    assert_eq!(gone.load(std::sync::atomic::Ordering::SeqCst), 3);
    assert_eq!(peers.sample.gone(), 1);
}

#[tokio::test]
async fn outgoing_wakes_the_transport() {
    let peers = Peers::new();
    let mut outgoing = Box::pin(peers.client.outgoing());
    assert!(now(outgoing.as_mut()).is_none());
    drop(peers.stub().call("square", (1,)));
    outgoing.await;
    peers.pump();
    let mut outgoing = Box::pin(peers.client.outgoing());
    while now(outgoing.as_mut()).is_some() {
        outgoing = Box::pin(peers.client.outgoing());
    }
    peers.client.end(Error::new("done"));
    outgoing.await;
    peers.server.end(Error::new("done"));
}

#[tokio::test]
async fn a_pair_is_two_sessions_joined() {
    let options = Options::default();
    let (one, other) = crate::pair(
        Capability::from_target(Sample::new()),
        Capability::nothing(),
        &options,
    );
    let squared = other
        .remote::<Any>()
        .call("square", (5,))
        .await
        .expect("it is answered");
    assert_eq!(squared.as_f64(), Some(25.0));
    while one.stats() != crate::testing::REST || other.stats() != crate::testing::REST {
        tokio::task::yield_now().await;
    }
    drop(other);
    assert_eq!(one.closed().await.message(), "the peer closed the session");
}

#[test]
fn a_transport_that_processes_frames_is_not_woken_for_their_answers() {
    // A task that wakes itself makes the runtime wake another thread.
    let connection = Connection::new(Capability::from_target(Sample::new()), &Options::default());
    let shared = connection.shared();
    let woken = Arc::new(Woken::default());
    let waker = woken.clone().into();
    let task = TaskContext::from_waker(&waker);
    assert!(shared.poll_outgoing(&task).is_pending());
    shared.attend();
    connection.receive(r#"["push",["pipeline",0,["square"],[3]]]"#);
    connection.receive(r#"["pull",1]"#);
    assert_eq!(woken.0.load(Ordering::Relaxed), 0);
    // It learns of them when it looks again, and is woken for later ones.
    assert!(shared.poll_outgoing(&task).is_ready());
    assert_eq!(connection.take_outgoing(), [r#"["resolve",1,9]"#]);
    assert!(shared.poll_outgoing(&task).is_pending());
    connection.receive(r#"["push",["pipeline",0,["square"],[4]]]"#);
    connection.receive(r#"["pull",2]"#);
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
}

/// A waker that counts how often it is called.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
