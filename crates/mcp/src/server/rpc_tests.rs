//! Bytes that are a message, bytes that are none, and that no bytes make the reader fail in another way.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Id, Message, RpcError, code, error, response};

fn read(text: &str) -> Result<Message, (i32, Option<Id>, bool)> {
    Message::read(text.as_bytes()).map_err(|it| (it.error.code, it.id, it.silent))
}

#[test]
fn a_message_is_a_request_a_notification_or_a_response() {
    let request = r#"{"params":{"a":1},"id":"x","method":"m","jsonrpc":"2.0","more":[]}"#;
    let params = json!({ "a": 1 }).as_object().cloned();
    assert_eq!(
        read(request),
        Ok(Message::Request {
            id: Id::Text("x".to_owned()),
            method: "m".to_owned(),
            params,
        })
    );
    let notification = r#"{"jsonrpc":"2.0","method":"m"}"#;
    assert_eq!(
        read(notification),
        Ok(Message::Notification {
            method: "m".to_owned(),
            params: Some(Map::new()),
        })
    );
    let response = r#"{"jsonrpc":"2.0","id":7,"result":null}"#;
    assert_eq!(
        read(response),
        Ok(Message::Response {
            id: Id::from(7),
            result: Ok(Value::Null),
        })
    );
    let failed = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}"#;
    assert_eq!(
        read(failed),
        Ok(Message::Response {
            id: Id::from(7),
            result: Err(RpcError::new(-1, "no")),
        })
    );
}

#[test]
fn what_is_no_message_is_told_with_the_id_it_bears() {
    let seven = Some(Id::from(7));
    for (text, code, id) in [
        ("", code::PARSE_ERROR, None),
        ("{", code::PARSE_ERROR, None),
        (r#"{"method":7,"id":7"#, code::PARSE_ERROR, None),
        ("[]", code::INVALID_REQUEST, None),
        (
            r#"[{"jsonrpc":"2.0","method":"m","id":7}]"#,
            code::INVALID_REQUEST,
            None,
        ),
        // Regression: a list was read as the members of a message in their order.
        (r#"["2.0", 7, "m"]"#, code::INVALID_REQUEST, None),
        ("7", code::INVALID_REQUEST, None),
        ("{}", code::INVALID_REQUEST, None),
        (
            r#"{"jsonrpc":"1.0","id":7,"method":"m"}"#,
            code::INVALID_REQUEST,
            seven.clone(),
        ),
        (
            r#"{"id":7,"method":"m"}"#,
            code::INVALID_REQUEST,
            seven.clone(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7}"#,
            code::INVALID_REQUEST,
            seven.clone(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":5}"#,
            code::INVALID_REQUEST,
            seven.clone(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"m"}"#,
            code::INVALID_REQUEST,
            Some(Id::from(8)),
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#,
            code::INVALID_REQUEST,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#,
            code::INVALID_REQUEST,
            None,
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"method":"m","result":1}"#,
            code::INVALID_REQUEST,
            seven.clone(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"error":"no"}"#,
            code::INVALID_REQUEST,
            seven,
        ),
    ] {
        assert_eq!(read(text), Err((code, id, false)), "{text}");
    }
    // A notification is recognised as one, also if nothing else can be read of it.
    let wrong = r#"{"jsonrpc":"2.0","method":7}"#;
    assert_eq!(read(wrong), Err((code::INVALID_REQUEST, None, true)));
}

/// Parameters that are no object are for the method to refuse (-32602), not for the envelope.
#[test]
fn parameters_of_another_kind_do_not_hide_the_request() {
    for params in ["[]", "7", "\"x\""] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{params}}}"#);
        let Ok(Message::Request { params: None, .. }) = read(&text) else {
            panic!("{text}");
        };
    }
}

#[test]
fn members_are_put_behind_those_of_a_result() {
    let text = |result: &[u8], more| {
        let bytes = response(&Id::from(1), result, more);
        serde_json::from_slice::<Value>(&bytes).unwrap()["result"].clone()
    };
    assert_eq!(text(br#"{"a":1}"#, r#""b":2"#), json!({ "a": 1, "b": 2 }));
    assert_eq!(text(b"{}", r#""b":2"#), json!({ "b": 2 }));
    assert_eq!(text(br#"{"a":1}"#, ""), json!({ "a": 1 }));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        Just(json!("2.0")),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop_oneof![
            "jsonrpc|id|method|params|result|error|code|message",
            ".{0,4}"
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..5)
                .prop_map(|it| Value::Object(it.into_iter().collect())),
        ]
    })
}

proptest! {
    /// Whatever arrives is a message or is refused with one of two codes, and the refusal can be written.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(unreadable) = Message::read(&bytes) {
            let known = [code::PARSE_ERROR, code::INVALID_REQUEST];
            prop_assert!(known.contains(&unreadable.error.code));
            let written = error(unreadable.id.as_ref(), &unreadable.error);
            prop_assert!(serde_json::from_slice::<Value>(&written).is_ok());
        }
    }

    /// JSON of any shape is never called a syntax error, and its id comes back where it has one.
    #[test]
    fn any_json_is_a_message_or_an_invalid_request(json in any_json()) {
        let text = json.to_string();
        match Message::read(text.as_bytes()) {
            Ok(message) => {
                prop_assert_eq!(json.get("jsonrpc"), Some(&json!("2.0")));
                if let Message::Request { id, .. } | Message::Response { id, .. } = message {
                    prop_assert_eq!(Some(&serde_json::to_value(id).unwrap()), json.get("id"));
                }
            }
            Err(unreadable) => {
                prop_assert_eq!(unreadable.error.code, code::INVALID_REQUEST);
                if let Some(id) = unreadable.id {
                    prop_assert_eq!(Some(&serde_json::to_value(id).unwrap()), json.get("id"));
                }
            }
        }
    }

    /// A message that is cut anywhere is no message, and is refused as JSON that ends too early.
    #[test]
    fn a_message_that_is_cut_is_refused(end in 0_usize..90) {
        let text = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"x","arguments":{}}}"#;
        let end = end.min(text.len() - 1);
        let refused = Message::read(&text.as_bytes()[..end]).unwrap_err();
        prop_assert_eq!(refused.error.code, code::PARSE_ERROR);
    }
}
