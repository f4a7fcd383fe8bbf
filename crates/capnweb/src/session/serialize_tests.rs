//! What is evaluated and sent back is the same, and what cannot be sent leaves no trace.

use expect_test::expect;

use crate::testing::{Counter, Peers, REST, Raw, check, show};
use crate::value::{Blob, Body, Request};
use crate::{
    Any, Capability, Connection, Error, Limits, Options, ReadableStream, Value, WritableStream,
};

/// Each expression comes back from `echo` as it was sent.
#[track_caller]
fn check_echo(expressions: &[&str]) {
    for expression in expressions {
        check_echo_as(expression, expression);
    }
}

#[track_caller]
fn check_echo_as(sent: &str, received: &str) {
    let raw = Raw::new();
    // As an argument, as an element, and pushed by itself.
    let answers = raw.feed(&format!(
        r#"
        ["push",["pipeline",0,["echo"],[{sent}]]]
        ["pull",1]
        ["release",1,1]
        ["push",["pipeline",0,["echo"],[{{"a":[[{sent}]]}}]]]
        ["pull",2]
        ["release",2,1]
        ["push",{sent}]
        ["pull",3]
        ["release",3,1]
        "#
    ));
    let expected = format!(
        r#"["resolve",1,{received}]
["resolve",2,{{"a":[[{received}]]}}]
["resolve",3,{received}]"#
    );
    assert_eq!(answers, expected);
}

#[test]
fn literals_come_back() {
    check_echo(&[
        "null",
        "true",
        "false",
        "0",
        "-1.5",
        "1e+21",
        "1e-7",
        "9007199254740991",
        r#""""#,
        r#""ä\n€😀""#,
    ]);
    check_echo(&[
        r#"["undefined"]"#,
        r#"["inf"]"#,
        r#"["-inf"]"#,
        r#"["nan"]"#,
    ]);
    check_echo(&["[[]]", "[[1,[[2]]]]", "{}", r#"{"z":1,"a":2,"":3,"0":4}"#]);
}

#[test]
fn numbers_are_written_as_javascript_writes_them() {
    for (sent, received) in [
        ("5.0", "5"),
        ("-0", "0"),
        ("1E2", "100"),
        ("100000000000000000000000", "1e+23"),
        ("0.1e1", "1"),
    ] {
        check_echo_as(sent, received);
    }
}

#[test]
fn tagged_values_come_back() {
    check_echo(&[
        r#"["bigint","123456789012345678901234567890"]"#,
        r#"["bigint","-1"]"#,
        r#"["date",1700000000000.5]"#,
        r#"["date",null]"#,
        r#"["bytes","AQID"]"#,
        r#"["bytes","AQIDBA","Int32Array"]"#,
        r#"["bytes","","ArrayBuffer"]"#,
        r#"["url","http://example.com/?a=b"]"#,
        r#"["regexp","^a+$","gi"]"#,
        r#"["headers",[["a","1"],["a","2"]]]"#,
        r#"["error","RangeError","no"]"#,
        r#"["error","AggregateError","many",null,{"errors":[[["error","Error","one"]]],"code":"E","cause":null}]"#,
        r#"["request","http://a/",{}]"#,
        r#"["request","http://a/",{"method":"PUT","headers":[["a","b"]],"body":"text","duplex":"half","redirect":"manual"}]"#,
        r#"["response",null,{}]"#,
        r#"["response",["bytes","AQID"],{"status":404,"statusText":"no","headers":[["a","b"]],"cf":{"x":[1,null,"y"]}}]"#,
    ]);
}

#[test]
fn other_spellings_come_back_in_ours() {
    for (sent, received) in [
        (r#"["bigint","0x10"]"#, r#"["bigint","16"]"#),
        (r#"["bytes","AQIDBA=="]"#, r#"["bytes","AQIDBA"]"#),
        (r#"["bytes","_-8"]"#, r#"["bytes","/+8"]"#),
        (r#"["bytes","AQID","Uint8Array"]"#, r#"["bytes","AQID"]"#),
        (r#"["error","CustomError","x"]"#, r#"["error","Error","x"]"#),
        (
            r#"["error","Error","x",null,{}]"#,
            r#"["error","Error","x"]"#,
        ),
        (r#"["regexp","a",""]"#, r#"["regexp","a"]"#),
        (r#""\ud800""#, "\"\u{fffd}\""),
        (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
        (r#"{"b":1,"a":2,"b":3}"#, r#"{"b":3,"a":2}"#),
        (
            r#"{"a":1,"__proto__":2,"toString":3,"toJSON":4}"#,
            r#"{"a":1}"#,
        ),
    ] {
        check_echo_as(sent, received);
    }
}

#[test]
fn a_stack_goes_out_only_when_the_redaction_gives_one() {
    check_echo_as(
        r#"["error","Error","x","at line 1",{"a":1}]"#,
        r#"["error","Error","x",null,{"a":1}]"#,
    );
    check_echo_as(
        r#"["error","Error","x","at line 1"]"#,
        r#"["error","Error","x"]"#,
    );
}

#[test]
fn integers_beyond_doubles_go_as_bigints() {
    let peers = Peers::new();
    for (value, shown) in [
        (Value::from(9_007_199_254_740_991_i64), "9007199254740991.0"),
        (Value::from(9_007_199_254_740_992_i64), "9007199254740992n"),
        (Value::from(u64::MAX), "18446744073709551615n"),
        (Value::from(i64::MIN), "-9223372036854775808n"),
    ] {
        assert_eq!(peers.call("echo", vec![value]), shown);
    }
}

// What cannot be sent.

#[test]
fn a_value_that_cannot_be_sent_leaves_the_tables_as_they_were() {
    let peers = Peers::new();
    let gone = std::sync::Arc::default();
    let stream = ReadableStream::from_items([1]);
    assert!(stream.take().is_some());
    let late = Capability::from_target(peers.sample.clone()).call("later", ("x",));
    // The stream at the end was read already; all before it was entered in the tables.
    let arguments = || {
        vec![
            Value::from(Counter::stub(1.0, &gone)),
            Value::from(&late),
            Value::from(late.property("a")),
            Value::Readable(ReadableStream::from_items([1])),
            Value::Writable(WritableStream::pipe().0),
            Value::Readable(stream.clone()),
        ]
    };
    let before = peers.client.stats();
    assert_eq!(
        peers.call("echo", arguments()),
        "TypeError: the ReadableStream was already read or sent"
    );
    assert_eq!(peers.client.stats(), before);
    assert_eq!(gone.load(std::sync::atomic::Ordering::SeqCst), 1);
    // The ids are free again, and the next message is understood.
    let sent = peers.stub().call("echo", (Counter::stub(2.0, &gone),));
    let frames: Vec<_> = peers.client.take_outgoing().into();
    expect![[r#"["push",["pipeline",0,["echo"],[["export",-1]]]]"#]].assert_eq(&frames.join("\n"));
    frames.iter().for_each(|frame| peers.server.receive(frame));
    drop(sent);
    peers.pump();
    assert_eq!(gone.load(std::sync::atomic::Ordering::SeqCst), 2);
}

#[test]
fn a_result_that_cannot_be_sent_is_a_rejection() {
    let raw = Raw::new();
    let (writable, _readable) = WritableStream::pipe();
    assert!(crate::testing::now(Box::pin(writable.close()).as_mut()).is_some());
    let result = Value::array([
        Value::from(Counter::stub(1.0, &raw.sample.gone)),
        Value::Writable(writable),
    ]);
    raw.sample.kept.lock().expect("not poisoned").push(result);
    raw.check(
        r#"
        ["push",["pipeline",0,["kept"],[]]]
        ["pull",1]
        ["push",["pipeline",0,["forget"],[]]]
        ["release",1,1]
        ["release",2,1]
        "#,
        expect![[r#"["reject",1,["error","TypeError","the WritableStream is already closed"]]"#]],
    );
    assert_eq!(raw.sample.gone(), 1);
}

#[test]
fn a_property_of_an_error_that_cannot_be_sent_is_left_out() {
    let raw = Raw::new();
    let stream = ReadableStream::from_items([1]);
    assert!(stream.take().is_some());
    let late = Capability::from_target(raw.sample.clone()).call("later", ("x",));
    let bad = Value::array([Value::from(late.property("a")), Value::Readable(stream)]);
    let error = Error::new("x").with_prop("bad", bad).with_prop("good", 1);
    raw.sample
        .kept
        .lock()
        .expect("not poisoned")
        .push(Value::Error(error));
    raw.check(
        r#"
        ["push",["pipeline",0,["kept"],[]]]
        ["pull",1]
        ["push",["pipeline",0,["throw"],[["pipeline",1]]]]
        ["pull",2]
        ["push",["pipeline",0,["forget"],[]]]
        ["release",1,1]
        ["release",2,1]
        ["release",3,1]
        "#,
        expect![[r#"
            ["resolve",1,["error","Error","x",null,{"good":1}]]
            ["reject",2,["error","Error","x",null,{"good":1}]]"#]],
    );
    drop(late);
}

#[test]
fn a_session_that_has_ended_drops_what_is_sent_through_it() {
    let peers = Peers::new();
    peers.client.end(Error::new("the wire was cut"));
    peers.server.end(Error::new("the wire was cut"));
    let gone = std::sync::Arc::default();
    assert_eq!(
        peers.call("echo", vec![Counter::stub(1.0, &gone).into()]),
        "Error: the wire was cut"
    );
    assert_eq!(gone.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[test]
fn a_stream_that_cannot_be_sent_is_dropped_where_it_may_use_the_session() {
    struct Nosy(Connection);
    impl Drop for Nosy {
        fn drop(&mut self) {
            // Would never return if the session were locked.
            self.0.stats();
        }
    }
    let peers = Peers::new();
    let nosy = Nosy(peers.client.clone());
    let stream = ReadableStream::new(futures_util::stream::poll_fn(move |_| {
        let _nosy = &nosy;
        std::task::Poll::Ready(None::<crate::Result<Value>>)
    }));
    let taken = ReadableStream::from_items([1]);
    assert!(taken.take().is_some());
    let arguments = vec![Value::Readable(stream), Value::Readable(taken)];
    assert_eq!(
        peers.call("echo", arguments),
        "TypeError: the ReadableStream was already read or sent"
    );
}

#[test]
fn what_nests_too_deeply_is_not_sent() {
    let limits = Limits {
        max_depth: 8,
        ..Limits::default()
    };
    let nest =
        |value: Value, levels: usize| (0..levels).fold(value, |value, _| Value::array([value]));
    let request = |depth: usize| {
        let plain = (0..depth).fold(crate::expression::Plain::Null, |plain, _| {
            crate::expression::Plain::Array(vec![plain])
        });
        let body = Body::Text("text".to_owned());
        let extra = [("cf".to_owned(), plain)].into_iter().collect();
        Value::from(Request {
            url: "http://a/".to_owned(),
            method: "PUT".to_owned(),
            headers: Vec::new(),
            body,
            extra,
        })
    };
    let deep = |value: Value| {
        let client = Connection::new(
            Capability::nothing(),
            &Options::default().limits(limits.clone()),
        );
        let sent = client.remote::<Any>().call("echo", (value,));
        let frames = client.take_outgoing();
        drop(sent);
        assert_eq!(client.stats(), REST);
        // Every sent frame is read by a peer with the same limits.
        let fits = !frames.is_empty();
        assert!(
            frames
                .iter()
                .all(|frame| crate::message::Message::parse(frame, &limits).is_ok()),
            "{frames:?}"
        );
        fits
    };
    // Arguments stand at depth 1.
    assert!(deep(nest(Value::Null, 6)));
    assert!(!deep(nest(Value::Null, 7)));
    assert!(deep(nest(request(0), 5)));
    assert!(!deep(nest(request(0), 6)));
    assert!(deep(nest(request(5), 0)));
    assert!(!deep(nest(request(6), 0)));
    assert!(!deep(nest(Value::from(Blob::default()), 6)));
    // An error goes without the property that nests too deeply.
    assert!(deep(Value::from(
        Error::new("x").with_prop("deep", nest(Value::Null, 20))
    )));
}

#[test]
fn what_is_too_large_is_not_sent() {
    let limits = Limits {
        max_message_bytes: 1000,
        ..Limits::default()
    };
    let client = Connection::new(Capability::nothing(), &Options::default().limits(limits));
    let echo = |value: Value| {
        let promise = client.remote::<Any>().call("echo", (value,));
        let mut awaited = Box::pin(std::future::IntoFuture::into_future(promise));
        crate::testing::now(awaited.as_mut()).map(show)
    };
    let too_large = Some("RangeError: the value is too large to be sent".to_owned());
    assert_eq!(echo(Value::from("x".repeat(2000))), too_large);
    assert_eq!(
        echo(Value::array(["x".repeat(600), "x".repeat(600)])),
        too_large
    );
    assert_eq!(echo(Value::from(vec![1e20; 60])), too_large);
    assert_eq!(client.take_outgoing().len(), 0);
    // What stands around it takes 37 bytes.
    assert_eq!(echo(Value::from("x".repeat(1000 - 36))), too_large);
    assert_eq!(echo(Value::from("x".repeat(1000 - 37))), None);
    assert_eq!(client.take_outgoing().front().map(String::len), Some(1000));
}

#[test]
fn what_no_peer_would_take_is_not_sent() {
    let peers = Peers::new();
    for (value, complaint) in [
        (
            Value::Url("nonsense".to_owned()),
            "TypeError: the URL is not absolute",
        ),
        (
            Value::Bytes(
                vec![1, 2, 3].into(),
                crate::expression::ByteContainer::Int16Array,
            ),
            "RangeError: 3 bytes fill no Int16Array",
        ),
        (
            Value::from(num_bigint::BigInt::from(10).pow(16_384)),
            "RangeError: the bigint is too long to be sent",
        ),
    ] {
        assert!(matches!(value, Value::BigInt(_)) || value.to_raw().is_none());
        assert_eq!(peers.call("echo", vec![value]), complaint);
    }
    let longest = Value::from(num_bigint::BigInt::from(10).pow(16_383) - 1);
    assert_eq!(peers.call("echo", vec![longest]).len(), 16_384);
}

// Sent to many.

#[test]
fn data_printed_once_is_sent_to_many_as_it_is() {
    let event = Value::object([
        ("id", Value::from(1)),
        ("at", crate::Date::from_milliseconds(5.0).into()),
    ]);
    let raw = event.to_raw().expect("it is plain");
    for _ in 0..3 {
        let client = Connection::new(Capability::nothing(), &Options::default());
        drop(
            client
                .remote::<Any>()
                .call("on", (raw.clone(), Value::array([raw.clone()]))),
        );
        let frames = client.take_outgoing();
        assert_eq!(
            frames[0],
            r#"["push",["pipeline",0,["on"],[{"id":1,"at":["date",5]},[[{"id":1,"at":["date",5]}]]]]]"#
        );
        assert_eq!(client.stats(), REST);
    }
    assert!(Value::array([Capability::nothing()]).to_raw().is_none());
}

#[test]
fn data_printed_before_can_be_looked_into() {
    let raw = Raw::new();
    let printed = Value::object([("list", Value::array([1, 2]))])
        .to_raw()
        .expect("it is plain");
    raw.sample
        .kept
        .lock()
        .expect("not poisoned")
        .push(Value::object([("printed", printed)]));
    raw.check(
        r#"
        ["push",["pipeline",0,["kept"],[]]]
        ["push",["pipeline",1,["printed","list",1]]]
        ["push",["remap",1,["printed","list"],[["import",0]],[["pipeline",-1,["square"],[["pipeline",0]]],["pipeline",1]]]]
        ["push",["pipeline",0,["note"],[["pipeline",1]]]]
        ["pull",1]
        ["pull",2]
        ["pull",3]
        ["pull",4]
        ["push",["pipeline",0,["forget"],[]]]
        ["release",1,1]
        ["release",2,1]
        ["release",3,1]
        ["release",4,1]
        ["release",5,1]
        "#,
        expect![[r#"
            ["resolve",1,{"printed":{"list":[[1,2]]}}]
            ["resolve",2,2]
            ["resolve",3,[[1,4]]]
            ["resolve",4,["undefined"]]"#]],
    );
    assert_eq!(raw.sample.notes(), r#"{"printed": {"list": [1.0, 2.0]}}"#);
}

#[test]
fn forms_that_need_the_tables_are_sent_with_new_ids() {
    check(
        r#"
        ["push",["pipeline",0,["echo"],[[[["export",-1],["writable",-2],["import",0]]]]]]
        ["pull",1]
        ["release",1,1]
        ["release",-1,1]
        ["release",-2,1]
        "#,
        expect![[r#"
            ["resolve",1,[[["import",-1],["writable",-1],["export",-2]]]]
            ["release",-1,1]
            ["release",-2,1]"#]],
    );
}
