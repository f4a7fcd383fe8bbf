//! Each budget ends the session with its reason when it is exceeded, and not before.

use std::time::Duration;

use expect_test::{Expect, expect};

use super::*;
use crate::testing::{Peers, Raw, show};
use crate::{Any, Capability, Value};

/// The second input exceeds the limit, the first does not.
fn check_limit(change: impl FnOnce(&mut Limits), within: &str, beyond: &str, expected: Expect) {
    let raw = Raw::limited(change);
    raw.feed(within);
    assert_eq!(raw.connection.close_frame(), None);
    raw.check(beyond, expected);
}

#[test]
fn the_defaults_are_those_of_the_reference() {
    let limits = Limits::default();
    assert_eq!(
        (
            limits.max_message_bytes,
            limits.max_depth,
            limits.max_bigint_digits
        ),
        (33_554_432, 256, 16_384)
    );
}

#[test]
fn bounds_what_one_message_says() {
    let push = |length: usize| format!("[\"push\",\"{}\"]", "x".repeat(length));
    check_limit(
        |limits| limits.max_message_bytes = 50,
        &push(50 - 11),
        &push(50 - 10),
        expect![[r#"
        ["abort",["error","TypeError","Incoming message exceeds maximum size of 50 bytes."]]
        close 3000 Incoming message exceeds maximum size of 50 bytes."#]],
    );
    let nested = |depth: usize| format!("[\"push\",{}1{}]", "[[".repeat(depth), "]]".repeat(depth));
    check_limit(
        |limits| limits.max_depth = 10,
        &nested(9),
        &nested(10),
        expect![[r#"
        ["abort",["error","TypeError","Deserialization exceeded maximum allowed message depth of 10."]]
        close 3000 Deserialization exceeded maximum allowed message depth of 10."#]],
    );
    let bigint = |digits: usize| format!("[\"push\",[\"bigint\",\"-{}\"]]", "9".repeat(digits - 1));
    check_limit(
        |limits| limits.max_bigint_digits = 20,
        &bigint(20),
        &bigint(21),
        expect![[r#"
        ["abort",["error","TypeError","Deserialized bigint exceeds maximum length of 20 digits."]]
        close 3000 Deserialized bigint exceeds maximum length of 20 digits."#]],
    );
    let path = |steps: usize| {
        format!(
            "[\"push\",[\"pipeline\",0,[{}\"itself\"]]]",
            "\"itself\",".repeat(steps - 1)
        )
    };
    check_limit(
        |limits| limits.max_depth = 20,
        &path(20),
        &path(21),
        expect![[r#"
        ["abort",["error","RangeError","a property path is longer than 20 steps"]]
        close 3000 a property path is longer than 20 steps"#]],
    );
    let path = |steps: usize| {
        format!(
            "[\"push\",[\"remap\",0,[{}\"itself\"],[],[1]]]",
            "\"itself\",".repeat(steps - 1)
        )
    };
    check_limit(
        |limits| limits.max_depth = 20,
        &path(20),
        &path(21),
        expect![[r#"
        ["abort",["error","RangeError","a property path is longer than 20 steps"]]
        close 3000 a property path is longer than 20 steps"#]],
    );
}

#[test]
fn depth_counts_through_arguments() {
    let nested = |depth: usize| {
        let calls = r#"["pipeline",0,["echo"],["#.repeat(depth);
        format!("[\"push\",{calls}1{}]", "]]".repeat(depth))
    };
    check_limit(
        |limits| limits.max_depth = 10,
        &nested(9),
        &nested(10),
        expect![[r#"
        ["abort",["error","TypeError","Deserialization exceeded maximum allowed message depth of 10."]]
        close 3000 Deserialization exceeded maximum allowed message depth of 10."#]],
    );
}

#[test]
fn bounds_what_the_peer_makes_us_keep() {
    let pushes = |count: usize| "[\"push\",1]\n".repeat(count);
    check_limit(
        |limits| limits.max_exports = 10,
        &pushes(9),
        &pushes(1),
        expect![[r#"
        ["abort",["error","RangeError","the session holds too many unreleased results"]]
        close 3000 the session holds too many unreleased results"#]],
    );
    check_limit(
        |limits| limits.max_exports = 10,
        &"[\"pipe\"]\n".repeat(9),
        "[\"pipe\"]",
        expect![[r#"
        ["abort",["error","RangeError","the session holds too many unreleased results"]]
        close 3000 the session holds too many unreleased results"#]],
    );
    let keep = |id: i64| format!("[\"push\",[\"pipeline\",0,[\"keep\"],[[\"export\",{id}]]]]\n");
    let raw = Raw::limited(|limits| limits.max_imports = 5);
    raw.feed(&(1..5).map(|id| keep(-id)).collect::<String>());
    assert_eq!(raw.connection.stats().imports, 5);
    raw.check(
        &keep(-5),
        expect![[r#"
        ["abort",["error","RangeError","the session holds too many capabilities"]]
        close 3000 the session holds too many capabilities"#]],
    );
    raw.sample.kept.lock().expect("not poisoned").clear();
}

#[test]
fn releasing_makes_room() {
    let raw = Raw::limited(|limits| limits.max_exports = 3);
    for id in 1..100 {
        raw.feed(&format!("[\"push\",1]\n[\"release\",{id},1]"));
    }
    assert_eq!(raw.connection.close_frame(), None);
}

#[test]
fn our_own_calls_fail_when_the_peer_answers_none() {
    let raw = Raw::limited(|limits| limits.max_imports = 3);
    let calls: Vec<_> = (0..3)
        .map(|_| raw.connection.remote::<Any>().call("x", ()))
        .collect();
    let mut last = Box::pin(std::future::IntoFuture::into_future(calls[2].clone()));
    assert_eq!(
        crate::testing::now(last.as_mut()).map(show).as_deref(),
        Some("RangeError: the session holds too many unanswered calls and capabilities")
    );
    drop((calls, last));
    raw.feed("");
    assert_eq!(raw.connection.close_frame(), None);
}

#[test]
fn bounds_calls_in_flight() {
    let wait = |name: &str| format!("[\"push\",[\"pipeline\",0,[\"later\"],[\"{name}\"]]]\n");
    let queue = "[\"push\",[\"pipeline\",1,[\"increment\"],[]]]\n";
    // A call that returned a promise is over; those that queue behind the promise are not.
    check_limit(
        |limits| limits.max_calls_in_flight = 3,
        &(wait("x") + &queue.repeat(3)),
        queue,
        expect![[r#"
        ["abort",["error","RangeError","the session has too many calls in flight"]]
        close 3000 the session has too many calls in flight"#]],
    );
    let calls = "[\"pipeline\",0,[\"square\"],[1]],".repeat(4);
    let many = format!("[\"push\",[[{calls}1]]]");
    check_limit(
        |limits| limits.max_calls_in_flight = 4,
        &many,
        &many.replacen("1]]]", "1,[\"pipeline\",0,[\"square\"],[1]]]]]", 1),
        expect![[r#"
        ["abort",["error","RangeError","the session has too many calls in flight"]]
        close 3000 the session has too many calls in flight"#]],
    );
}

#[test]
fn bounds_calls_in_flight_of_tasks() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let raw = Raw::limited(|limits| limits.max_calls_in_flight = 2);
        let wait = "[\"push\",[\"pipeline\",0,[\"wait\"],[1]]]\n";
        raw.feed(&wait.repeat(2));
        tokio::task::yield_now().await;
        raw.sample.gate.notify_waiters();
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        raw.check(&wait.repeat(2), expect![[""]]);
        raw.check(
            wait,
            expect![[r#"
            ["abort",["error","RangeError","the session has too many calls in flight"]]
            close 3000 the session has too many calls in flight"#]],
        );
    });
}

#[test]
fn bounds_what_waits_for_a_slow_reader() {
    let echo = |id: usize| {
        format!(
            "[\"push\",[\"pipeline\",0,[\"echo\"],[\"{}\"]]]\n[\"pull\",{id}]\n",
            "x".repeat(400)
        )
    };
    let raw = Raw::limited(|limits| limits.max_queued_bytes = 1000);
    for id in 1..10 {
        // Read in time.
        raw.feed(&echo(id));
        raw.feed(&format!("[\"release\",{id},1]"));
    }
    for id in 10..12 {
        raw.connection
            .receive(echo(id).lines().next().expect("a push"));
        raw.connection
            .receive(echo(id).lines().last().expect("a pull"));
    }
    assert_eq!(raw.connection.close_frame(), None);
    raw.connection
        .receive(echo(12).lines().next().expect("a push"));
    raw.connection
        .receive(echo(12).lines().last().expect("a pull"));
    let sent = raw.sent();
    assert!(sent.ends_with("\n[\"abort\",[\"error\",\"RangeError\",\"the peer reads too slowly\"]]\nclose 3000 the peer reads too slowly"));
}

#[test]
fn bounds_callbacks_that_wait_for_a_slow_reader() {
    let raw = Raw::limited(|limits| limits.max_queued_bytes = 1000);
    raw.feed(r#"["push",["pipeline",0,["keep"],[["export",-1]]]]"#);
    let Some(Value::Stub(callback)) = raw.sample.kept.lock().expect("not poisoned").pop() else {
        panic!("a callback")
    };
    let calls: Vec<_> = (0..3)
        .map(|_| callback.invoke(("x".repeat(400),)))
        .collect();
    assert_eq!(
        raw.connection
            .close_frame()
            .map(|close| close.reason)
            .as_deref(),
        Some("the peer reads too slowly")
    );
    drop((calls, callback));
}

#[test]
fn bounds_the_rate_of_calls() {
    let rate = CallRate {
        per_second: 10,
        burst: 3,
    };
    let mut bucket = Bucket::new(rate);
    let mut take = |milliseconds| bucket.take(Duration::from_millis(milliseconds));
    assert_eq!(
        [take(0), take(0), take(0), take(0)],
        [true, true, true, false]
    );
    assert_eq!(
        [take(99), take(100), take(150), take(200)],
        [false, true, false, true]
    );
    // It never holds more than the burst.
    assert_eq!(
        [take(9000), take(9000), take(9000), take(9000)],
        [true, true, true, false]
    );
    // A clock that goes back is no reason to give more.
    assert!(!take(8000));

    let call = "[\"push\",[\"pipeline\",0,[\"square\"],[1]]]\n";
    let rate = CallRate {
        per_second: 1,
        burst: 3,
    };
    check_limit(
        |limits| limits.call_rate = Some(rate),
        &call.repeat(3),
        call,
        expect![[r#"
        ["abort",["error","RangeError","calls arrive faster than this session may"]]
        close 3000 calls arrive faster than this session may"#]],
    );
}

#[test]
fn every_call_of_a_message_counts_towards_the_rate() {
    let rate = CallRate {
        per_second: 1,
        burst: 3,
    };
    let call = "[\"pipeline\",0,[\"square\"],[1]]";
    let many = format!("[\"push\",[[{call},{call},{call},{call}]]]");
    check_limit(
        |limits| limits.call_rate = Some(rate),
        "[\"push\",1]\n[\"push\",2]",
        &many,
        expect![[r#"
        ["abort",["error","RangeError","calls arrive faster than this session may"]]
        close 3000 calls arrive faster than this session may"#]],
    );
}

// Growth through promises.

#[test]
fn a_value_cannot_grow_deeper_through_promises() {
    let raw = Raw::limited(|limits| limits.max_depth = 10);
    raw.feed(r#"["push",1]"#);
    (1..9).for_each(|id| drop(raw.feed(&format!(r#"["push",[[["pipeline",{id}]]]]"#))));
    raw.check(
        "[\"pull\",9]",
        expect![[r#"["resolve",9,[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]"#]],
    );
    raw.feed("[\"push\",[[[\"pipeline\",9]]]]\n[\"push\",[[[\"pipeline\",10]]]]");
    raw.check("[\"pull\",10]\n[\"pull\",11]\n[\"push\",[\"pipeline\",0,[\"note\"],[[\"pipeline\",11]]]]\n[\"pull\",12]", expect![[r#"
        ["resolve",10,[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]
        ["reject",11,["error","RangeError","the value nests too deeply once its promises are resolved"]]
        ["reject",12,["error","RangeError","the value nests too deeply once its promises are resolved"]]"#]]);
    (1..13).for_each(|id| raw.connection.receive(&format!("[\"release\",{id},1]")));
}

#[test]
fn a_value_cannot_grow_larger_through_promises() {
    let large = "x".repeat(1000);
    for value in [
        format!("\"{large}\""),
        format!("[\"url\",\"http://a/{large}\"]"),
        format!("[\"regexp\",\"{large}\"]"),
        format!("[\"bigint\",\"{}\"]", "9".repeat(2400)),
        format!("[\"headers\",[[\"a\",\"{large}\"]]]"),
        format!("[\"request\",\"http://a/{large}\",{{}}]"),
        format!("[\"request\",\"http://a/\",{{\"body\":\"{large}\"}}]"),
        format!("[\"request\",\"http://a/\",{{\"cf\":[\"{large}\"]}}]"),
        format!("[\"response\",null,{{\"headers\":[[\"a\",\"{large}\"]]}}]"),
        format!("[\"response\",[\"bytes\",\"{}\"],{{}}]", "A".repeat(1336)),
        format!("{{\"{large}\":1}}"),
        format!("[\"error\",\"Error\",\"{large}\"]"),
    ] {
        let raw = Raw::limited(|limits| limits.max_message_bytes = 10_000);
        raw.feed(&format!("[\"push\",{value}]"));
        raw.feed(&format!(
            "[\"push\",[[{}]]]",
            ["[\"pipeline\",1]"; 11].join(",")
        ));
        let sent = raw.feed("[\"pull\",2]\n[\"release\",1,1]\n[\"release\",2,1]");
        assert_eq!(
            sent,
            r#"["reject",2,["error","RangeError","the value is too large once its promises are resolved"]]"#,
            "{}",
            &value[..20]
        );
    }
}

#[test]
fn doubling_a_value_again_and_again_is_bounded_in_time_and_space() {
    for reference in [
        |id: usize| format!(r#"["pipeline",{id}]"#),
        |id: usize| format!(r#"["pipeline",{id},["a"]]"#),
    ] {
        let raw = Raw::new();
        raw.feed(r#"["push",{"a":1}]"#);
        for id in 1..60 {
            raw.feed(&format!(r#"["push",{{"a":[[{0},{0}]]}}]"#, reference(id)));
        }
        let sent = raw.feed("[\"pull\",60]");
        assert!(
            sent.contains("RangeError"),
            "{}",
            &sent[..sent.len().min(200)]
        );
        (1..61).for_each(|id| raw.connection.receive(&format!("[\"release\",{id},1]")));
    }
}

#[test]
fn doubling_what_waits_is_bounded() {
    let raw = Raw::limited(|limits| limits.max_awaited_promises = 1000);
    raw.feed(r#"["push",["pipeline",0,["later"],["x"]]]"#);
    for id in 1..20 {
        raw.feed(&format!(
            r#"["push",[[["pipeline",{id}],["pipeline",{id}]]]]"#
        ));
    }
    raw.check(
        "[\"pull\",5]\n[\"pull\",20]",
        expect![[r#"
        ["abort",["error","RangeError","the session waits for too many promises"]]
        close 3000 the session waits for too many promises"#]],
    );
}

#[test]
fn what_is_awaited_is_counted_until_it_comes() {
    let raw = Raw::limited(|limits| limits.max_awaited_promises = 10);
    raw.feed(r#"["push",["pipeline",0,["later"],["x"]]]"#);
    raw.feed(&format!(
        "[\"push\",[[{}]]]\n[\"pull\",2]",
        ["[\"pipeline\",1]"; 10].join(",")
    ));
    raw.sample.answer("x", Ok(1.into()));
    raw.check(
        &format!(
            "[\"push\",[[{}]]]\n[\"pull\",3]",
            ["[\"pipeline\",1]"; 10].join(",")
        ),
        expect![[r#"
        ["resolve",2,[[1,1,1,1,1,1,1,1,1,1]]]
        ["resolve",3,[[1,1,1,1,1,1,1,1,1,1]]]"#]],
    );
    (1..4).for_each(|id| raw.connection.receive(&format!("[\"release\",{id},1]")));
}

#[test]
fn errors_that_refer_to_each_other_are_printed_within_the_limit() {
    let raw = Raw::limited(|limits| limits.max_message_bytes = 10_000);
    raw.feed(r#"["push",["error","Error","x"]]"#);
    for id in 1..60 {
        raw.feed(&format!(
            r#"["push",["error","Error","x",null,{{"a":["pipeline",{id}],"b":["pipeline",{id}]}}]]"#
        ));
    }
    let sent = raw.feed("[\"pull\",60]");
    assert!(sent.len() <= 10_000, "{}", sent.len());
    (1..61).for_each(|id| raw.connection.receive(&format!("[\"release\",{id},1]")));
}

#[test]
fn one_session_at_its_limit_does_not_touch_another() {
    let peers = Peers::new();
    let raw = Raw::limited(|limits| limits.max_exports = 1);
    raw.feed("[\"push\",1]");
    assert!(raw.connection.close_frame().is_some());
    assert_eq!(peers.call("square", vec![3.into()]), "9.0");
    drop(Capability::nothing());
}

#[test]
fn bounds_what_results_hold_until_they_are_released() {
    let list = r#"["push",["pipeline",0,["list"],[1000]]]"#;
    let room_for_two = Value::array(0..1000).weight() * 5 / 2;
    check_limit(
        |limits| limits.max_held_bytes = room_for_two,
        &format!("{list}\n[\"release\",1,1]\n{list}\n[\"release\",2,1]\n{list}\n{list}"),
        list,
        expect![[r#"
        ["abort",["error","RangeError","the session makes us hold too many bytes"]]
        close 3000 the session makes us hold too many bytes"#]],
    );
}

#[test]
fn bounds_what_the_elements_of_a_map_return() {
    check_limit(
        |limits| limits.max_held_bytes = 1_000_000,
        r#"["push",["pipeline",0,["list"],[1000]]]"#,
        r#"["push",["remap",1,[],[["import",0]],[["pipeline",-1,["list"],[1000]]]]]"#,
        expect![[r#"
        ["abort",["error","RangeError","the session makes us hold too many bytes"]]
        close 3000 the session makes us hold too many bytes"#]],
    );
}

#[test]
fn bounds_what_chunks_become_once_their_promises_are_resolved() {
    let write = "[\"stream\",[\"pipeline\",1,[\"write\"],[[\"pipeline\",2]]]]\n";
    check_limit(
        |limits| limits.max_queued_bytes = 100_000,
        &format!(
            "[\"pipe\"]\n[\"push\",\"{}\"]\n{}",
            "x".repeat(30_000),
            write.repeat(3)
        ),
        write,
        expect![[r#"
        ["abort",["error","RangeError","the session's streams hold too many unread bytes"]]
        close 3000 the session's streams hold too many unread bytes"#]],
    );
}

#[test]
fn bounds_what_an_answer_exports() {
    let raw = Raw::limited(|limits| limits.max_exports = 10);
    let own = vec![r#"["import",0]"#; 20].join(",");
    let answer = raw.feed(&format!(
        "[\"push\",[[{own}]]]\n[\"pull\",1]\n[\"release\",1,1]"
    ));
    assert_eq!(
        answer,
        r#"["reject",1,["error","RangeError","the peer holds too many capabilities"]]"#
    );
}

#[test]
fn values_that_hold_each_other_through_promises_are_dropped_with_the_session() {
    let raw = Raw::new();
    let gone = raw.sample.gone();
    raw.feed(concat!(
        "[\"push\",{\"a\":[\"promise\",-1],\"counter\":[\"pipeline\",0,[\"counter\"],[1]]}]\n",
        "[\"resolve\",-1,{\"z\":[\"pipeline\",1]}]"
    ));
    raw.connection.end(crate::Error::new("over"));
    assert_eq!(
        raw.sample.gone(),
        gone + 1,
        "the counter is gone with the value that held it"
    );
}

#[test]
fn a_call_that_waits_for_its_own_answer_is_dropped_with_the_session() {
    let raw = Raw::new();
    let gone = raw.sample.gone();
    raw.feed(concat!(
        "[\"push\",[\"pipeline\",0,[\"echo\"],[{\"a\":[\"promise\",-1],\"c\":[\"pipeline\",0,[\"counter\"],[1]]}]]]\n",
        "[\"resolve\",-1,{\"z\":[\"pipeline\",1]}]"
    ));
    raw.connection.end(crate::Error::new("over"));
    assert_eq!(
        raw.sample.gone(),
        gone + 1,
        "the argument is gone with the call"
    );
}
