//! Requests in the shapes of workspace pages, and replies in them.

use serde_json::{Value, json};

use super::lenient::{is_loose, reply, request};

fn object(value: Value) -> serde_json::Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

#[test]
fn a_message_without_id_and_kind_gets_both() {
    let sent = object(json!({
        "message": { "role": "user", "parts": [{ "type": "text", "text": "hello" }] },
        "configuration": { "streaming": true },
    }));
    assert!(is_loose(&sent));
    let read = request(sent);
    let message = &read["message"];
    assert_eq!(
        message["parts"],
        json!([{ "kind": "text", "text": "hello" }])
    );
    assert!(!message["messageId"].as_str().unwrap().is_empty());
    assert_eq!(read["configuration"], json!({ "blocking": false }));
}

#[test]
fn requests_in_the_usual_shapes_are_not_loose() {
    for usual in [
        json!({ "id": "t" }),
        json!({}),
        json!({ "taskId": "t", "pushNotificationConfig": { "url": "u" } }),
        json!({ "message": { "role": "user", "parts": [{ "kind": "text", "text": "a" }] } }),
    ] {
        assert!(!is_loose(&object(usual.clone())), "{usual}");
    }
    assert!(is_loose(&object(json!({ "taskId": "t" }))));
}

#[test]
fn a_task_is_told_as_pages_expect_it() {
    let message = |text: &str| {
        json!({ "kind": "message", "role": "agent", "messageId": "m",
            "parts": [{ "kind": "text", "text": text }] })
    };
    let task = json!({
        "kind": "task", "id": "t", "contextId": "c",
        "status": { "state": "completed", "message": message("done"), "timestamp": "now" },
        "history": [message("begun")],
        "artifacts": [
            { "artifactId": "a", "name": "a.go", "parts": [{ "kind": "text", "text": "package a" }] },
            { "artifactId": "b", "parts": [{ "kind": "file", "file": { "uri": "u", "mimeType": "image/png" } }] },
        ],
    });
    let said = |text: &str| json!({ "role": "agent", "messageId": "m", "parts": [{ "type": "text", "text": text }] });
    let expected = json!({
        "id": "t", "taskId": "t", "contextId": "c",
        "status": { "state": "completed", "message": "done", "timestamp": "now" },
        "messages": [said("begun"), said("done")],
        "artifacts": [
            { "artifactId": "a", "name": "a.go", "mimeType": "text/plain",
              "parts": [{ "type": "text", "text": "package a" }] },
            { "artifactId": "b", "mimeType": "image/png",
              "parts": [{ "type": "file", "file": { "uri": "u", "mimeType": "image/png" } }] },
        ],
    });
    assert_eq!(reply(task), expected);
}

#[test]
fn updates_are_told_so_as_well() {
    let update = json!({ "kind": "status-update", "taskId": "t", "final": true, "status": {
        "state": "failed", "message": { "parts": [{ "kind": "text", "text": "no" }] },
    }});
    let expected =
        json!({ "taskId": "t", "final": true, "status": { "state": "failed", "message": "no" } });
    assert_eq!(reply(update), expected);
    let update = json!({ "kind": "artifact-update", "taskId": "t", "artifact": { "parts": [{ "kind": "data", "data": {} }] } });
    let expected = json!({ "taskId": "t", "artifact": {
        "mimeType": "application/json", "parts": [{ "type": "data", "data": {} }],
    }});
    assert_eq!(reply(update), expected);
}
