//! JSON is wrapped as it should be, and read back as what it was.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::Raw;
use crate::value::Value;

fn raw(json: &str) -> String {
    Raw::from_json(json).unwrap().as_str().to_owned()
}

/// As a peer would have it.
fn read(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(value) => Value::Number(value.as_f64().unwrap()),
        Json::String(value) => Value::String(value.clone()),
        Json::Array(items) => Value::Array(items.iter().map(read).collect()),
        Json::Object(members) => Value::object(
            members
                .iter()
                .map(|(name, value)| (name.clone(), read(value))),
        ),
    }
}

#[test]
fn arrays_are_wrapped_and_all_else_stays() {
    assert_eq!(raw("[]"), "[[]]");
    assert_eq!(raw("[1, [ 2 ] ,3]"), "[[1, [[ 2 ] ],3]]");
    assert_eq!(
        raw(r#"{"a":["[",{"b":[true,null]}]}"#),
        r#"{"a":[["[",{"b":[[true,null]]}]]}"#
    );
    assert_eq!(raw(r#" "a\"]" "#), r#" "a\"]" "#);
}

#[test]
fn what_is_no_json_is_refused() {
    for text in ["", "[", "[1,]", "{\"a\"}", "1 2", "[}", "nul"] {
        assert!(Raw::from_json(text).is_err(), "{text:?}");
    }
}

#[test]
fn what_a_message_could_not_hold_is_refused() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let deepest = Raw::from_json(&nested(256)).unwrap();
    assert!(matches!(
        deepest.parse(),
        crate::expression::Expression::Array(_)
    ));
    assert!(Raw::from_json(&nested(257)).is_err());
}

fn json_value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-1e9..1e9).prop_map(|number: f64| json!(number)),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let members = prop::collection::btree_map("[a-z]{1,5}", inner.clone(), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(Json::from),
            members.prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn it_reads_as_what_it_was(json in json_value(), spaced in any::<bool>()) {
        let text = if spaced {
            serde_json::to_string_pretty(&json).unwrap()
        } else {
            json.to_string()
        };
        let value = Value::Raw(Raw::from_json(&text).unwrap()).without_raw();
        prop_assert_eq!(format!("{value:?}"), format!("{:?}", read(&json)));
    }

    #[test]
    fn any_text_is_refused_or_read(text in "[\\[\\]{}\",:0-9a-e \\\\-]{0,20}") {
        if let Ok(raw) = Raw::from_json(&text) {
            raw.parse();
        }
    }
}
