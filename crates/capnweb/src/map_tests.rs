//! `.map()`: functions recorded here, run there, and what they may cost.

use expect_test::expect;

use crate::testing::{Counter, Peers, Raw, check, show};
use crate::{Any, Capability, Connection, Error, Options, Stub, Value};

// Evaluating.

#[test]
fn a_mapped_array_is_answered_in_one_frame() {
    check(
        r#"
        ["push",["pipeline",0,["list"],[4]]]
        ["push",["remap",1,[],[["import",0]],[["pipeline",-1,["square"],[["pipeline",0]]],["pipeline",1]]]]
        ["pull",2]
        ["release",1,1]
        ["release",2,1]
        "#,
        expect![[r#"["resolve",2,[[0,1,4,9]]]"#]],
    );
}

#[test]
fn null_and_undefined_pass_unchanged_and_anything_else_is_mapped_once() {
    check(
        r#"
        ["push",[[null,["undefined"],5,"text",{"a":1},[[]],[[1]]]]]
        ["push",["remap",1,[0],[],[{"got":["pipeline",0]}]]]
        ["push",["remap",1,[1],[],[{"got":["pipeline",0]}]]]
        ["push",["remap",1,[2],[],[{"got":["pipeline",0]}]]]
        ["push",["remap",1,[3],[],[{"got":["pipeline",0]}]]]
        ["push",["remap",1,[4],[],[{"got":["pipeline",0,["a"]]}]]]
        ["push",["remap",1,[5],[],[{"got":["pipeline",0]}]]]
        ["push",["remap",1,[6],[],[{"got":["pipeline",0]}]]]
        ["pull",2]
        ["pull",3]
        ["pull",4]
        ["pull",5]
        ["pull",6]
        ["pull",7]
        ["pull",8]
        ["release",1,1]
        ["release",2,1]
        ["release",3,1]
        ["release",4,1]
        ["release",5,1]
        ["release",6,1]
        ["release",7,1]
        ["release",8,1]
        "#,
        expect![[r#"
            ["resolve",2,null]
            ["resolve",3,["undefined"]]
            ["resolve",4,{"got":5}]
            ["resolve",5,{"got":"text"}]
            ["resolve",6,{"got":1}]
            ["resolve",7,[[]]]
            ["resolve",8,[[{"got":1}]]]"#]],
    );
}

#[test]
fn captures_of_both_sides_are_used_and_released() {
    check(
        r#"
        ["push",["remap",0,["settings"],[["export",-1],["import",0]],[["pipeline",-2,["square"],[["pipeline",0,["size"]]]],[[["pipeline",1],["import",-1]]]]]]
        ["pull",1]
        ["release",1,1]
        "#,
        expect![[r#"
            ["resolve",1,[[9,["import",-1]]]]
            ["release",-1,1]"#]],
    );
}

#[test]
fn nested_maps_use_the_numbers_of_the_outer_function() {
    check(
        r#"
        ["push",[[[[1,2]],[[3]],[[]]]]]
        ["push",["remap",1,[],[["import",0]],[["remap",0,[],[["import",-1],["import",0]],[["pipeline",-1,["square"],[["pipeline",0]]],[[["pipeline",1],["pipeline",-2,[0]]]]]],["pipeline",1]]]]
        ["pull",2]
        ["release",1,1]
        ["release",2,1]
        "#,
        expect![[r#"["resolve",2,[[[[[[1,1]],[[4,1]]]],[[[[9,3]]]],[[]]]]]"#]],
    );
}

#[test]
fn a_mapped_object_is_called() {
    let raw = Raw::new();
    raw.check(
        r#"
        ["push",["pipeline",0,["counter"],[5]]]
        ["push",["remap",1,[],[],[["pipeline",0,["increment"],[2]],{"value":["pipeline",1],"itself":["import",0]}]]]
        ["pull",2]
        ["release",1,1]
        ["release",2,1]
        ["release",-1,1]
        "#,
        expect![[r#"["resolve",2,{"value":7,"itself":["export",-1]}]"#]],
    );
    assert_eq!(raw.sample.gone(), 1);
}

#[test]
fn elements_start_in_order_and_are_answered_together() {
    let raw = Raw::new();
    raw.check(
        r#"
        ["push",["remap",0,["settings"],[["import",0]],[["pipeline",-1,["note"],["first"]],["pipeline",-1,["later"],["x"]],["pipeline",2]]]]
        ["push",["pipeline",0,["list"],[3]]]
        ["push",["remap",2,[],[["import",0]],[["pipeline",-1,["note"],[["pipeline",0]]],["pipeline",0]]]]
        ["pull",1]
        ["pull",3]
        "#,
        expect![[r#"["resolve",3,[[0,1,2]]]"#]],
    );
    assert_eq!(raw.sample.notes(), r#""first" 0.0 1.0 2.0"#);
    raw.sample.answer("x", Ok(Value::from("late")));
    raw.check(
        "[\"release\",1,1]\n[\"release\",2,1]\n[\"release\",3,1]",
        expect![[r#"["resolve",1,"late"]"#]],
    );
}

#[test]
fn one_failing_element_fails_the_map() {
    check(
        r#"
        ["push",["remap",0,["settings"],[["import",0]],[["pipeline",-1,["fail"],[]],["pipeline",1]]]]
        ["pull",1]
        ["push",[[1,2]]]
        ["push",["remap",2,[],[["import",0],["export",-1]],[["pipeline",-1,["throw"],[["pipeline",0]]],["pipeline",1]]]]
        ["pull",3]
        ["release",1,1]
        ["release",2,1]
        ["release",3,1]
        "#,
        expect![[r#"
            ["reject",1,["error","RangeError","test error"]]
            ["release",-1,1]
            ["reject",3,1]"#]],
    );
}

#[test]
fn a_function_without_instructions_or_with_unknown_variables_fails() {
    check(
        r#"
        ["push",["remap",0,[],[],[]]]
        ["push",["remap",0,[],[],[["pipeline",1]]]]
        ["push",["remap",0,[],[],[["pipeline",-1]]]]
        ["push",["remap",0,[],[],[["export",-1]]]]
        ["push",["remap",0,[],[],[["promise",-1]]]]
        ["push",["remap",0,[],[],[["readable",1]]]]
        ["push",["remap",0,[],[],[["writable",-1]]]]
        ["push",["remap",0,[],[],[["remap",0,[],[["export",-1]],[1]]]]]
        ["pull",1]
        ["pull",2]
        ["pull",3]
        ["pull",4]
        ["pull",5]
        ["pull",6]
        ["pull",7]
        ["pull",8]
        ["release",1,1]
        ["release",2,1]
        ["release",3,1]
        ["release",4,1]
        ["release",5,1]
        ["release",6,1]
        ["release",7,1]
        ["release",8,1]
        "#,
        expect![[r#"
            ["reject",1,["error","TypeError","a mapped function is empty"]]
            ["reject",2,["error","TypeError","a mapped function has no variable 1"]]
            ["reject",3,["error","TypeError","a mapped function has no variable -1"]]
            ["reject",4,["error","TypeError","a mapped function cannot introduce capabilities"]]
            ["reject",5,["error","TypeError","a mapped function cannot introduce promises"]]
            ["reject",6,["error","TypeError","a mapped function cannot use streams"]]
            ["reject",7,["error","TypeError","a mapped function cannot introduce capabilities"]]
            ["reject",8,["error","TypeError","a mapped function cannot introduce capabilities"]]"#]],
    );
}

// Budgets.

#[test]
fn visiting_too_many_elements_aborts() {
    let raw = Raw::limited(|limits| limits.max_map_elements = 100);
    raw.feed(r#"["push",["pipeline",0,["list"],[100]]]"#);
    raw.check(
        "[\"push\",[\"remap\",1,[],[],[1]]]\n[\"release\",2,1]",
        expect![[""]],
    );
    raw.feed(r#"["push",["pipeline",0,["list"],[11]]]"#);
    // 11 elements, and 11 for each of them.
    raw.check(
        r#"["push",["remap",3,[],[["import",3]],[["remap",-1,[],[],[1]]]]]"#,
        expect![[r#"
        ["abort",["error","RangeError","map() visits more elements than this session may"]]
        close 3000 map() visits more elements than this session may"#]],
    );
}

#[test]
fn nesting_too_deeply_aborts() {
    let nested = |depth: usize| {
        (0..depth).fold("1".to_owned(), |inner, _| {
            format!(r#"["remap",0,[],[],[{inner}]]"#)
        })
    };
    let raw = Raw::limited(|limits| limits.max_map_depth = 2);
    raw.check(
        &format!("[\"push\",{}]\n[\"pull\",1]\n[\"release\",1,1]", nested(3)),
        expect![[r#"["resolve",1,1]"#]],
    );
    raw.check(
        &format!("[\"push\",{}]", nested(4)),
        expect![[r#"
        ["abort",["error","RangeError","map() is nested deeper than this session may"]]
        close 3000 map() is nested deeper than this session may"#]],
    );
}

#[test]
fn a_long_function_costs_as_much_as_many_short_ones() {
    let raw = Raw::limited(|limits| limits.max_map_elements = 1000);
    raw.feed(r#"["push",["pipeline",0,["list"],[100]]]"#);
    let text = "x".repeat(2000);
    raw.check(
        &format!("[\"push\",[\"remap\",1,[],[],[\"{text}\"]]]\n[\"release\",2,1]"),
        expect![[""]],
    );
    let text = "x".repeat(5000);
    raw.check(
        &format!("[\"push\",[\"remap\",1,[],[],[\"{text}\"]]]"),
        expect![[r#"
        ["abort",["error","RangeError","map() visits more elements than this session may"]]
        close 3000 map() visits more elements than this session may"#]],
    );
}

#[test]
fn calls_made_by_a_map_count_as_calls_in_flight() {
    let raw = Raw::limited(|limits| limits.max_calls_in_flight = 10);
    raw.feed(r#"["push",["pipeline",0,["list"],[11]]]"#);
    // Calls that are over when they return do not.
    let square = r#"["push",["remap",1,[],[["import",0]],[["pipeline",-1,["square"],[["pipeline",0]]],["pipeline",1]]]]"#;
    raw.check(
        &format!("{square}\n[\"pull\",2]\n[\"release\",2,1]"),
        expect![[r#"["resolve",2,[[0,1,4,9,16,25,36,49,64,81,100]]]"#]],
    );
    raw.feed(r#"["push",["pipeline",0,["later"],["x"]]]"#);
    let wait = r#"["push",["remap",1,[],[["import",3]],[["pipeline",-1,["increment"],[["pipeline",0]]],["pipeline",1]]]]"#;
    raw.check(
        wait,
        expect![[r#"
        ["abort",["error","RangeError","the session has too many calls in flight"]]
        close 3000 the session has too many calls in flight"#]],
    );
}

// Recording.

#[test]
fn a_function_is_recorded_once_and_sent_with_its_captures() {
    let peers = Peers::new();
    let stub = peers.stub();
    let list = stub.call("list", (3,));
    let doubled = list.map(|mapper, element| {
        let captured = mapper.capture(&stub);
        let again = mapper.capture(&stub);
        let squared = captured.call("square", (&element,));
        Value::object([
            ("square", Value::from(squared)),
            ("same", Value::from(again.call("echo", (element,)))),
        ])
    });
    let frames: Vec<_> = peers.client.take_outgoing().into();
    expect![[r#"
        ["push",["pipeline",0,["list"],[3]]]
        ["push",["remap",1,[],[["import",0]],[["pipeline",-1,["square"],[["pipeline",0]]],["pipeline",-1,["echo"],[["pipeline",0]]],{"square":["pipeline",1],"same":["pipeline",2]}]]]"#]].assert_eq(&frames.join("\n"));
    frames.iter().for_each(|frame| peers.server.receive(frame));
    assert_eq!(
        show(peers.result(doubled)),
        r#"[{"square": 0.0, "same": 0.0}, {"square": 1.0, "same": 1.0}, {"square": 4.0, "same": 2.0}]"#
    );
}

#[test]
fn a_recorded_function_may_call_objects_of_ours() {
    let peers = Peers::new();
    let gone = std::sync::Arc::default();
    let counter: Stub = Stub::from_capability(Counter::stub(10.0, &gone));
    let list = peers.stub().call("list", (3,));
    let added = list.map(|mapper, element| mapper.capture(&counter).call("increment", (element,)));
    drop(counter);
    assert_eq!(show(peers.result(added)), "[10.0, 11.0, 13.0]");
    drop(list);
    peers.pump();
    assert_eq!(gone.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[test]
fn maps_nest_when_recorded() {
    let peers = Peers::new();
    let stub = peers.stub();
    let lists = stub.call(
        "echo",
        (Value::array([Value::array([1, 2]), Value::array([3])]),),
    );
    let squares = lists.map(|mapper, list| {
        let stub = mapper.capture(&stub);
        list.map(move |mapper, element| mapper.capture(&stub).call("square", (element,)))
    });
    assert_eq!(show(peers.result(squares)), "[[1.0, 4.0], [9.0]]");
    let properties = stub
        .property("settings")
        .map(|_, settings| settings.property("size"));
    assert_eq!(show(peers.result(properties)), "3.0");
}

#[test]
fn a_local_value_is_mapped_without_a_peer() {
    let local: Stub<Any> = Stub::new(crate::testing::Counted);
    let mapped = local
        .call("list", ())
        .map(|mapper, element| mapper.capture(&local).call("next", (element,)));
    let mut awaited = Box::pin(std::future::IntoFuture::into_future(mapped));
    assert_eq!(
        crate::testing::now(awaited.as_mut()).map(show).as_deref(),
        Some("[2.0, 3.0]")
    );
}

#[test]
fn what_cannot_be_recorded_fails_the_map() {
    let peers = Peers::new();
    let list = peers.stub().call("list", (1,));
    let mapped = list.map(|_, _| Value::Readable(crate::ReadableStream::from_items([1])));
    assert_eq!(
        show(peers.result(mapped)),
        "TypeError: a ReadableStream cannot be used inside a mapped function"
    );
}

#[test]
fn a_placeholder_that_escapes_has_no_value() {
    let peers = Peers::new();
    let list = peers.stub().call("list", (1,));
    let mut escaped = None;
    drop(list.map(|_, element| {
        escaped = Some(element.clone());
        element
    }));
    let escaped = escaped.expect("the function ran");
    let misuse = "TypeError: a placeholder of a mapped function has no value; it can only be used to record calls";
    assert_eq!(show(peers.result(escaped.clone())), misuse);
    assert_eq!(peers.call("echo", vec![Value::array([escaped])]), misuse);
}

#[test]
fn a_map_passes_through_a_session_that_ended_as_its_error() {
    let connection = Connection::new(Capability::nothing(), &Options::default());
    let list = connection.remote::<Any>().call("list", ());
    connection.end(Error::new("the wire was cut"));
    let mut awaited = Box::pin(std::future::IntoFuture::into_future(
        list.map(|_, element| element),
    ));
    assert_eq!(
        crate::testing::now(awaited.as_mut()).map(show).as_deref(),
        Some("Error: the wire was cut")
    );
}
