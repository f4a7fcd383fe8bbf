//! Error details in JSON and in protobuf.

use serde_json::json;

use super::*;

fn info() -> ErrorInfo {
    ErrorInfo {
        reason: "TASK_NOT_FOUND".to_owned(),
        domain: "a2a-protocol.org".to_owned(),
        metadata: BTreeMap::from([("taskId".to_owned(), "t-1".to_owned())]),
    }
}

#[test]
fn a_known_detail_is_an_object_with_its_type() {
    let any = Any::pack(&info());
    let expected = json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "TASK_NOT_FOUND",
        "domain": "a2a-protocol.org",
        "metadata": {"taskId": "t-1"},
    });
    assert_eq!(serde_json::to_value(&any).unwrap(), expected);
    assert_eq!(serde_json::from_value::<Any>(expected).unwrap(), any);
    assert_eq!(any.unpack(), Some(Ok(info())));
    assert_eq!(any.unpack::<BadRequest>(), None);
}

#[test]
fn violations_become_a_bad_request() {
    let violations = vec![Violation {
        field: "message.parts".to_owned(),
        description: "needs at least one element".to_owned(),
    }];
    let any = Any::pack(&BadRequest::from(violations));
    let expected = json!({
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [
            {"field": "message.parts", "description": "needs at least one element"},
        ],
    });
    assert_eq!(serde_json::to_value(&any).unwrap(), expected);
}

#[test]
fn an_unknown_detail_is_passed_on_as_it_is() {
    let json = json!({"@type": "example.com/some.Kind", "value": "AP8="});
    let any: Any = serde_json::from_value(json.clone()).unwrap();
    assert_eq!((any.kind(), &any.value[..]), ("some.Kind", &[0, 255][..]));
    assert_eq!(serde_json::to_value(&any).unwrap(), json);
}

#[test]
fn a_known_detail_that_cannot_be_read_is_passed_on_as_it_is() {
    let any = Any {
        type_url: "type.googleapis.com/google.rpc.ErrorInfo".to_owned(),
        value: Bytes::from_static(&[0x0a, 0x05]),
    };
    assert!(any.unpack::<ErrorInfo>().unwrap().is_err());
    let json = serde_json::to_value(&any).unwrap();
    assert_eq!(json, json!({"@type": any.type_url, "value": "CgU="}));
}

#[test]
fn a_detail_without_type_or_value_is_refused() {
    for json in [
        json!({}),
        json!({"@type": 7}),
        json!({"@type": "a/b"}),
        json!({"@type": "a/b", "value": "!"}),
        json!({"@type": "a/google.rpc.ErrorInfo", "reason": 7}),
    ] {
        assert!(
            serde_json::from_value::<Any>(json.clone()).is_err(),
            "{json}"
        );
    }
}

#[test]
fn a_status_comes_back_on_both_wires() {
    let status = Status {
        code: 5,
        message: "no such task".to_owned(),
        details: vec![Any::pack(&info()), Any::pack(&BadRequest::default())],
    };
    assert_eq!(
        Status::from_protobuf(status.to_protobuf()),
        Ok(status.clone())
    );
    assert_eq!(Status::from_json(&status.to_json()), Ok(status));
}
