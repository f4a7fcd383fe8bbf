//! The eight messages and the two tables, as a peer sees them on the wire.

use expect_test::expect;

use super::*;
use crate::testing::{Peers, Raw, check, show};
use crate::{Any, Capability, Connection, Options};

// Pushes, pulls and answers.

#[test]
fn a_push_is_answered_when_it_is_pulled() {
    check(
        r#"
        ["push",["pipeline",0,["square"],[7]]]
        ["pull",1]
        ["release",1,1]
        "#,
        expect![[r#"["resolve",1,49]"#]],
    );
}

#[test]
fn a_push_without_a_pull_is_never_answered() {
    check(
        r#"
        ["push",["pipeline",0,["square"],[7]]]
        ["push",["pipeline",0,["fail"],[]]]
        ["release",1,1]
        ["release",2,1]
        "#,
        expect![[""]],
    );
}

#[test]
fn a_second_pull_gives_no_second_answer() {
    let raw = Raw::new();
    raw.check(
        r#"
        ["push",["pipeline",0,["square"],[3]]]
        ["pull",1]
        ["pull",1]
        ["push",["pipeline",0,["later"],["x"]]]
        ["pull",2]
        ["pull",2]
        "#,
        expect![[r#"["resolve",1,9]"#]],
    );
    raw.sample.answer("x", Ok(Value::Null));
    raw.check(r#"["pull",2]"#, expect![[r#"["resolve",2,null]"#]]);
    raw.check("[\"release\",1,1]\n[\"release\",2,1]", expect![[""]]);
}

#[test]
fn a_pull_may_come_before_the_result() {
    let raw = Raw::new();
    raw.check(
        "[\"push\",[\"pipeline\",0,[\"later\"],[\"x\"]]]\n[\"pull\",1]",
        expect![[""]],
    );
    raw.sample.answer("x", Ok(Value::from("late")));
    raw.check(r#"["release",1,1]"#, expect![[r#"["resolve",1,"late"]"#]]);
}

#[test]
fn an_answer_released_before_it_is_there_is_not_sent() {
    let raw = Raw::new();
    raw.check(
        r#"
        ["push",["pipeline",0,["later"],["x"]]]
        ["pull",1]
        ["release",1,1]
        "#,
        expect![[""]],
    );
    assert_eq!(raw.connection.stats(), crate::testing::REST);
    raw.sample.answer("x", Ok(Value::from(1)));
    raw.check("", expect![[""]]);
}

#[test]
fn a_pushed_result_stays_usable_after_it_was_answered_until_it_is_released() {
    check(
        r#"
        ["push",["pipeline",0,["counter"],[1]]]
        ["pull",1]
        ["push",["pipeline",1,["increment"],[4]]]
        ["pull",2]
        ["release",1,1]
        ["release",2,1]
        ["release",-1,1]
        "#,
        expect![[r#"
            ["resolve",1,["export",-1]]
            ["resolve",2,5]"#]],
    );
}

#[test]
fn plain_data_can_be_pushed_once_and_used_many_times() {
    check(
        r#"
        ["push",{"items":[[5,6]]}]
        ["push",["pipeline",0,["square"],[["pipeline",1,["items",0]]]]]
        ["push",["pipeline",0,["square"],[["pipeline",1,["items","1"]]]]]
        ["pull",2]
        ["pull",3]
        ["pull",1]
        ["release",1,1]
        ["release",2,1]
        ["release",3,1]
        "#,
        expect![[r#"
            ["resolve",2,25]
            ["resolve",3,36]
            ["resolve",1,{"items":[[5,6]]}]"#]],
    );
}

#[test]
fn one_push_may_hold_many_calls() {
    check(
        r#"
        ["push",{"a":["pipeline",0,["square"],[2]],"b":[[["pipeline",0,["square"],[["pipeline",0,["square"],[2]]]]]]}]
        ["pull",1]
        ["release",1,1]
        "#,
        expect![[r#"["resolve",1,{"a":4,"b":[[16]]}]"#]],
    );
}

#[test]
fn pulling_the_main_object_gives_an_export_of_it() {
    check(
        "[\"pull\",0]\n[\"release\",-1,1]",
        expect![[r#"["resolve",0,["export",-1]]"#]],
    );
}

#[test]
fn pulling_what_is_not_there_aborts() {
    check(
        r#"["pull",7]"#,
        expect![[r#"
        ["abort",["error","Error","no such export ID: 7"]]
        close 3000 no such export ID: 7"#]],
    );
    check(
        "[\"push\",1]\n[\"release\",1,1]\n[\"pull\",1]",
        expect![[r#"
        ["abort",["error","Error","no such export ID: 1"]]
        close 3000 no such export ID: 1"#]],
    );
}

#[test]
fn ids_are_taken_on_arrival_by_push_stream_and_pipe_alike() {
    check(
        r#"
        ["push","one"]
        ["stream",["pipeline",0,["echo"],["two"]]]
        ["pipe"]
        ["push","four"]
        ["pull",4]
        ["pull",1]
        ["release",1,1]
        ["release",3,1]
        ["release",4,1]
        "#,
        expect![[r#"
            ["resolve",2,"two"]
            ["resolve",4,"four"]
            ["resolve",1,"one"]"#]],
    );
}

// Releases.

#[test]
fn a_release_below_zero_aborts() {
    check(
        "[\"push\",1]\n[\"release\",1,2]",
        expect![[r#"
        ["abort",["error","Error","refcount would go negative: 1 < 2"]]
        close 3000 refcount would go negative: 1 < 2"#]],
    );
    check(
        r#"["release",0,2]"#,
        expect![[r#"
        ["abort",["error","Error","refcount would go negative: 1 < 2"]]
        close 3000 refcount would go negative: 1 < 2"#]],
    );
}

#[test]
fn a_release_of_what_is_not_there_aborts() {
    check(
        r#"["release",-1,1]"#,
        expect![[r#"
        ["abort",["error","Error","no such export ID: -1"]]
        close 3000 no such export ID: -1"#]],
    );
    check(
        r#"["release",1,0]"#,
        expect![[r#"
        ["abort",["error","Error","no such export ID: 1"]]
        close 3000 no such export ID: 1"#]],
    );
}

#[test]
fn releasing_the_main_object_ends_its_use() {
    let raw = Raw::new();
    raw.check(r#"["release",0,1]"#, expect![[""]]);
    assert_eq!(raw.connection.stats().exports, 0);
    raw.check(
        r#"["push",["pipeline",0,["square"],[1]]]"#,
        expect![[r#"
        ["abort",["error","Error","no such entry on exports table: 0"]]
        close 3000 no such entry on exports table: 0"#]],
    );
}

#[test]
fn the_same_object_gets_a_new_id_each_time_it_is_sent() {
    check(
        r#"
        ["push",["pipeline",0,["itself"]]]
        ["pull",1]
        ["push",[[["pipeline",0,["itself"]],["pipeline",0,["itself"]]]]]
        ["pull",2]
        ["release",1,1]
        ["release",2,1]
        ["release",-1,1]
        ["release",-2,1]
        ["release",-3,1]
        "#,
        expect![[r#"
            ["resolve",1,["export",-1]]
            ["resolve",2,[[["export",-2],["export",-3]]]]"#]],
    );
}

#[test]
fn a_capability_told_twice_is_released_twice() {
    check(
        r#"
        ["push",["pipeline",0,["echo"],[[["export",-1],["export",-1]]]]]
        ["push",["pipeline",0,["echo"],[[[["export",-1],["export",-1]]]]]]
        ["release",1,1]
        ["release",2,1]
        "#,
        expect![[r#"
            ["abort",["error","TypeError","unknown special value: [[\"export\",-1],[\"export\",-1]]"]]
            close 3000 unknown special value: [["export",-1],["export",-1]]"#]],
    );
}

#[test]
fn what_came_with_a_call_is_released_when_the_call_ends() {
    check(
        r#"
        ["push",["pipeline",0,["note"],[["export",-1],["writable",-2]]]]
        ["push",["pipeline",0,["fail"],[["export",-3]]]]
        ["push",["pipeline",0,["missing"],[["export",-4]]]]
        ["push",["pipeline",0,["panic"],[["export",-5]]]]
        ["release",1,1]
        ["release",2,1]
        ["release",3,1]
        ["release",4,1]
        "#,
        expect![[r#"
            ["release",-1,1]
            ["release",-2,1]
            ["release",-3,1]
            ["release",-4,1]
            ["release",-5,1]"#]],
    );
}

#[test]
fn what_comes_under_a_dropped_key_is_released() {
    check(
        r#"
        ["push",["pipeline",0,["echo"],[{"__proto__":["export",-1],"toJSON":["export",-2],"a":1}]]]
        ["pull",1]
        ["push",["error","Error","x",null,{"name":["export",-3],"constructor":["export",-4],"a":1}]]
        ["pull",2]
        ["release",1,1]
        ["release",2,1]
        "#,
        expect![[r#"
            ["release",-1,1]
            ["release",-2,1]
            ["resolve",1,{"a":1}]
            ["release",-3,1]
            ["release",-4,1]
            ["resolve",2,["error","Error","x",null,{"a":1}]]"#]],
    );
}

#[test]
fn what_arrives_for_a_dropped_promise_is_released() {
    let raw = Raw::new();
    let promise = raw.connection.remote::<Any>().call("get", ());
    let mut awaited = Box::pin(std::future::IntoFuture::into_future(promise));
    assert!(crate::testing::now(awaited.as_mut()).is_none());
    drop(awaited);
    raw.check(
        r#"
        ["resolve",1,{"a":["export",-1],"b":["promise",-2]}]
        ["resolve",-2,["export",-3]]
        ["reject",77,["error","Error","nobody asked"]]
        ["resolve",0,["export",-4]]
        "#,
        expect![[r#"
            ["push",["pipeline",0,["get"],[]]]
            ["pull",1]
            ["release",1,1]
            ["release",-1,1]
            ["release",-2,1]
            ["release",-3,1]
            ["release",-4,1]"#]],
    );
}

// Resolve and reject.

#[test]
fn a_promise_is_released_as_soon_as_it_is_answered() {
    let raw = Raw::new();
    let promise = raw.connection.remote::<Any>().call("get", (1,));
    let other = raw.connection.remote::<Any>().call("get", (2,));
    let mut awaited = Box::pin(std::future::IntoFuture::into_future(promise));
    raw.check(
        r#"
        ["resolve",1,{"answer":42}]
        ["reject",2,["error","RangeError","no",null,{"code":"E1"}]]
        "#,
        expect![[r#"
            ["push",["pipeline",0,["get"],[1]]]
            ["push",["pipeline",0,["get"],[2]]]
            ["pull",1]
            ["release",1,1]
            ["release",2,1]"#]],
    );
    assert_eq!(
        crate::testing::now(awaited.as_mut()).map(show).as_deref(),
        Some(r#"{"answer": 42.0}"#)
    );
    // The second was not pulled; its failure is kept until it is.
    let mut awaited = Box::pin(std::future::IntoFuture::into_future(other));
    assert_eq!(
        crate::testing::now(awaited.as_mut()).map(show).as_deref(),
        Some("RangeError: no")
    );
}

#[test]
fn a_reject_may_carry_any_value() {
    let raw = Raw::new();
    let promise = raw.connection.remote::<Any>().call("get", ());
    let mut awaited = Box::pin(std::future::IntoFuture::into_future(promise));
    raw.feed(r#"["reject",1,{"reason":["undefined"]}]"#);
    let error = crate::testing::now(awaited.as_mut())
        .expect("it was rejected")
        .expect_err("it was rejected");
    assert_eq!(
        format!("{:?}", error.thrown_value()),
        r#"Some({"reason": undefined})"#
    );
}

#[test]
fn a_promised_export_is_not_pulled_and_is_released_once_resolved() {
    let raw = Raw::new();
    raw.check(
        r#"
        ["push",["pipeline",0,["note"],[["promise",-1]]]]
        ["pull",1]
        "#,
        expect![[""]],
    );
    assert_eq!(raw.sample.notes(), "");
    raw.check(
        r#"["resolve",-1,"here"]"#,
        expect![[r#"
        ["release",-1,1]
        ["resolve",1,["undefined"]]"#]],
    );
    assert_eq!(raw.sample.notes(), "\"here\"");
    raw.check(r#"["release",1,1]"#, expect![[""]]);
}

#[test]
fn a_promise_that_reuses_an_id_aborts() {
    check(
        r#"["push",[[["promise",-1],["promise",-1]]]]"#,
        expect![[r#"
        ["abort",["error","Error","the peer sent a promise reusing an existing export ID"]]
        close 3000 the peer sent a promise reusing an existing export ID"#]],
    );
    check(
        r#"["push",[[["export",-1],["promise",-1]]]]"#,
        expect![[r#"
        ["abort",["error","Error","the peer sent a promise reusing an existing export ID"]]
        close 3000 the peer sent a promise reusing an existing export ID"#]],
    );
}

#[test]
fn our_own_ids_cannot_be_introduced_by_the_peer() {
    check(
        r#"["push",["export",1]]"#,
        expect![[r#"
        ["abort",["error","TypeError","export ID 1 is not negative"]]
        close 3000 export ID 1 is not negative"#]],
    );
    check(
        r#"["push",["promise",0]]"#,
        expect![[r#"
        ["abort",["error","TypeError","export ID 0 is not negative"]]
        close 3000 export ID 0 is not negative"#]],
    );
    check(
        r#"["push",["writable",3]]"#,
        expect![[r#"
        ["abort",["error","TypeError","export ID 3 is not negative"]]
        close 3000 export ID 3 is not negative"#]],
    );
}

// Streams' messages.

#[test]
fn a_stream_call_is_answered_unasked_and_releases_itself() {
    check(
        r#"
        ["stream",["pipeline",0,["square"],[3]]]
        ["stream",["pipeline",0,["fail"],[]]]
        ["stream",["pipeline",0,["counter"],[1]]]
        ["release",-1,1]
        "#,
        expect![[r#"
            ["resolve",1,9]
            ["reject",2,["error","RangeError","test error"]]
            ["resolve",3,["export",-1]]"#]],
    );
}

#[test]
fn releasing_a_stream_call_as_well_aborts() {
    check(
        "[\"stream\",[\"pipeline\",0,[\"square\"],[3]]]\n[\"release\",1,1]",
        expect![[r#"
        ["resolve",1,9]
        ["abort",["error","Error","no such export ID: 1"]]
        close 3000 no such export ID: 1"#]],
    );
}

#[test]
fn the_readable_end_of_a_pipe_is_taken_once() {
    check(
        r#"
        ["pipe"]
        ["push",["readable",1]]
        ["push",["readable",1]]
        "#,
        expect![[r#"
            ["abort",["error","Error","Export 1 is not a pipe or its readable end was already consumed."]]
            close 3000 Export 1 is not a pipe or its readable end was already consumed."#]],
    );
    check(
        r#"["push",["readable",0]]"#,
        expect![[r#"
        ["abort",["error","Error","Export 0 is not a pipe or its readable end was already consumed."]]
        close 3000 Export 0 is not a pipe or its readable end was already consumed."#]],
    );
    check(
        r#"["push",["readable",5]]"#,
        expect![[r#"
        ["abort",["error","Error","Export 5 is not a pipe or its readable end was already consumed."]]
        close 3000 Export 5 is not a pipe or its readable end was already consumed."#]],
    );
}

// What is no message.

#[test]
fn whatever_is_wrong_with_a_message_aborts() {
    for (frame, expected) in [
        (
            "nonsense",
            expect![[r#"
            ["abort",["error","SyntaxError","invalid JSON at byte 0: expected a value"]]
            close 3000 invalid JSON at byte 0: expected a value"#]],
        ),
        (
            "[\"pipe\"]\u{1}",
            expect![[r#"
            ["abort",["error","SyntaxError","invalid JSON at byte 8: unexpected text after the value"]]
            close 3000 invalid JSON at byte 8: unexpected text after the value"#]],
        ),
        (
            "{}",
            expect![[r#"
            ["abort",["error","Error","bad RPC message: {}"]]
            close 3000 bad RPC message: {}"#]],
        ),
        (
            r#"["frobnicate",1]"#,
            expect![[r#"
            ["abort",["error","Error","bad RPC message: [\"frobnicate\",1]"]]
            close 3000 bad RPC message: ["frobnicate",1]"#]],
        ),
        (
            r#"["push"]"#,
            expect![[r#"
            ["abort",["error","Error","bad RPC message: [\"push\"]"]]
            close 3000 bad RPC message: ["push"]"#]],
        ),
        (
            r#"["push",[1,2]]"#,
            expect![[r#"
            ["abort",["error","TypeError","unknown special value: [1,2]"]]
            close 3000 unknown special value: [1,2]"#]],
        ),
        (
            r#"["push",["nonsense"]]"#,
            expect![[r#"
            ["abort",["error","TypeError","unknown special value: [\"nonsense\"]"]]
            close 3000 unknown special value: ["nonsense"]"#]],
        ),
        (
            r#"["push",["pipeline",9,["x"],[]]]"#,
            expect![[r#"
            ["abort",["error","Error","no such entry on exports table: 9"]]
            close 3000 no such entry on exports table: 9"#]],
        ),
        (
            r#"["push",["import",-1]]"#,
            expect![[r#"
            ["abort",["error","Error","no such entry on exports table: -1"]]
            close 3000 no such entry on exports table: -1"#]],
        ),
        (
            r#"["push",["date","today"]]"#,
            expect![[r#"
            ["abort",["error","TypeError","unknown special value: [\"date\",\"today\"]"]]
            close 3000 unknown special value: ["date","today"]"#]],
        ),
        (
            r#"["push",["response",null,{"status":7}]]"#,
            expect![[r#"
            ["abort",["error","RangeError","a response's status must be a number of three digits"]]
            close 3000 a response's status must be a number of three digits"#]],
        ),
        (
            r#"["push",["request","http://a/",{"method":5}]]"#,
            expect![[r#"
            ["abort",["error","TypeError","a request's method must be a string"]]
            close 3000 a request's method must be a string"#]],
        ),
        (
            r#"["push",["remap",0,[],[["import",5]],[1]]]"#,
            expect![[r#"
            ["abort",["error","Error","no such entry on exports table: 5"]]
            close 3000 no such entry on exports table: 5"#]],
        ),
    ] {
        let raw = Raw::new();
        raw.connection.receive(frame);
        expected.assert_eq(&raw.sent());
    }
}

#[test]
fn two_messages_in_one_frame_abort() {
    let raw = Raw::new();
    raw.connection.receive("[\"push\",1]\n[\"pull\",1]");
    expect![[r#"
        ["abort",["error","SyntaxError","invalid JSON at byte 11: unexpected text after the value"]]
        close 3000 invalid JSON at byte 11: unexpected text after the value"#]]
    .assert_eq(&raw.sent());
}

#[test]
fn one_bad_expression_ends_the_session_and_releases_nothing_more() {
    let raw = Raw::new();
    raw.check(
        r#"
        ["push",["pipeline",0,["keep"],[["export",-1]]]]
        ["push",[["export",-2],["export",-3],["bogus"]]]
        ["push",["pipeline",0,["square"],[2]]]
        ["pull",3]
        "#,
        expect![[r#"
            ["abort",["error","TypeError","unknown special value: [[\"export\",-2],[\"export\",-3],[\"bogus\"]]"]]
            close 3000 unknown special value: [["export",-2],["export",-3],["bogus"]]"#]],
    );
    raw.sample.kept.lock().expect("not poisoned").clear();
    raw.check(
        "",
        expect![[r#"close 3000 unknown special value: [["export",-2],["export",-3],["bogus"]]"#]],
    );
}

// Abort.

#[test]
fn the_peers_abort_is_not_answered() {
    check(
        r#"
        ["push",["pipeline",0,["later"],["x"]]]
        ["pull",1]
        ["abort",["error","TypeError","enough"]]
        ["push",["pipeline",0,["note"],["too late"]]]
        "#,
        expect!["close 3000 enough"],
    );
    check(
        r#"["abort","just a text"]"#,
        expect!["close 3000 just a text"],
    );
    check(
        r#"["abort",["pipeline",99]]"#,
        expect!["close 3000 no such entry on exports table: 99"],
    );
}

#[test]
fn nothing_is_sent_after_an_abort() {
    let raw = Raw::new();
    let remote = raw.connection.remote::<Any>();
    let kept = remote.call("before", ());
    raw.feed("[\"push\",[\"pipeline\",0,[\"later\"],[\"x\"]]]\n[\"pull\",1]");
    raw.connection.abort(Error::type_error("enough"));
    raw.connection.abort(Error::type_error("twice"));
    raw.sample.answer("x", Ok(Value::Null));
    let late = remote.call("after", (Capability::from_target(raw.sample.clone()),));
    drop(kept);
    raw.check(
        "[\"push\",1]\n[\"pull\",2]\n[\"nonsense\"]",
        expect![[r#"
        ["abort",["error","TypeError","enough"]]
        close 3000 enough"#]],
    );
    let mut awaited = Box::pin(std::future::IntoFuture::into_future(late));
    assert_eq!(
        crate::testing::now(awaited.as_mut()).map(show).as_deref(),
        Some("TypeError: enough")
    );
}

#[test]
fn an_abort_fails_all_that_is_pending_with_the_same_error() {
    let peers = Peers::new();
    let first = peers.stub().call("later", ("x",));
    let second = first.call("increment", ());
    peers.pump();
    peers
        .server
        .abort(Error::range_error("the server had enough"));
    for promise in [first, second] {
        assert_eq!(
            show(peers.result(promise)),
            "RangeError: the server had enough"
        );
    }
    assert_eq!(
        peers.call("square", vec![]),
        "RangeError: the server had enough"
    );
}

#[test]
fn disposers_run_exactly_once_when_a_session_ends() {
    let raw = Raw::new();
    raw.feed(
        r#"
        ["push",["pipeline",0,["counter"],[1]]]
        ["push",["pipeline",0,["counter"],[2]]]
        ["pull",1]
        ["release",1,1]
        "#,
    );
    assert_eq!(raw.sample.gone(), 0);
    raw.connection.end(Error::new("the wire was cut"));
    assert_eq!(raw.sample.gone(), 2);
    raw.connection.end(Error::new("again"));
    raw.connection.abort(Error::new("again"));
    assert_eq!(raw.sample.gone(), 2);
}

#[test]
fn a_close_reason_is_cut_between_characters() {
    for (message, length) in [
        ("x".repeat(500), 123),
        ("ä".repeat(100), 122),
        ("€".repeat(50), 123),
        ("😀".repeat(40), 120),
    ] {
        let connection = Connection::new(Capability::nothing(), &Options::default());
        assert_eq!(connection.close_frame(), None);
        connection.abort(Error::new(message.clone()));
        let close = connection.close_frame().expect("it has ended");
        assert_eq!((close.code, close.reason.len()), (3000, length));
        assert!(message.starts_with(&close.reason));
    }
}

#[test]
fn a_close_reason_shows_no_more_than_the_redacted_error() {
    let options = Options::default().redact(|_| Some(Error::new("redacted")));
    let connection = Connection::new(Capability::nothing(), &options);
    connection.abort(Error::new("the database is at 10.0.0.7"));
    assert_eq!(
        connection.take_outgoing(),
        [r#"["abort",["error","Error","redacted"]]"#]
    );
    assert_eq!(
        connection
            .close_frame()
            .map(|close| close.reason)
            .as_deref(),
        Some("redacted")
    );
}
