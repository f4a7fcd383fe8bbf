//! How handlers end before their end.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

use crate::testing::{Peers, Raw, Sample, now};
use crate::{
    Any, Call, CallResult, Capability, Connection, Error, Layer, Limits, Next, Options, Result,
    Stub, Tasks, target,
};

use super::*;

/// How many calls have begun, and how many were dropped before they ended.
#[derive(Clone, Default)]
struct Watch {
    begun: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
    go: Arc<Notify>,
}

impl Watch {
    fn counts(&self) -> (usize, usize) {
        let read = |count: &AtomicUsize| count.load(Ordering::SeqCst);
        (read(&self.begun), read(&self.dropped))
    }

    async fn work(&self) -> &'static str {
        struct Guard(Arc<AtomicUsize>);

        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }

        self.begun.fetch_add(1, Ordering::SeqCst);
        let guard = Guard(self.dropped.clone());
        self.go.notified().await;
        // Only a call that was dropped counts as dropped.
        std::mem::forget(guard);
        "done"
    }
}

struct Worker {
    watch: Watch,
    made: Arc<AtomicUsize>,
}

#[target(pub(crate))]
impl Worker {
    /// Stops when nobody wants its result.
    #[method(cancel)]
    pub async fn stopping(&self) -> String {
        self.watch.work().await.to_owned()
    }

    /// Runs on.
    pub async fn steady(&self) -> String {
        self.watch.work().await.to_owned()
    }

    /// Stops when nobody wants its result, which is an object.
    #[method(cancel)]
    pub async fn make(&self) -> Made {
        self.watch.work().await;
        Made(self.made.clone())
    }

    pub fn numbers(&self) -> Vec<u32> {
        vec![1, 2]
    }

    pub fn quick(&self, word: String) -> usize {
        word.len()
    }
}

struct Made(Arc<AtomicUsize>);

#[target(pub(crate))]
impl Made {
    pub fn used(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A server with a [`Worker`], and its client.
struct Working {
    peers: Peers,
    watch: Watch,
    made: Arc<AtomicUsize>,
}

impl Working {
    fn with(options: &Options) -> Self {
        let (watch, made) = (Watch::default(), Arc::default());
        let worker = Worker {
            watch: watch.clone(),
            made: Arc::clone(&made),
        };
        let peers = Peers {
            server: Connection::new(worker.into_stub(), options),
            client: Connection::new(Capability::nothing(), &Options::default()),
            sample: Sample::new(),
        };
        Self { peers, watch, made }
    }

    fn stub(&self) -> Stub<Worker> {
        self.peers.client.remote()
    }

    /// Lets everything happen that can, then compares how many calls have begun and were dropped.
    async fn check(&self, counts: (usize, usize)) {
        self.peers.quiet().await;
        assert_eq!(self.watch.counts(), counts, "(begun, dropped)");
    }
}

#[tokio::test]
async fn a_call_that_opted_in_stops_when_its_promise_is_dropped() {
    let working = Working::with(&Options::default());
    let promise = working.stub().stopping();
    working.check((1, 0)).await;
    drop(promise);
    working.check((1, 1)).await;
    assert_eq!(working.peers.server.peer().calls_in_flight(), 0);

    // Also when its result was waited for.
    let waiting = working.stub().stopping().into_future();
    working.check((2, 1)).await;
    drop(waiting);
    working.check((2, 2)).await;
}

#[tokio::test]
async fn a_call_that_did_not_opt_in_runs_on() {
    let working = Working::with(&Options::default());
    drop(working.stub().steady());
    working.check((1, 0)).await;
    assert_eq!(working.peers.server.peer().calls_in_flight(), 1);
    working.watch.go.notify_one();
    working.check((1, 0)).await;
    assert_eq!(working.peers.server.peer().calls_in_flight(), 0);
}

#[tokio::test]
async fn a_call_that_opted_in_and_is_wanted_gives_its_result() {
    let working = Working::with(&Options::default());
    let promise = working.stub().stopping();
    working.check((1, 0)).await;
    working.watch.go.notify_one();
    assert_eq!(working.peers.wait(promise).await.expect("it ends"), "done");
    // A clone is enough to want it.
    let promise = working.stub().stopping();
    let clone = promise.clone();
    drop(promise);
    working.check((2, 0)).await;
    working.watch.go.notify_one();
    assert_eq!(working.peers.wait(clone).await.expect("it ends"), "done");
}

#[tokio::test]
async fn what_was_pipelined_on_a_call_keeps_it_going() {
    let working = Working::with(&Options::default());
    let made = working.stub().make();
    let used = made.pipeline().used();
    drop(made);
    working.check((1, 0)).await;
    // Calls run, wanted or not; so does what they need.
    drop(used);
    working.check((1, 0)).await;
    working.watch.go.notify_one();
    working.check((1, 0)).await;
    assert_eq!(working.made.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_call_that_is_an_argument_is_wanted() {
    let working = Working::with(&Options::default());
    let word = working.stub().stopping();
    let length = working.stub().quick(&word);
    drop(word);
    working.check((1, 0)).await;
    working.watch.go.notify_one();
    assert_eq!(working.peers.wait(length).await.expect("it ends"), 4);
}

#[tokio::test]
async fn a_call_that_opted_in_stops_with_its_session() {
    for ends in [Connection::end, |session: &Connection, error| {
        session.abort(error);
    }] {
        let working = Working::with(&Options::default());
        let wanted = working.stub().stopping().into_future();
        // Something is queued behind this one.
        let used = working.stub().make().pipeline().used();
        let steady = working.stub().steady();
        working.check((3, 0)).await;
        ends(&working.peers.server, Error::new("over"));
        working.check((3, 2)).await;
        assert_eq!(working.peers.server.peer().calls_in_flight(), 1);
        working.peers.client.end(Error::new("over"));
        drop((wanted, used, steady));
        working.watch.go.notify_one();
        working.check((3, 2)).await;
        assert_eq!(working.made.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn a_call_inside_this_process_stops_too() {
    let watch = Watch::default();
    let worker = Worker {
        watch: watch.clone(),
        made: Arc::default(),
    };
    let stub = worker.into_stub();
    let promise = stub.stopping();
    tokio::task::yield_now().await;
    assert_eq!(watch.counts(), (1, 0));
    drop(promise);
    while watch.counts() != (1, 1) {
        tokio::task::yield_now().await;
    }
}

/// Sees how calls end.
#[derive(Clone, Default)]
struct Ends(Arc<std::sync::Mutex<Vec<String>>>, Arc<Notify>);

impl Ends {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("no test panics here"))
    }
}

impl Layer for Ends {
    async fn call(&self, call: &Call, next: Next<'_>) -> Result<CallResult> {
        if call.member() == Some("stopping") {
            self.1.notified().await;
        }
        let outcome = next.run().await;
        let code = outcome.as_ref().err().and_then(Error::code);
        let end = code.unwrap_or("none").to_owned();
        self.0.lock().expect("no test panics here").push(end);
        outcome
    }
}

#[tokio::test]
async fn a_layer_sees_a_cancelled_call_end() {
    let ends = Ends::default();
    let working = Working::with(&Options::default().layer(ends.clone()));
    let promise = working.stub().stopping();
    working.check((0, 0)).await;
    ends.1.notify_one();
    working.check((1, 0)).await;
    drop(promise);
    working.check((1, 1)).await;
    assert_eq!(ends.take(), ["cancelled"]);

    // Released while the layer was still thinking: it does not begin.
    let promise = working.stub().stopping();
    working.check((1, 1)).await;
    drop(promise);
    working.check((1, 1)).await;
    ends.1.notify_one();
    working.check((1, 1)).await;
    assert_eq!(ends.take(), ["cancelled"]);

    drop(working.stub().steady());
    working.check((2, 1)).await;
    working.watch.go.notify_one();
    working.check((2, 1)).await;
    assert_eq!(ends.take(), ["none"]);
}

fn limited(limit: Duration) -> Options {
    Options::default().limits(Limits {
        max_call_time: Some(limit),
        ..Limits::default()
    })
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_longer_than_the_server_allows_fails_and_stops() {
    let ends = Ends::default();
    for options in [
        limited(Duration::from_secs(5)),
        limited(Duration::from_secs(5)).layer(ends.clone()),
    ] {
        let working = Working::with(&options);
        let promise = working.stub().steady();
        let error = working.peers.wait(promise).await.expect_err("too late");
        assert_eq!(error.message(), "the call did not finish within 5s");
        assert_eq!(error.code(), Some("timeout"));
        working.check((1, 1)).await;
        assert_eq!(working.peers.server.peer().calls_in_flight(), 0);
        // The session goes on, and calls that are quick enough are not touched.
        let promise = working.stub().steady();
        working.check((2, 1)).await;
        working.watch.go.notify_one();
        assert_eq!(working.peers.wait(promise).await.expect("in time"), "done");
    }
    assert_eq!(ends.take(), ["timeout", "none"]);
}

#[test]
fn a_limit_of_time_needs_no_clock_for_a_call_that_does_not_wait() {
    // There is no runtime here, so no timer could be made.
    let raw = Raw::with(&limited(Duration::from_secs(1)));
    raw.check(
        r#"
        ["push",["pipeline",0,["square"],[3]]]
        ["pull",1]
        ["release",1,1]
        "#,
        expect_test::expect![[r#"["resolve",1,9]"#]],
    );
}

#[tokio::test(start_paused = true)]
async fn our_own_calls_have_no_limit_of_time() {
    let peers = Peers::with(&limited(Duration::from_millis(1)));
    // To the peer, which never answers, under the session that has the limit.
    let mut call = pin!(peers.server.remote::<Any>().call("x", ()).into_future());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(now(call.as_mut()).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_deadline_gives_the_call_up() {
    let working = Working::with(&Options::default());
    let begun = tokio::time::Instant::now();
    let promise = working.stub().stopping().deadline(Duration::from_secs(3));
    let error = working.peers.wait(promise).await.expect_err("too late");
    assert_eq!(error.message(), "the call did not finish within 3s");
    assert_eq!(error.code(), Some("timeout"));
    assert_eq!(begun.elapsed().as_secs(), 3);
    working.check((1, 1)).await;

    // It counts from when it was asked for, and only while the result is missing.
    let promise = working.stub().stopping().deadline(Duration::from_secs(3));
    working.check((2, 1)).await;
    working.watch.go.notify_one();
    working.check((2, 1)).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(working.peers.wait(promise).await.expect("in time"), "done");
    let promise = working.stub().quick("four").deadline(Duration::MAX);
    assert_eq!(working.peers.wait(promise).await.expect("in time"), 4);
}

#[tokio::test]
async fn the_owner_of_the_tasks_ends_a_call_that_opted_in() {
    let tasks = Tasks::new();
    let working = Working::with(&Options::default().tasks(tasks.clone()));
    let promise = working.stub().make().pipeline().used();
    working.check((1, 0)).await;
    tasks.stop().await;
    working.check((1, 1)).await;
    let error = working.peers.wait(promise).await.expect_err("it was ended");
    assert_eq!(error.message(), "the call ended without an answer");
}

/// Regression: a thousand writes to a stream could arrive out of order, when the task that read them had
/// used up its turn and the lock that keeps them in order refused to be taken.
#[tokio::test]
async fn a_call_begins_at_once_however_much_the_task_that_reads_it_has_done() {
    struct Locked(tokio::sync::Mutex<u32>);

    #[target(pub(crate))]
    impl Locked {
        pub async fn count(&self) -> u32 {
            let mut count = self.0.lock().await;
            *count += 1;
            *count
        }
    }

    let connection = Connection::new(Locked(0.into()).into_stub(), &Options::default());
    while now(pin!(tokio::task::coop::consume_budget())).is_some() {}
    connection.receive(r#"["push",["pipeline",0,["count"],[]]]"#);
    connection.receive(r#"["pull",1]"#);
    assert_eq!(connection.take_outgoing(), [r#"["resolve",1,1]"#]);
}

#[tokio::test]
async fn calls_that_a_result_is_made_of_stop_with_the_session_once_it_was_asked_for() {
    let working = Working::with(&Options::default());
    let worker = working.stub();
    let mapped = || {
        worker.call("numbers", ()).map(|mapper, _| {
            let worker = mapper.capture(&worker);
            worker.stopping()
        })
    };
    let unasked = mapped();
    working.check((2, 0)).await;
    drop(unasked);
    working.check((2, 2)).await;

    let asked = mapped().into_future();
    working.check((4, 2)).await;
    drop(asked);
    working.check((4, 2)).await;
    working.peers.server.end(Error::new("over"));
    working.check((4, 4)).await;
    working.peers.client.end(Error::new("over"));
}
