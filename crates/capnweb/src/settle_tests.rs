//! Promises inside values are replaced by their values before an application sees them.

use super::*;
use crate::testing::{Counter, Peers, Raw, show};
use crate::{Any, Capability};
use expect_test::expect;

#[test]
fn each_promise_gives_way_to_its_own_value() {
    let peers = Peers::new();
    let promises: Vec<_> = ["a", "b", "c"]
        .map(|name| peers.stub().call("later", (name,)))
        .into();
    let value = Value::object([
        ("first", Value::from(&promises[0])),
        (
            "list",
            Value::array([
                Value::from(&promises[1]),
                Value::Null,
                Value::from(&promises[2]),
            ]),
        ),
        ("again", Value::from(&promises[0])),
    ]);
    let echoed = peers.stub().call("echo", (value,));
    peers.pump();
    // In another order than they stand.
    for name in ["c", "a", "b"] {
        peers.sample.answer(name, Ok(name.to_uppercase().into()));
    }
    assert_eq!(
        show(peers.result(echoed)),
        r#"{"first": "A", "list": ["B", null, "C"], "again": "A"}"#
    );
}

#[test]
fn what_promises_become_may_hold_promises() {
    let peers = Peers::new();
    let (outer, inner) = (
        peers.stub().call("later", ("outer",)),
        peers.stub().call("later", ("inner",)),
    );
    let echoed = peers
        .stub()
        .call("echo", (Value::array([Value::from(&outer)]),));
    peers.pump();
    let local = Capability::from_target(peers.sample.clone());
    let deeper = local.call("later", ("deeper",));
    peers
        .sample
        .answer("outer", Ok(Value::array([Value::from(&deeper)])));
    peers.sample.answer("inner", Ok(Value::Null));
    peers.sample.answer("deeper", Ok("found".into()));
    assert_eq!(show(peers.result(echoed)), r#"[["found"]]"#);
    drop((inner, deeper));
}

#[test]
fn the_first_failure_decides_and_lets_the_others_go() {
    let peers = Peers::new();
    let (good, bad) = (
        peers.stub().call("later", ("good",)),
        peers.stub().call("later", ("bad",)),
    );
    let noted = peers.stub().call(
        "note",
        (Value::array([Value::from(&good), Value::from(&bad)]),),
    );
    drop((good, bad));
    peers.pump();
    peers.sample.answer("bad", Err(Error::range_error("no")));
    assert_eq!(show(peers.result(noted)), "RangeError: no");
    peers
        .sample
        .answer("good", Ok(Counter::stub(1.0, &peers.sample.gone).into()));
    peers.pump();
    assert_eq!(peers.sample.notes(), "");
    assert_eq!(peers.sample.gone(), 1);
}

#[test]
fn promises_inside_errors_stay_promises() {
    let peers = Peers::new();
    let late = peers.stub().call("later", ("x",));
    let error = Error::new("bad").with_prop("later", &late);
    let Ok(Value::Error(echoed)) = peers.result(peers.stub().call("echo", (error,))) else {
        panic!("an error")
    };
    assert!(matches!(echoed.prop("later"), Some(Value::Promise(_))));
    peers.sample.answer("x", Ok(1.into()));
    drop((late, echoed));
}

#[test]
fn a_result_is_complete_when_all_its_promises_are() {
    // As a JavaScript server answers a map.
    let raw = Raw::new();
    let promise = raw.connection.remote::<Any>().call("list", ());
    let mut awaited = Box::pin(std::future::IntoFuture::into_future(promise));
    raw.check(
        r#"
        ["resolve",1,[[["promise",-1],["promise",-2]]]]
        ["resolve",-2,"two"]
        "#,
        expect![[r#"
            ["push",["pipeline",0,["list"],[]]]
            ["pull",1]
            ["release",1,1]
            ["release",-2,1]"#]],
    );
    assert!(crate::testing::now(awaited.as_mut()).is_none());
    raw.check(
        r#"["resolve",-1,["promise",-3]]"#,
        expect![[r#"["release",-1,1]"#]],
    );
    assert!(crate::testing::now(awaited.as_mut()).is_none());
    raw.check(
        r#"["resolve",-3,{"one":1}]"#,
        expect![[r#"["release",-3,1]"#]],
    );
    assert_eq!(
        crate::testing::now(awaited.as_mut()).map(show).as_deref(),
        Some(r#"[{"one": 1.0}, "two"]"#)
    );
}

#[test]
fn the_failure_that_is_told_is_the_one_that_happened() {
    let peers = Peers::new();
    let late = peers.stub().call("later", ("x",));
    let nested = (0..5).fold(Value::from(&late), |value, _| {
        let promise = peers.stub().call("echo", (Value::array([value]),));
        Value::array([Value::from(promise), Value::from(1)])
    });
    let noted = peers
        .stub()
        .call("note", (Value::array([nested, Value::from(&late)]),));
    peers.pump();
    peers
        .sample
        .answer("x", Err(Error::range_error("the reason")));
    assert_eq!(show(peers.result(noted)), "RangeError: the reason");
}
