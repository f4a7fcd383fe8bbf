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

#[test]
fn the_answer_of_an_artifact_is_the_last_message() {
    let task = json!({
        "kind": "task", "id": "t", "contextId": "c", "status": { "state": "completed" },
        "history": [{ "kind": "message", "role": "user", "parts": [{ "kind": "text", "text": "hello" }] }],
        "artifacts": [{ "artifactId": "a", "parts": [{ "kind": "text", "text": "Hello!" }] }],
    });
    let told = reply(task.clone());
    let last = told["messages"].as_array().and_then(|it| it.last());
    let answer = json!({ "role": "agent", "parts": [{ "type": "text", "text": "Hello!" }] });
    assert_eq!(last, Some(&answer));
    // While it works nothing is the answer yet.
    let mut working = task;
    working["status"]["state"] = "working".into();
    assert_eq!(reply(working)["messages"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_card_says_in_words_of_the_workspace_what_the_agent_can_do() {
    let told = reply(json!({
        "protocolVersion": "0.3.0", "name": "Ada", "url": "http://localhost/a2a/jsonrpc",
        "capabilities": { "streaming": true },
        "skills": [
            { "id": "file-read", "name": "file-read", "tags": ["files", "workspace"] },
            { "id": "remember", "name": "remember", "tags": ["memory"] },
        ],
        "additionalInterfaces": [
            { "url": "http://localhost/a2a/jsonrpc", "transport": "JSONRPC" },
            { "url": "ws://localhost/ws/a2a", "transport": "WEBSOCKET" },
        ],
    }));
    let expected = json!({
        "streaming": true, "file_operations": true, "memory_graph": true, "browser_automation": false,
    });
    assert_eq!(told["capabilities"], expected);
    let names = told["skills"].as_array().unwrap().iter();
    let names: Vec<&Value> = names.map(|it| &it["name"]).collect();
    assert_eq!(
        names,
        [
            "code_generation",
            "memory_management",
            "file-read",
            "remember"
        ]
    );
    assert_eq!(
        (&told["url"], &told["transport"]),
        (&json!("ws://localhost/ws/a2a"), &json!("JSONRPC"))
    );
}
