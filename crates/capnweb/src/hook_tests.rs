//! Calls, paths, pipelining and order, between two sessions.

use std::future::IntoFuture;

use crate::testing::{Counter, Peers, Raw, check, now, show, with_small_stack};
use crate::{Any, Capability, Error, Options, Value};
use expect_test::expect;

// Paths.

#[test]
fn a_path_is_followed_as_javascript_would() {
    let peers = Peers::new();
    let data = Value::object([
        ("list", Value::array([1, 2])),
        ("text", "abc".into()),
        ("nothing", Value::Null),
    ]);
    let echoed = || peers.stub().call("echo", (data.clone(),));
    for (promise, expected) in [
        (echoed().property("list").index(1), "2.0"),
        (echoed().property("list").property("1"), "2.0"),
        (echoed().property("list").property("01"), "undefined"),
        (echoed().property("list").property("length"), "undefined"),
        (echoed().property("list").index(2), "undefined"),
        (echoed().property("text").property("length"), "undefined"),
        (echoed().property("absent"), "undefined"),
        (
            echoed().property("absent").property("deeper"),
            "TypeError: cannot read property 'deeper' of undefined",
        ),
        (
            echoed().property("nothing").property("deeper"),
            "TypeError: cannot read property 'deeper' of null",
        ),
        (
            echoed().call("list", ()),
            "TypeError: 'list' is not a function.",
        ),
        (
            echoed().call("absent", ()),
            "TypeError: 'absent' is not a function.",
        ),
        (peers.stub().property("settings").property("size"), "3.0"),
        (peers.stub().property("missing"), "undefined"),
        (
            peers.stub().property("missing").property("x"),
            "TypeError: cannot read property 'x' of undefined",
        ),
        (
            peers.stub().call("missing", ()),
            "TypeError: 'missing' is not a function.",
        ),
        (
            peers.stub().property("settings").call("size", ()),
            "TypeError: 'size' is not a function.",
        ),
        (
            peers.stub().invoke(()),
            "TypeError: the object is not a function.",
        ),
    ] {
        assert_eq!(show(peers.result(promise)), expected);
    }
}

#[test]
fn members_every_object_has_read_as_undefined() {
    let peers = Peers::new();
    for name in [
        "constructor",
        "toString",
        "hasOwnProperty",
        "__proto__",
        "valueOf",
        "isPrototypeOf",
        "then",
    ] {
        assert_eq!(show(peers.result(peers.stub().property(name))), "undefined");
        assert_eq!(
            show(peers.result(peers.stub().property("settings").property(name))),
            "undefined"
        );
        assert_eq!(
            peers.call(name, vec![]),
            format!("TypeError: '{name}' is not a function.")
        );
    }
}

#[test]
fn a_method_read_without_calling_it_is_a_bound_function() {
    let peers = Peers::new();
    let counter = peers.stub().call("counter", (5,));
    let increment = counter.property("increment");
    assert_eq!(show(peers.result(increment.invoke((2,)))), "7.0");
    let Ok(Value::Stub(bound)) = peers.result(increment) else {
        panic!("it is a capability")
    };
    assert_eq!(show(peers.result(bound.invoke((3,)))), "10.0");
    assert_eq!(show(peers.result(bound.property("name"))), "undefined");
    drop((counter, bound));
    peers.pump();
    assert_eq!(peers.sample.gone(), 1);
}

#[test]
fn a_path_of_any_length_is_answered_or_refused_on_a_small_stack() {
    with_small_stack(|| {
        let raw = Raw::new();
        let path = vec!["\"itself\""; 200_000].join(",");
        raw.feed(&format!("[\"push\",[\"pipeline\",0,[{path}]]]"));
        raw.feed("[\"pull\",1]\n[\"release\",1,1]\n[\"release\",-1,1]");
    });
}

#[test]
fn missing_arguments_are_undefined() {
    check(
        r#"
        ["push",["pipeline",0,["echo"],[]]]
        ["push",["pipeline",0,["echo"],[["undefined"]]]]
        ["push",["pipeline",0,["echo"],[[[]]]]]
        ["pull",1]
        ["pull",2]
        ["pull",3]
        ["release",1,1]
        ["release",2,1]
        ["release",3,1]
        "#,
        expect![[r#"
            ["resolve",1,["undefined"]]
            ["resolve",2,["undefined"]]
            ["resolve",3,[[]]]"#]],
    );
}

// Pipelining.

#[test]
fn calls_on_results_travel_with_the_call_that_makes_them() {
    let peers = Peers::new();
    let counter = peers.stub().call("counter", (1,));
    let value = counter.call("increment", (4,));
    let squared = peers.stub().call("square", (&value,));
    let mut awaited = Box::pin(squared.into_future());
    let frames: Vec<_> = peers.client.take_outgoing().into();
    expect![[r#"
        ["push",["pipeline",0,["counter"],[1]]]
        ["push",["pipeline",1,["increment"],[4]]]
        ["push",["pipeline",0,["square"],[["pipeline",2]]]]
        ["pull",3]"#]]
    .assert_eq(&frames.join("\n"));
    frames.iter().for_each(|frame| peers.server.receive(frame));
    peers.pump();
    assert_eq!(now(awaited.as_mut()).map(show).as_deref(), Some("25.0"));
}

#[test]
fn an_error_passes_through_everything_pipelined_on_it() {
    let peers = Peers::new();
    let failed = peers.stub().call("fail", ());
    let calls = [
        failed.call("anything", (1,)),
        failed.property("x"),
        failed.property("x").call("y", ()),
        peers.stub().call("square", (&failed,)),
        peers
            .stub()
            .call("echo", (Value::array([Value::from(&failed)]),)),
        failed.map(|_, element| element),
    ];
    for promise in calls {
        assert_eq!(show(peers.result(promise)), "RangeError: test error");
    }
}

#[test]
fn calls_queue_behind_a_result_that_is_late() {
    let peers = Peers::new();
    let late = peers.stub().call("later", ("x",));
    let first = late.call("increment", (1,));
    let second = late.call("increment", (10,));
    let value = late.property("value");
    peers.pump();
    peers
        .sample
        .answer("x", Ok(Counter::stub(100.0, &peers.sample.gone).into()));
    assert_eq!(show(peers.result(second)), "111.0");
    assert_eq!(show(peers.result(first)), "101.0");
    assert_eq!(show(peers.result(value)), "111.0");
}

#[test]
fn a_result_can_be_used_after_it_arrived() {
    let peers = Peers::new();
    let counter = peers.stub().call("counter", (1,));
    let Ok(Value::Stub(stub)) = peers.result(counter.clone()) else {
        panic!("it is a capability")
    };
    assert_eq!(show(peers.result(counter.call("increment", ()))), "2.0");
    assert_eq!(show(peers.result(stub.call("increment", ()))), "3.0");
    assert_eq!(peers.sample.gone(), 0);
    drop((counter, stub));
    peers.pump();
    assert_eq!(peers.sample.gone(), 1);
}

#[test]
fn promises_in_arguments_are_values_when_the_call_starts() {
    let peers = Peers::new();
    let late = peers.stub().call("later", ("x",));
    let argument = Value::object([("deep", Value::array([Value::from(&late), Value::from(1)]))]);
    let noted = peers.stub().call("note", (argument,));
    peers.stub().call("note", ("overtakes",));
    peers.pump();
    assert_eq!(peers.sample.notes(), "\"overtakes\"");
    peers.sample.answer("x", Ok(Value::from("here")));
    assert_eq!(show(peers.result(noted)), "undefined");
    assert_eq!(
        peers.sample.notes(),
        r#""overtakes" {"deep": ["here", 1.0]}"#
    );
}

#[test]
fn a_property_of_a_promise_is_an_argument_like_any_other() {
    let peers = Peers::new();
    let settings = peers.stub().property("settings");
    // The callee's side follows the path.
    assert_eq!(
        show(peers.result(peers.stub().call("square", (settings.property("size"),)))),
        "9.0"
    );
    // Our side does, for an object of ours.
    let local = Capability::from_target(peers.sample.clone());
    assert_eq!(
        show(peers.result(local.call("square", (settings.property("size"),)))),
        "9.0"
    );
    let nested = Value::array([Value::from(settings.property("depth"))]);
    assert_eq!(show(peers.result(local.call("echo", (nested,)))), "[4.0]");
}

#[test]
fn a_property_of_the_peers_object_can_be_returned() {
    let peers = Peers::offering(
        Capability::from_target(crate::testing::Sample::new()),
        &Options::default(),
    );
    let remote = peers.server.remote::<Any>();
    peers
        .sample
        .kept
        .lock()
        .expect("not poisoned")
        .push(Value::array([Value::from(remote.property("settings"))]));
    assert_eq!(
        peers.call("kept", vec![]),
        r#"[{"size": 3.0, "depth": 4.0}]"#
    );
    peers.sample.kept.lock().expect("not poisoned").clear();
}

#[test]
fn a_promise_of_ours_in_an_argument_is_resolved_unasked() {
    let peers = Peers::new();
    let local = Capability::from_target(peers.sample.clone());
    let late = local.call("later", ("x",));
    let echoed = peers.stub().call(
        "echo",
        (Value::array([Value::from(&late), Value::from(&late)]),),
    );
    let mut awaited = Box::pin(echoed.into_future());
    let frames: Vec<_> = peers.client.take_outgoing().into();
    expect![[r#"
        ["push",["pipeline",0,["echo"],[[[["promise",-1],["promise",-2]]]]]]
        ["pull",1]"#]]
    .assert_eq(&frames.join("\n"));
    frames.iter().for_each(|frame| peers.server.receive(frame));
    peers.pump();
    assert!(now(awaited.as_mut()).is_none());
    peers.sample.answer("x", Ok(Value::from("here")));
    peers.pump();
    assert_eq!(
        now(awaited.as_mut()).map(show).as_deref(),
        Some(r#"["here", "here"]"#)
    );
}

#[test]
fn a_promise_of_ours_that_fails_fails_the_call() {
    let peers = Peers::new();
    let local = Capability::from_target(peers.sample.clone());
    let late = local.call("later", ("x",));
    let noted = peers.stub().call("note", (&late,));
    peers.pump();
    peers
        .sample
        .answer("x", Err(Error::type_error("it came to nothing")));
    assert_eq!(show(peers.result(noted)), "TypeError: it came to nothing");
    assert_eq!(peers.sample.notes(), "");
}

#[test]
fn a_dropped_promise_lets_its_call_run_and_releases_the_result() {
    let peers = Peers::new();
    drop(peers.stub().call("counter", (1,)));
    drop(peers.stub().call("note", ("ran",)));
    peers.pump();
    assert_eq!(peers.sample.notes(), "\"ran\"");
    assert_eq!(peers.sample.gone(), 1);
}

#[test]
fn a_promise_dropped_while_it_is_waited_for_releases_what_comes() {
    let peers = Peers::new();
    let awaited = peers.stub().call("later", ("x",)).into_future();
    peers.pump();
    drop(awaited);
    peers
        .sample
        .answer("x", Ok(Counter::stub(1.0, &peers.sample.gone).into()));
    peers.pump();
    assert_eq!(peers.sample.gone(), 1);
}

// Order.

#[test]
fn calls_start_in_the_order_they_arrive_before_the_frame_is_done() {
    let raw = Raw::new();
    for index in 0..5 {
        raw.connection
            .receive(&format!(r#"["push",["pipeline",0,["note"],[{index}]]]"#));
        assert_eq!(
            raw.sample.notes.lock().expect("not poisoned").len(),
            index + 1
        );
    }
    raw.connection.receive(
        r#"["push",[[["pipeline",0,["note"],["a"]],["pipeline",0,["note"],["b"]],["pipeline",0,["itself","note"],["c"]]]]]"#,
    );
    assert_eq!(raw.sample.notes(), r#"0.0 1.0 2.0 3.0 4.0 "a" "b" "c""#);
    (1..=6).for_each(|id| raw.connection.receive(&format!("[\"release\",{id},1]")));
}

#[test]
fn calls_on_a_late_object_start_in_the_order_they_were_made() {
    let peers = Peers::new();
    let late = peers.stub().call("later", ("x",));
    for index in 0..4 {
        drop(late.call("note", (index,)));
    }
    peers.pump();
    let itself = Capability::from_target(peers.sample.clone());
    peers.sample.answer("x", Ok(itself.into()));
    drop(late.call("note", (4,)));
    peers.pump();
    drop(late.call("note", (5,)));
    peers.pump();
    assert_eq!(peers.sample.notes(), "0.0 1.0 2.0 3.0 4.0 5.0");
}

#[tokio::test]
async fn handlers_start_in_order_and_run_beside_each_other() {
    let log = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let noting = log.clone();
    let main = Capability::from_fn(move |mut arguments| {
        let log = noting.clone();
        async move {
            let (name, rests) = (
                arguments.take::<String>("name")?,
                arguments.take::<u32>("rests")?,
            );
            log.lock()
                .expect("not poisoned")
                .push(format!("{name} starts"));
            for _ in 0..rests {
                tokio::task::yield_now().await;
            }
            log.lock()
                .expect("not poisoned")
                .push(format!("{name} ends"));
            Ok::<_, Error>(())
        }
    });
    let peers = Peers::offering(main, &Options::default());
    let function = peers.server.remote::<Any>();
    let calls =
        [("slow", 9), ("quick", 2), ("instant", 0)].map(|call| function.invoke(call).into_future());
    peers.wait(futures_util::future::join_all(calls)).await;
    let expected = [
        "slow starts",
        "quick starts",
        "instant starts",
        "instant ends",
        "quick ends",
        "slow ends",
    ];
    assert_eq!(*log.lock().expect("not poisoned"), expected);
}

// Capabilities.

#[test]
fn a_callback_is_called_and_let_go() {
    let peers = Peers::new();
    let double = Capability::from_fn(|mut arguments| async move {
        arguments.take::<f64>("number").map(|number| number * 2.0)
    });
    assert_eq!(
        peers.call("callback", vec![double.clone().into(), 4.into()]),
        "8.0"
    );
    assert_eq!(
        peers.call("callback_inside", vec![double.into(), 4.into()]),
        r#"{"result": 8.0}"#
    );
}

#[test]
fn a_capability_kept_lives_until_it_is_let_go() {
    let peers = Peers::new();
    let gone = std::sync::Arc::default();
    peers.call("keep", vec![Counter::stub(5.0, &gone).into()]);
    peers.pump();
    assert_eq!(peers.server.stats().imports, 2);
    assert_eq!(gone.load(std::sync::atomic::Ordering::SeqCst), 0);
    peers.call("forget", vec![]);
    peers.pump();
    assert_eq!(gone.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[test]
fn a_clone_keeps_what_the_original_gives_up() {
    let peers = Peers::new();
    let Ok(Value::Stub(counter)) = peers.result(peers.stub().call("counter", (1,))) else {
        panic!("a capability")
    };
    let kept = counter.clone();
    drop(counter);
    peers.pump();
    assert_eq!(peers.sample.gone(), 0);
    assert_eq!(show(peers.result(kept.call("increment", ()))), "2.0");
    drop(kept);
    peers.pump();
    assert_eq!(peers.sample.gone(), 1);
}

#[test]
fn an_object_sent_many_times_is_one_object() {
    let peers = Peers::new();
    let gone = std::sync::Arc::default();
    let counter = Counter::stub(0.0, &gone);
    for _ in 0..3 {
        peers.call(
            "keep",
            vec![Value::array([counter.clone(), counter.clone()])],
        );
    }
    peers.pump();
    assert_eq!(peers.client.stats().exports, 7);
    drop(counter);
    peers.call("forget", vec![]);
    peers.pump();
    assert_eq!(gone.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[test]
fn an_object_comes_home_as_itself() {
    let peers = Peers::new();
    let gone = std::sync::Arc::default();
    let counter = Counter::stub(5.0, &gone);
    for (sent, path) in [
        (Value::from(counter.clone()), None),
        (Value::array([counter.clone()]), Some(0)),
    ] {
        let back = match (peers.result(peers.stub().call("echo", (sent,))), path) {
            (Ok(Value::Stub(back)), None) => back,
            (Ok(Value::Array(mut items)), Some(_)) => match items.remove(0) {
                Value::Stub(back) => back,
                other => panic!("{other:?}"),
            },
            (other, _) => panic!("{other:?}"),
        };
        assert_eq!(
            show(peers.result(back.call("increment", ()))),
            if path.is_none() { "6.0" } else { "7.0" }
        );
    }
    drop(counter);
    peers.pump();
    assert_eq!(gone.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[test]
fn the_peers_own_object_goes_back_nested_as_its_own_and_at_the_root_as_ours() {
    check(
        r#"
        ["push",["pipeline",0,["echo"],[{"a":["export",-1]}]]]
        ["pull",1]
        ["release",1,1]
        ["push",["pipeline",0,["echo"],[["export",-2]]]]
        ["pull",2]
        ["release",2,1]
        ["push",["pipeline",-1,["hello"],[1]]]
        ["pull",3]
        ["resolve",1,"world"]
        ["release",3,1]
        ["release",-1,1]
        "#,
        expect![[r#"
            ["resolve",1,{"a":["import",-1]}]
            ["release",-1,1]
            ["resolve",2,["export",-1]]
            ["push",["pipeline",-2,["hello"],[1]]]
            ["pull",1]
            ["release",1,1]
            ["resolve",3,"world"]
            ["release",-2,1]"#]],
    );
}

#[test]
fn our_own_object_comes_home_as_itself() {
    check(
        r#"
        ["push",["pipeline",0,["counter"],[7]]]
        ["pull",1]
        ["push",["pipeline",0,["echo"],[["import",-1]]]]
        ["push",["pipeline",2,["increment"],[["pipeline",-1,["value"]]]]]
        ["pull",3]
        ["push",["pipeline",0,["note"],[["import",0,["settings"]],["import",1],["pipeline",1]]]]
        ["pull",4]
        ["release",1,1]
        ["release",2,1]
        ["release",3,1]
        ["release",4,1]
        ["release",-1,1]
        "#,
        expect![[r#"
            ["resolve",1,["export",-1]]
            ["resolve",3,14]
            ["resolve",4,["undefined"]]"#]],
    );
}

// Failures.

#[test]
fn a_panic_tells_the_peer_nothing() {
    check(
        r#"
        ["push",["pipeline",0,["panic"],[]]]
        ["pull",1]
        ["push",["pipeline",0,["internal"],[]]]
        ["pull",2]
        ["release",1,1]
        ["release",2,1]
        "#,
        expect![[r#"
            ["reject",1,["error","Error","internal error"]]
            ["reject",2,["error","Error","internal error"]]"#]],
    );
}

#[test]
fn whatever_is_thrown_reaches_the_caller() {
    let peers = Peers::new();
    let error = Error::type_error("bad")
        .with_code("E_BAD")
        .with_cause(Error::new("why"));
    let caught = peers
        .result(peers.stub().call("throw", (error,)))
        .expect_err("it throws");
    assert_eq!(
        (caught.to_string().as_str(), caught.code()),
        ("TypeError: bad", Some("E_BAD"))
    );
    assert_eq!(
        format!("{:?}", caught.prop("cause")),
        r#"Some(Error { kind: Error, message: "why" })"#
    );
    let thrown = peers
        .result(peers.stub().call("throw", (Value::array([1]),)))
        .expect_err("it throws");
    assert_eq!(format!("{:?}", thrown.thrown_value()), "Some([1.0])");
}

#[test]
fn every_error_passes_the_redaction() {
    let options = Options::default().redact(|error| {
        (error.kind() == crate::ErrorKind::RangeError)
            .then(|| Error::new("redacted").with_stack("at hook"))
    });
    let raw = Raw::with(&options);
    raw.check(
        r#"
        ["push",["pipeline",0,["fail"],[]]]
        ["pull",1]
        ["push",{"a":["error","RangeError","secret"],"b":["error","TypeError","known",null,{"cause":["error","RangeError","deep"]}]}]
        ["pull",2]
        ["push",["pipeline",0,["callback"],[["export",-1],["error","RangeError","out"]]]]
        ["reject",1,"whatever"]
        ["release",1,1]
        ["release",2,1]
        ["release",3,1]
        "#,
        expect![[r#"
            ["reject",1,["error","Error","redacted","at hook"]]
            ["resolve",2,{"a":["error","Error","redacted","at hook"],"b":["error","TypeError","known",null,{"cause":["error","Error","redacted","at hook"]}]}]
            ["push",["pipeline",-1,[],[["error","Error","redacted","at hook"]]]]
            ["release",-1,1]
            ["release",1,1]"#]],
    );
}
