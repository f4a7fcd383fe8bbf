//! The canonical form of JSON, with the examples of RFC 8785.

use serde_json::{Value, json};

use super::canonical::{canonical, without_empty};

#[track_caller]
fn check(text: &str, expected: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(canonical(&value), expected);
}

#[test]
fn members_are_sorted_by_utf_16() {
    // A character beyond the basic plane begins with a surrogate, which is less than U+FB33.
    let text = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#;
    let expected = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}";
    check(text, expected);
}

#[test]
fn numbers_are_written_as_javascript_does() {
    check(
        "[333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001, -0, 1.0, 1e21, 123456789012345678]",
        "[333333333.3333333,1e+30,4.5,0.002,1e-27,0,1,1e+21,123456789012345680]",
    );
}

#[test]
fn texts_escape_what_they_must_and_nothing_else() {
    check(
        r#""\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/\u007f""#,
        "\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}\"",
    );
}

#[test]
fn what_says_nothing_is_left_out_at_every_depth() {
    let value = json!({
        "a": "", "b": [], "c": {}, "d": null, "e": [{ "f": [""] }, 0], "g": false,
    });
    assert_eq!(without_empty(&value), Some(json!({ "e": [0], "g": false })));
    assert_eq!(without_empty(&json!({ "a": {} })), None);
}
