//! Frames in words.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

/// Reads frames, `>` from the client and `<` from the server, and compares what they are said to be.
#[expect(clippy::needless_pass_by_value, reason = "so that tests read well")]
fn check(frames: &str, expected: Expect) {
    let mut transcript = Transcript::new();
    let lines: Vec<_> = frames
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|line| {
            let (from, frame) = match line.split_at(2) {
                ("> ", frame) => (Side::Client, frame),
                (_, frame) => (Side::Server, frame),
            };
            transcript.read(from, frame).to_string()
        })
        .collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn a_call_its_answer_and_its_release() {
    check(
        r#"
        > ["push",["pipeline",0,["price"],["tea"]]]
        > ["pull",1]
        < ["resolve",1,2.5]
        > ["release",1,1]
        > ["push",["pipeline",0,["price"],["gold"]]]
        > ["pull",2]
        < ["reject",2,["error","RangeError","no gold here",null,{"code":"not_found"}]]
        > ["release",2,1]
        "#,
        expect![[r#"
            client  push c1: main.price("tea")
            client  pull c1 (main.price)
            server  resolve c1 (main.price): 2.5
            client  release c1 (main.price)
            client  push c2: main.price("gold")
            client  pull c2 (main.price)
            server  reject c2 (main.price): RangeError("no gold here") {code: "not_found"}
            client  release c2 (main.price)"#]],
    );
}

#[test]
fn pipelines_callbacks_and_what_each_side_sends() {
    check(
        r#"
        > ["push",["pipeline",0,["openCart"],["Ada"]]]
        > ["push",["pipeline",1,["add"],["tea",["export",-1]]]]
        > ["pull",2]
        < ["push",["pipeline",-1,[],[1]]]
        < ["pull",1]
        > ["resolve",1,["undefined"]]
        < ["release",1,1]
        < ["release",-1,2]
        < ["resolve",2,["undefined"]]
        > ["release",2,1]
        > ["pull",1]
        < ["resolve",1,["export",-1]]
        > ["push",["import",-1,["items",0,"name"]]]
        > ["release",-1,1]
        < ["resolve",-2,[[1]]]
        > ["push",["remap",0,["list"],[["import",0],["export",-2]],[["pipeline",-1,["square"],[["pipeline",0]]],["pipeline",1]]]]
        > ["pull",0]
        "#,
        expect![[r#"
            client  push c1: main.openCart("Ada")
            client  push c2: c1.add("tea", stub c-1)
            client  pull c2 (c1.add)
            server  push s1: c-1(1)
            server  pull s1 (c-1)
            client  resolve s1 (c-1): undefined
            server  release s1 (c-1)
            server  release c-1 2 times
            server  resolve c2 (c1.add): undefined
            client  release c2 (c1.add)
            client  pull c1 (main.openCart)
            server  resolve c1 (main.openCart): stub s-1
            client  push c3: stub of s-1.items[0].name
            client  release s-1
            server  resolve s-2: [1]
            client  push c4: main.list.map(a function of 2 steps, with main, with c-2)
            client  pull main"#]],
    );
}

#[test]
fn streams_and_the_end() {
    check(
        r#"
        > ["pipe"]
        > ["push",["pipeline",0,["sum"],[["readable",1],["writable",-1],["blob","text/plain",["readable",1]]]]]
        > ["stream",["pipeline",1,["write"],[["bytes","AAEC"]]]]
        < ["resolve",3,["undefined"]]
        > ["release",1,1]
        < ["abort",["error","Error","the server is shutting down"]]
        "#,
        expect![[r#"
            client  pipe c1
            client  push c2: main.sum(readable c1, writable c-1, Blob text/plain from pipe c1)
            client  stream c3: c1.write(Uint8Array of 3 bytes)
            server  resolve c3 (c1.write): undefined
            client  release c1
            server  abort Error("the server is shutting down")"#]],
    );
}

#[test]
fn values_of_every_kind() {
    check(
        r#"
        > ["push",[[null,["undefined"],true,-0.5,["inf"],["nan"],["bigint","-12"],["date",0]]]]
        > ["push",[[["date",null],["bytes","AAEC","ArrayBuffer"],["url","https://example.com/"],["regexp","a+","gi"],["headers",[["a","b"]]]]]]
        > ["push",["request","https://example.com/",{"method":"POST","body":"hello"}]]
        > ["push",["response",null,{"status":404}]]
        > ["push",{"a":{"b":{"c":{"d":{"e":1}}}},"two words":[[1,2,3,4,5,6,7,8,9,10]]}]
        > ["push",["promise",-1]]
        > ["push",["bigint","10000000000000000000000000000000000000000000000000000000000000000"]]
        "#,
        expect![[r#"
            client  push c1: [null, undefined, true, -0.5, Infinity, NaN, -12n, Date(0)]
            client  push c2: [an invalid Date, ArrayBuffer of 3 bytes, URL https://example.com/, /a+/gi, Headers of 1 lines]
            client  push c3: Request POST https://example.com/ with "hello"
            client  push c4: Response 404
            client  push c5: {a: {b: {c: {d: {…}}}}, two words: [1, 2, 3, 4, 5, 6, 7, 8, … 2 more]}
            client  push c6: promise c-1
            client  push c7: a bigint of 213 bits"#]],
    );
}

#[test]
fn what_is_not_a_message_is_shown_as_such() {
    check(
        r#"
        > ["push"]
        > hello
        < ["fly",1]
        > [
        > ["push",["date","x"]]
        < ["resolve","one",1]
        "#,
        expect![[r#"
            client  malformed bad RPC message: ["push"]
            client  malformed invalid JSON at byte 0: expected a value in hello
            server  malformed bad RPC message: ["fly",1]
            client  malformed invalid JSON at byte 1: unexpected end in [
            client  malformed unknown special value: ["date","x"] in ["push",["date","x"]]
            server  malformed bad RPC message: ["resolve","one",1]"#]],
    );
}

#[test]
fn lines_are_short_and_safe_to_print_whatever_a_peer_sends() {
    let long = "x".repeat(10_000);
    let escape = "\\u001b[2J\\u202e\\n";
    check(
        &format!(
            r#"
            > ["push",["pipeline",0,["{long}","{long}"],["{long}"]]]
            < ["resolve",1,"{escape}"]
            > ["push",["pipeline",0,["{escape}"],[{{"{escape}":1}}]]]
            > {long}
            "#
        ),
        expect![[r#"
            client  push c1: main.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx….xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"… (10000 bytes))
            server  resolve c1 (main.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…): "\u{1b}[2J\u{202e}\n"
            client  push c2: main.\u{1b}[2J\u{202e}\n({\u{1b}[2J\u{202e}\n: 1})
            client  malformed invalid JSON at byte 0: expected a value in xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…"#]],
    );
    let mut transcript = Transcript::new();
    let many = vec![r#""0123456789012345678901234567890123456789""#; 100].join(",");
    let nested = format!(r#"["push",{{"a":[[{many}]],"b":[[{many}]]}}]"#);
    let frame = transcript.read(Side::Client, &nested);
    assert_eq!(frame.kind, Some("push"));
    assert_eq!(frame.bytes, nested.len());
    assert_eq!(frame.text.chars().count(), 241);
    assert!(frame.text.ends_with('…'), "{}", frame.text);
}

#[test]
fn what_is_remembered_is_bounded_and_forgotten_when_it_is_released() {
    let mut transcript = Transcript::new();
    for _ in 0..REMEMBERED + 5 {
        transcript.read(Side::Client, r#"["push",["pipeline",0,["x"],[]]]"#);
    }
    assert_eq!(transcript.asked.len(), REMEMBERED);
    let late = format!(r#"["resolve",{},1]"#, REMEMBERED + 5);
    let frame = transcript.read(Side::Server, &late);
    assert_eq!(frame.text, "c10005: 1");
    for id in 1..=REMEMBERED + 5 {
        transcript.read(Side::Client, &format!(r#"["release",{id},1]"#));
    }
    assert!(transcript.asked.is_empty());
}

proptest! {
    #[test]
    fn there_is_a_line_for_any_text(frames in proptest::collection::vec((any::<bool>(), ".{0,80}"), 0..8)) {
        let mut transcript = Transcript::new();
        for (client, text) in frames {
            let side = if client { Side::Client } else { Side::Server };
            let line = transcript.read(side, &text).to_string();
            prop_assert!(!line.chars().any(char::is_control));
        }
    }

    #[test]
    fn there_is_a_line_for_any_damage_to_a_message(at in 0_usize..90, with in any::<char>(), client in any::<bool>()) {
        let frame = r#"["push",["pipeline",0,["price"],["tea",{"a":[[1,["date",5]]]},["export",-1]]]]"#;
        let at = at.min(frame.len());
        let damaged = format!("{}{with}{}", &frame[..at], &frame[(at + 1).min(frame.len())..]);
        let side = if client { Side::Client } else { Side::Server };
        let line = Transcript::new().read(side, &damaged).to_string();
        prop_assert!(line.chars().count() < 400);
        prop_assert!(!line.chars().any(char::is_control));
    }
}
