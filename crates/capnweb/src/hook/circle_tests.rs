//! No promise becomes itself, however the peer goes about it.

use expect_test::expect;

use crate::testing::Raw;

#[test]
fn a_promise_resolved_to_itself_fails() {
    let raw = Raw::new();
    // What our method returns is the promise of the peer's answer ...
    raw.feed(r#"["push",["pipeline",0,["callback"],[["export",-1]]]]"#);
    // ... and the peer answers with what our method returned.
    raw.check(
        r#"["resolve",1,["pipeline",1]]"#,
        expect![[r#"["release",1,1]"#]],
    );
    raw.check(
        "[\"pull\",1]\n[\"release\",1,1]",
        expect![[r#"["reject",1,["error","TypeError","a promise was resolved to itself"]]"#]],
    );
}

#[test]
fn a_promise_resolved_to_a_part_of_itself_fails() {
    for path in [
        r#"["result"]"#,
        r#"["result","x"]"#,
        r#"["result","x","y"],[1]"#,
    ] {
        let raw = Raw::new();
        raw.feed(r#"["push",["pipeline",0,["callback_inside"],[["export",-1]]]]"#);
        raw.feed(&format!(r#"["resolve",1,["pipeline",1,{path}]]"#));
        let sent = raw.feed("[\"pull\",1]\n[\"release\",1,1]");
        assert_eq!(
            sent,
            r#"["reject",1,["error","TypeError","a promise was resolved to itself"]]"#
        );
    }
}

#[test]
fn a_value_that_holds_itself_fails() {
    let raw = Raw::new();
    raw.feed(r#"["push",["pipeline",0,["callback_inside"],[["export",-1]]]]"#);
    raw.feed(r#"["resolve",1,[[["pipeline",1,["result"]]]]]"#);
    raw.check(
        "[\"pull\",1]\n[\"release\",1,1]",
        expect![[r#"["reject",1,["error","TypeError","a promise was resolved to itself"]]"#]],
    );
}
