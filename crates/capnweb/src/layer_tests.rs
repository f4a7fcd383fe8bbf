//! Layers around the calls of a peer.

use std::sync::Mutex;

use expect_test::{Expect, expect};
use tokio::sync::Notify;

use super::*;
use crate::testing::{Peers, Raw, assert_rest, show};
use crate::{Any, Capability, Connection, Error, Options, Promise, Tasks, relay, target};

#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, note: String) {
        self.0.lock().expect("no test panics here").push(note);
    }

    fn take(&self) -> String {
        let mut notes = self.0.lock().expect("no test panics here");
        std::mem::take(&mut *notes).join("\n")
    }

    #[expect(clippy::needless_pass_by_value, reason = "so that tests read well")]
    fn check(&self, expected: Expect) {
        expected.assert_eq(&self.take());
    }
}

/// Notes calls as they begin and end, under a name of its own.
struct Noting(&'static str, Notes);

impl Noting {
    fn note(&self, event: &str, call: &Call) {
        let (name, kind) = (self.0, call.kind());
        let member = call.member().unwrap_or("-");
        self.1.add(format!(
            "{name} {event} {}.{member} {kind:?}",
            call.interface()
        ));
    }
}

impl Layer for Noting {
    async fn call(&self, call: &Call, next: Next<'_>) -> Result<CallResult> {
        /// Notes the end of a call that had none.
        struct Dropped<'a>(Option<(&'a Noting, &'a Call)>);

        impl Drop for Dropped<'_> {
            fn drop(&mut self) {
                if let Some((noting, call)) = self.0 {
                    noting.note("dropped", call);
                }
            }
        }

        self.note("before", call);
        let mut dropped = Dropped(Some((self, call)));
        let outcome = next.run().await;
        dropped.0 = None;
        match &outcome {
            Ok(_) => self.note("after", call),
            Err(error) => self.note(&format!("failed ({error})"), call),
        }
        outcome
    }
}

/// A server with a layer that notes all calls.
fn noted(notes: &Notes) -> Peers {
    Peers::with(&Options::default().layer(Noting("layer", notes.clone())))
}

struct Refusing(&'static str);

impl Layer for Refusing {
    async fn call(&self, call: &Call, next: Next<'_>) -> Result<CallResult> {
        if call.member() == Some(self.0) {
            return Err(Error::type_error("not for you").with_code("forbidden"));
        }
        next.run().await
    }
}

#[test]
fn layers_stand_around_a_call_in_the_order_they_were_added() {
    let notes = Notes::default();
    let options = Options::default()
        .layer(Noting("outer", notes.clone()))
        .layer(Noting("inner", notes.clone()));
    let peers = Peers::with(&options);
    assert_eq!(peers.call("square", vec![3.into()]), "9.0");
    notes.check(expect![[r#"
        outer before .square Method
        inner before .square Method
        inner after .square Method
        outer after .square Method"#]]);
}

#[test]
fn a_layer_that_refuses_keeps_a_call_from_the_object_and_from_inner_layers() {
    let notes = Notes::default();
    let options = Options::default()
        .layer(Refusing("note"))
        .layer(Noting("inner", notes.clone()));
    let peers = Peers::with(&options);
    let refused = peers.result(peers.stub().call("note", (1,)));
    let error = refused.expect_err("it was refused");
    assert_eq!(error.to_string(), "TypeError: not for you");
    assert_eq!(error.code(), Some("forbidden"));
    assert_eq!(peers.sample.notes(), "");
    notes.check(expect![""]);
}

#[test]
fn a_layer_sees_errors_panics_and_names_that_are_not_there() {
    let notes = Notes::default();
    let peers = noted(&notes);
    peers.call("fail", vec![]);
    assert_eq!(peers.call("panic", vec![]), "Error: internal error");
    assert_eq!(
        peers.call("missing", vec![]),
        "TypeError: 'missing' is not a function."
    );
    peers.call("constructor", vec![]);
    peers.call("unheard", vec![]);
    notes.check(expect![[r#"
        layer before .fail Method
        layer failed (RangeError: test error) .fail Method
        layer before .panic Method
        layer failed (Error: internal error) .panic Method
        layer before .missing Absent
        layer failed (TypeError: 'missing' is not a function.) .missing Absent
        layer before .constructor Absent
        layer failed (TypeError: 'constructor' is not a function.) .constructor Absent
        layer before .unheard Method
        layer failed (TypeError: 'unheard' is not a function.) .unheard Method"#]]);
}

#[tokio::test]
async fn a_layer_sees_a_call_that_is_dropped_half_way() {
    let notes = Notes::default();
    let tasks = Tasks::new();
    let options = Options::default()
        .tasks(tasks.clone())
        .layer(Noting("layer", notes.clone()));
    let peers = Peers::with(&options);
    let promise = peers.stub().call("wait", ());
    peers.quiet().await;
    notes.check(expect!["layer before .wait Method"]);
    tasks.stop().await;
    notes.check(expect!["layer dropped .wait Method"]);
    let error = peers.wait(promise).await.expect_err("it was dropped");
    assert_eq!(error.message(), "the call ended without an answer");
}

#[tokio::test]
async fn every_way_to_an_object_leads_through_the_layers() {
    let notes = Notes::default();
    let peers = noted(&notes);
    let stub = peers.stub();

    // Along a pipeline, with a promise as argument.
    let counter = stub.call("counter", (stub.call("square", (2,)),));
    assert_eq!(show(peers.result(counter.call("increment", ()))), "5.0");
    notes.check(expect![[r#"
        layer before .square Method
        layer after .square Method
        layer before .counter Method
        layer after .counter Method
        layer before .increment Method
        layer after .increment Method"#]]);

    // Properties, and what lies behind them.
    assert_eq!(show(peers.result(counter.property("value"))), "5.0");
    let size = stub.property("settings").property("size");
    assert_eq!(show(peers.result(size)), "3.0");
    let inside = stub.property("itself").call("square", (3,));
    assert_eq!(show(peers.result(inside)), "9.0");
    notes.check(expect![[r#"
        layer before .value Getter
        layer after .value Getter
        layer before .settings Getter
        layer after .settings Getter
        layer before .itself Getter
        layer after .itself Getter
        layer before .square Method
        layer after .square Method"#]]);

    // In a mapped function.
    let mapped = stub.call("list", (2,)).map(|mapper, element| {
        let stub = mapper.capture(&stub);
        stub.call("square", (element,))
    });
    assert_eq!(show(peers.result(mapped)), "[0.0, 1.0]");
    notes.check(expect![[r#"
        layer before .list Method
        layer after .list Method
        layer before .square Method
        layer after .square Method
        layer before .square Method
        layer after .square Method"#]]);

    // By a method that was read as a value.
    let square = stub.property("square");
    assert_eq!(show(peers.result(square.invoke((4,)))), "16.0");
    notes.check(expect![[r#"
        layer before .square Method
        layer after .square Method"#]]);
}

#[tokio::test]
async fn callbacks_pass_the_layers_of_the_side_that_offers_them() {
    let notes = Notes::default();
    let options = Options::default().layer(Noting("client", notes.clone()));
    let mut peers = Peers::new();
    peers.client = Connection::new(Capability::nothing(), &options);
    let function = Capability::from_fn(|mut arguments| async move {
        arguments.take::<f64>("number").map(|number| number + 1.0)
    });
    let promise = peers.stub().call("callback", (function, 1));
    assert_eq!(show(peers.wait(promise).await), "2.0");
    notes.check(expect![[r#"
        client before Function.- Function
        client after Function.- Function"#]]);
}

#[test]
fn our_own_calls_meet_no_layer() {
    let notes = Notes::default();
    let peers = noted(&notes);
    // From the server to its peer, and inside this process.
    let promise = peers.server.remote::<Any>().call("anything", ());
    peers.pump();
    drop(promise);
    let local = Capability::from_target(peers.sample.clone());
    drop(local.call("square", (1,)));
    notes.check(expect![""]);
}

#[test]
fn calls_begin_in_the_order_they_came_when_layers_do_not_wait() {
    let notes = Notes::default();
    let peers = noted(&notes);
    let calls: Vec<Promise> = (0..4)
        .map(|number| peers.stub().call("note", (number,)))
        .collect();
    peers.pump();
    drop(calls);
    assert_eq!(peers.sample.notes(), "0.0 1.0 2.0 3.0");
}

#[tokio::test]
async fn a_layer_may_wait_before_and_after_a_call() {
    struct Gated(Arc<Notify>);

    impl Layer for Gated {
        async fn call(&self, _call: &Call, next: Next<'_>) -> Result<CallResult> {
            self.0.notified().await;
            let outcome = next.run().await;
            self.0.notified().await;
            outcome
        }
    }

    let gate = Arc::new(Notify::new());
    let peers = Peers::with(&Options::default().layer(Gated(gate.clone())));
    let promise = peers.stub().call("note", (1,));
    peers.quiet().await;
    assert_eq!(peers.sample.notes(), "");
    gate.notify_one();
    peers.quiet().await;
    assert_eq!(peers.sample.notes(), "1.0");
    gate.notify_one();
    assert_eq!(show(peers.wait(promise).await), "undefined");
}

#[tokio::test]
async fn what_is_passed_on_to_another_session_passes_the_layers_of_the_first() {
    let notes = Notes::default();
    let options = Options::default()
        .layer(Noting("gateway", notes.clone()))
        .layer(Refusing("fail"));
    let (a, b) = relay(&options);
    let sample = crate::testing::Sample::new();
    let caller = Connection::new(Capability::nothing(), &Options::default());
    let host = Connection::new(Capability::from_target(sample), &Options::default());
    let pump = async || {
        for _ in 0..8 {
            for (from, to) in [(&caller, &a), (&b, &host), (&host, &b), (&a, &caller)] {
                for frame in from.take_outgoing() {
                    to.receive(&frame);
                }
            }
            tokio::task::yield_now().await;
        }
    };
    let stub = caller.remote::<Any>();
    let counter = stub.call("counter", (5,));
    let incremented = std::pin::pin!(counter.call("increment", (2,)).into_future());
    let refused = std::pin::pin!(stub.call("fail", ()).into_future());
    pump().await;
    assert_eq!(show(incremented.await), "7.0");
    assert_eq!(show(refused.await), "TypeError: not for you");
    notes.check(expect![[r#"
        gateway before .counter Forwarded
        gateway before .fail Forwarded
        gateway failed (TypeError: not for you) .fail Forwarded
        gateway after .counter Forwarded
        gateway before .increment Forwarded
        gateway after .increment Forwarded"#]]);
    drop((counter, stub));
    pump().await;
    for connection in [&caller, &a, &b, &host] {
        assert_rest(connection);
    }
}

#[test]
fn a_layer_knows_the_peer_and_what_was_noted_about_it() {
    #[derive(Debug, PartialEq)]
    struct Name(&'static str);

    /// Takes a name as the proof of who one is.
    struct Door(Peer);

    #[target(pub(crate))]
    impl Door {
        pub fn enter(&self) {
            self.0.insert(Name("Ada"));
        }

        pub fn work(&self) {}
    }

    struct OnlyKnown(Notes);

    impl Layer for OnlyKnown {
        async fn call(&self, call: &Call, next: Next<'_>) -> Result<CallResult> {
            let name = call.peer().get::<Name>();
            self.0.add(format!("{name:?} {}", call.interface()));
            if name.is_none() && call.member() != Some("enter") {
                return Err(Error::new("who are you?").with_code("unauthenticated"));
            }
            next.run().await
        }
    }

    let notes = Notes::default();
    let options = Options::default().layer(OnlyKnown(notes.clone()));
    let connection = Connection::for_peer(|peer| Door(peer.clone()).into_stub(), &options);
    let raw = Raw {
        connection,
        sample: crate::testing::Sample::new(),
    };
    raw.check(
        r#"
        ["push",["pipeline",0,["work"],[]]]
        ["pull",1]
        ["release",1,1]
        ["push",["pipeline",0,["enter"],[]]]
        ["release",2,1]
        ["push",["pipeline",0,["work"],[]]]
        ["pull",3]
        ["release",3,1]
        "#,
        expect![[r#"
            ["reject",1,["error","Error","who are you?",null,{"code":"unauthenticated"}]]
            ["resolve",3,["undefined"]]"#]],
    );
    notes.check(expect![[r#"
        None Door
        None Door
        Some(Name("Ada")) Door"#]]);
    assert_eq!(
        raw.connection.peer().insert(Name("Eve")).as_deref(),
        Some(&Name("Ada"))
    );
    assert_eq!(
        raw.connection.peer().get::<Name>().as_deref(),
        Some(&Name("Eve"))
    );
    raw.connection.peer().abort(&Error::new("enough"));
    assert!(raw.sent().ends_with("close 3000 enough"));
}

#[test]
fn a_call_tells_its_size_and_whether_its_name_is_a_described_one() {
    struct Known;

    #[target(pub(crate))]
    impl Known {
        pub fn size(&self, text: String) -> usize {
            text.len()
        }
    }

    struct Sizes(Notes);

    impl Layer for Sizes {
        async fn call(&self, call: &Call, next: Next<'_>) -> Result<CallResult> {
            let described = call.is_described();
            let large = call.argument_bytes() > 1000;
            let outcome = next.run().await;
            let answer = outcome.as_ref().map_or(0, CallResult::bytes);
            self.0.add(format!(
                "{described} {large} {}",
                answer > 0 && answer < 100
            ));
            outcome
        }
    }

    let notes = Notes::default();
    let options = Options::default().layer(Sizes(notes.clone()));
    let connection = Connection::new(Known.into_stub(), &options);
    let long = "x".repeat(1000);
    connection.receive(&format!(r#"["push",["pipeline",0,["size"],["{long}"]]]"#));
    connection.receive(r#"["push",["pipeline",0,["size"],["short"]]]"#);
    connection.receive(r#"["push",["pipeline",0,["sise"],[]]]"#);
    notes.check(expect![[r#"
        true true true
        true false true
        false false false"#]]);
}
