//! Requests of 0.3 as those of 1.0, and replies the other way: by the names of JSON-RPC.

use serde_json::{Value, json};

use super::{Dialect, Error, TABLE, named};

/// Translates a request; gives the operation it asks for, and that one's request.
fn up(method: &str, params: Value, dialect: Dialect) -> Result<(&'static str, Value), Error> {
    let Value::Object(params) = params else {
        panic!("params are an object");
    };
    let request = (named(method).unwrap().request)(params, dialect)?;
    Ok((request.operation, request.body.into()))
}

fn down(method: &str, reply: Value, dialect: Dialect) -> Value {
    (named(method).unwrap().reply)(reply, dialect).unwrap()
}

#[test]
fn every_kind_of_part_goes_both_ways_in_both_dialects() {
    let new = json!({ "message": {
        "messageId": "m", "role": "ROLE_AGENT", "contextId": "c", "taskId": "t",
        "metadata": { "a": 1 }, "extensions": ["urn:x"],
        "parts": [
            { "text": "hello", "metadata": { "b": 2 } },
            { "raw": "AAE=", "filename": "a.bin", "mediaType": "application/x" },
            { "url": "https://example.com/a", "mediaType": "text/plain" },
            { "data": { "data": 3 } },
            { "data": [1, null] },
            { "data": null, "metadata": { "c": true } },
        ],
    }});
    let kind = json!({
        "kind": "message", "messageId": "m", "role": "agent", "contextId": "c", "taskId": "t",
        "metadata": { "a": 1 }, "extensions": ["urn:x"],
        "parts": [
            { "kind": "text", "text": "hello", "metadata": { "b": 2 } },
            { "kind": "file", "file": { "bytes": "AAE=", "name": "a.bin", "mimeType": "application/x" } },
            { "kind": "file", "file": { "uri": "https://example.com/a", "mimeType": "text/plain" } },
            { "kind": "data", "data": { "data": 3 } },
            { "kind": "data", "data": { "value": [1, null] }, "metadata": { "data_part_compat": true } },
            { "kind": "data", "data": { "value": null }, "metadata": { "c": true, "data_part_compat": true } },
        ],
    });
    let proto = json!({ "message": {
        "messageId": "m", "role": "ROLE_AGENT", "contextId": "c", "taskId": "t",
        "metadata": { "a": 1 }, "extensions": ["urn:x"],
        "content": [
            { "text": "hello", "metadata": { "b": 2 } },
            { "file": { "fileWithBytes": "AAE=", "name": "a.bin", "mimeType": "application/x" } },
            { "file": { "fileWithUri": "https://example.com/a", "mimeType": "text/plain" } },
            { "data": { "data": { "data": 3 } } },
            { "data": { "data": { "value": [1, null] } }, "metadata": { "data_part_compat": true } },
            { "data": { "data": { "value": null } }, "metadata": { "c": true, "data_part_compat": true } },
        ],
    }});
    assert_eq!(down("message/send", new.clone(), Dialect::Kind), kind);
    assert_eq!(down("message/send", new.clone(), Dialect::Proto), proto);
    let params = json!({ "message": kind });
    let (operation, request) = up("message/send", params, Dialect::Kind).unwrap();
    assert_eq!((operation, &request), ("SendMessage", &new));
    let (operation, request) = up("message/stream", proto, Dialect::Proto).unwrap();
    assert_eq!((operation, &request), ("SendStreamingMessage", &new));
}

#[test]
fn to_wait_is_the_default_unless_protobuf_says_otherwise() {
    for (configuration, dialect, expected) in [
        (json!({}), Dialect::Kind, None),
        (json!({ "blocking": true }), Dialect::Kind, Some(false)),
        (json!({ "blocking": false }), Dialect::Kind, Some(true)),
        (json!({}), Dialect::Proto, Some(true)),
        (json!({ "blocking": true }), Dialect::Proto, Some(false)),
    ] {
        let params = json!({ "configuration": configuration });
        let (_, request) = up("message/send", params, dialect).unwrap();
        let immediately = request["configuration"]["returnImmediately"].as_bool();
        assert_eq!(immediately, expected, "{configuration} {dialect:?}");
    }
    let (_, request) = up("message/send", json!({}), Dialect::Proto).unwrap();
    assert_eq!(request, json!({}));
}

#[test]
fn a_configuration_keeps_what_it_says() {
    let push = json!({
        "id": "p", "url": "https://example.com", "token": "t",
        "authentication": { "schemes": ["Bearer", "Basic"], "credentials": "secret" },
    });
    let params = json!({ "metadata": { "a": 1 }, "unknown": 1, "configuration": {
        "acceptedOutputModes": ["text/plain"], "historyLength": 0, "pushNotificationConfig": push,
    }});
    let (_, request) = up("message/send", params, Dialect::Kind).unwrap();
    let expected = json!({ "metadata": { "a": 1 }, "configuration": {
        "acceptedOutputModes": ["text/plain"], "historyLength": 0,
        "taskPushNotificationConfig": {
            "id": "p", "url": "https://example.com", "token": "t",
            "authentication": { "scheme": "Bearer", "credentials": "secret" },
        },
    }});
    assert_eq!(request, expected);
}

#[test]
fn parts_that_are_none_are_named() {
    for (part, field) in [
        (json!({ "kind": "video" }), "message.parts[1].kind"),
        (json!({}), "message.parts[1].kind"),
        (json!({ "kind": "text" }), "message.parts[1].text"),
        (json!({ "kind": "file" }), "message.parts[1].file"),
        (
            json!({ "kind": "file", "file": {} }),
            "message.parts[1].file.bytes",
        ),
        (json!({ "kind": "data" }), "message.parts[1].data"),
    ] {
        let parts = json!([{ "kind": "text", "text": "" }, part]);
        let params = json!({ "message": { "parts": parts } });
        let error = up("message/send", params, Dialect::Kind).unwrap_err();
        assert_eq!(error.violations()[0].field, field, "{part}");
    }
}

#[test]
fn faulty_fields_have_their_names_of_0_3() {
    for (method, new, old) in [
        (
            "message/send",
            "message.parts[0].raw",
            "message.parts[0].file.bytes",
        ),
        (
            "message/send",
            "message.parts[12].url",
            "message.parts[12].file.uri",
        ),
        (
            "message/send",
            "configuration.taskPushNotificationConfig.url",
            "configuration.pushNotificationConfig.url",
        ),
        ("tasks/get", "id", "id"),
        ("tasks/pushNotificationConfig/get", "taskId", "id"),
        (
            "tasks/pushNotificationConfig/delete",
            "id",
            "pushNotificationConfigId",
        ),
        ("tasks/pushNotificationConfig/set", "taskId", "taskId"),
        (
            "tasks/pushNotificationConfig/set",
            "url",
            "pushNotificationConfig.url",
        ),
    ] {
        let told = named(method)
            .unwrap()
            .told(Error::invalid_field(new, "is required"));
        assert_eq!(told.violations()[0].field, old, "{method} {new}");
        assert_eq!(
            told.to_string(),
            format!("invalid params: {old}: is required")
        );
    }
}

#[test]
fn a_task_says_what_it_is() {
    let status = json!({
        "state": "TASK_STATE_CANCELED", "timestamp": "2026-01-01T00:00:00.000Z",
        "message": { "messageId": "s", "role": "ROLE_AGENT", "parts": [{ "text": "over" }] },
    });
    let new = json!({ "task": {
        "id": "t", "contextId": "c", "generation": "7", "status": status, "metadata": { "a": 1 },
        "artifacts": [{ "artifactId": "a", "name": "n", "parts": [{ "text": "x" }] }],
        "history": [{ "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "y" }] }],
    }});
    let kind = json!({
        "kind": "task", "id": "t", "contextId": "c", "metadata": { "a": 1 }, "generation": "7",
        "status": {
            "state": "canceled", "timestamp": "2026-01-01T00:00:00.000Z",
            "message": {
                "kind": "message", "messageId": "s", "role": "agent",
                "parts": [{ "kind": "text", "text": "over" }],
            },
        },
        "artifacts": [{ "artifactId": "a", "name": "n", "parts": [{ "kind": "text", "text": "x" }] }],
        "history": [{
            "kind": "message", "messageId": "m", "role": "user", "parts": [{ "kind": "text", "text": "y" }],
        }],
    });
    assert_eq!(down("message/send", new.clone(), Dialect::Kind), kind);
    let proto = down("message/send", new, Dialect::Proto);
    assert_eq!(proto["task"]["status"]["state"], "TASK_STATE_CANCELLED");
    assert_eq!(
        proto["task"]["history"][0]["content"],
        json!([{ "text": "y" }])
    );
    assert_eq!(proto["task"].get("generation"), None);
    assert_eq!(proto["task"].get("kind"), None);
}

#[test]
fn updates_say_whether_they_are_the_last() {
    for (state, word, last) in [
        ("TASK_STATE_SUBMITTED", "submitted", false),
        ("TASK_STATE_WORKING", "working", false),
        ("TASK_STATE_AUTH_REQUIRED", "auth-required", false),
        ("TASK_STATE_INPUT_REQUIRED", "input-required", true),
        ("TASK_STATE_COMPLETED", "completed", true),
        ("TASK_STATE_FAILED", "failed", true),
        ("TASK_STATE_CANCELED", "canceled", true),
        ("TASK_STATE_REJECTED", "rejected", true),
        ("TASK_STATE_UNSPECIFIED", "unknown", false),
    ] {
        let new = json!({ "statusUpdate": {
            "taskId": "t", "contextId": "c", "generation": "2", "status": { "state": state },
        }});
        let old = json!({
            "kind": "status-update", "taskId": "t", "contextId": "c", "final": last,
            "status": { "state": word }, "generation": "2",
        });
        assert_eq!(down("message/stream", new, Dialect::Kind), old);

        let (_, request) = up("tasks/list", json!({ "status": word }), Dialect::Kind).unwrap();
        assert_eq!(request["status"], state);
    }
    let new = json!({ "artifactUpdate": {
        "taskId": "t", "contextId": "c", "append": true, "lastChunk": true,
        "artifact": { "artifactId": "a", "parts": [] },
    }});
    let old = json!({
        "kind": "artifact-update", "taskId": "t", "contextId": "c", "append": true,
        "lastChunk": true, "artifact": { "artifactId": "a", "parts": [] },
    });
    assert_eq!(down("tasks/resubscribe", new, Dialect::Kind), old);
}

#[test]
fn a_webhook_is_set_in_any_of_its_shapes() {
    let config = json!({ "url": "https://example.com" });
    for (params, id) in [
        (
            json!({ "taskId": "t", "pushNotificationConfig": config }),
            "t",
        ),
        (
            json!({ "taskId": "t", "pushNotificationConfig": { "url": "https://example.com", "id": "p" } }),
            "p",
        ),
        (json!({ "id": "t", "url": "https://example.com" }), "t"),
        (
            json!({ "parent": "tasks/t", "configId": "p", "config": { "pushNotificationConfig": config } }),
            "p",
        ),
        (
            json!({ "id": "t", "name": "tasks/t/pushNotificationConfigs/p", "pushNotificationConfig": config }),
            "p",
        ),
    ] {
        let shown = params.to_string();
        let (operation, request) =
            up("tasks/pushNotificationConfig/set", params, Dialect::Kind).unwrap();
        assert_eq!(operation, "CreateTaskPushNotificationConfig");
        let expected = json!({ "taskId": "t", "id": id, "url": "https://example.com" });
        assert_eq!(request, expected, "{shown}");
    }
    let missing = up(
        "tasks/pushNotificationConfig/set",
        json!({ "taskId": "t" }),
        Dialect::Kind,
    );
    assert_eq!(
        missing.unwrap_err().violations()[0].field,
        "pushNotificationConfig"
    );
}

#[test]
fn a_webhook_is_asked_for_by_ids_and_by_names() {
    let ids = json!({ "taskId": "t", "id": "p" });
    for params in [
        json!({ "id": "t", "pushNotificationConfigId": "p" }),
        json!({ "name": "tasks/t/pushNotificationConfigs/p" }),
    ] {
        for (method, operation) in [
            (
                "tasks/pushNotificationConfig/get",
                "GetTaskPushNotificationConfig",
            ),
            (
                "tasks/pushNotificationConfig/delete",
                "DeleteTaskPushNotificationConfig",
            ),
        ] {
            let asked = up(method, params.clone(), Dialect::Kind).unwrap();
            assert_eq!(asked, (operation, ids.clone()));
        }
    }
    let any = up(
        "tasks/pushNotificationConfig/get",
        json!({ "id": "t" }),
        Dialect::Kind,
    )
    .unwrap();
    let first = json!({ "taskId": "t", "pageSize": 1 });
    assert_eq!(any, ("ListTaskPushNotificationConfigs", first));
}

#[test]
fn webhooks_are_told_in_the_form_of_0_3() {
    let new = json!({
        "id": "p", "taskId": "t", "url": "https://example.com",
        "authentication": { "scheme": "Bearer", "credentials": "secret" },
    });
    let inner = json!({
        "id": "p", "url": "https://example.com",
        "authentication": { "schemes": ["Bearer"], "credentials": "secret" },
    });
    let kind = json!({ "taskId": "t", "pushNotificationConfig": inner });
    let proto =
        json!({ "name": "tasks/t/pushNotificationConfigs/p", "pushNotificationConfig": inner });
    let listed = json!({ "configs": [new] });
    let (get, list) = (
        "tasks/pushNotificationConfig/get",
        "tasks/pushNotificationConfig/list",
    );
    assert_eq!(down(get, new.clone(), Dialect::Kind), kind);
    assert_eq!(down(get, new, Dialect::Proto), proto);
    assert_eq!(down(get, listed.clone(), Dialect::Kind), kind);
    assert_eq!(down(list, listed.clone(), Dialect::Kind), json!([kind]));
    assert_eq!(
        down(list, listed, Dialect::Proto),
        json!({ "configs": [proto], "nextPageToken": "" })
    );
    assert_eq!(down(list, json!({}), Dialect::Kind), json!([]));
    assert_eq!(
        down(
            "tasks/pushNotificationConfig/delete",
            json!({}),
            Dialect::Kind
        ),
        Value::Null
    );
    let none = (named(get).unwrap().reply)(json!({ "configs": [] }), Dialect::Kind).unwrap_err();
    assert_eq!(none.violations()[0].field, "pushNotificationConfigId");
}

#[test]
fn every_operation_of_0_3_is_a_row_of_the_table() {
    for row in TABLE {
        for dialect in [Dialect::Kind, Dialect::Proto] {
            // The one thing that a translation asks for itself.
            let params = json!({ "pushNotificationConfig": { "url": "https://a.example" } });
            let params = params.as_object().cloned().unwrap();
            let request = (row.request)(params, dialect).unwrap();
            let found = crate::operation::named(request.operation);
            assert!(found.is_some(), "{}", request.operation);
        }
    }
}

#[test]
fn every_operation_of_0_3_is_the_one_it_says() {
    let params = json!({
        "id": "t", "pushNotificationConfigId": "c", "pushNotificationConfig": { "url": "u" },
    });
    for row in TABLE {
        let request = (row.request)(params.as_object().unwrap().clone(), Dialect::Kind).unwrap();
        assert_eq!(request.operation, row.operation, "{row:?}");
    }
}

#[test]
fn names_of_1_0_fields_become_names_of_0_3() {
    for (method, new, old) in [
        (
            "tasks/pushNotificationConfig/set",
            json!({ "taskId": "t", "url": "u", "id": "c", "tenant": "x" }),
            json!({ "taskId": "t", "pushNotificationConfig": { "url": "u", "id": "c" }, "tenant": "x" }),
        ),
        (
            "tasks/pushNotificationConfig/get",
            json!({ "taskId": "t", "id": "c" }),
            json!({ "id": "t", "pushNotificationConfigId": "c" }),
        ),
        (
            "tasks/pushNotificationConfig/get",
            json!({ "id": "t", "pushNotificationConfigId": "c" }),
            json!({ "id": "t", "pushNotificationConfigId": "c" }),
        ),
        ("tasks/get", json!({ "id": "t" }), json!({ "id": "t" })),
    ] {
        let renamed = named(method)
            .unwrap()
            .renamed(new.as_object().unwrap().clone());
        assert_eq!(Value::Object(renamed), old, "{method}");
    }
}

/// What a client of ours asks for is what a server of ours is asked for.
#[test]
fn asking_and_being_asked_are_each_others_inverse() {
    let message = json!({
        "messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER",
        "parts": [
            { "text": "hello", "metadata": { "a": 1 } },
            { "raw": "aGVsbG8=", "mediaType": "text/plain", "filename": "a.txt" },
            { "url": "https://a.example/a", "mediaType": "text/plain" },
            { "data": { "b": [1, null] } }, { "data": [1] },
        ],
    });
    let send = json!({
        "message": message,
        "configuration": {
            "acceptedOutputModes": ["text/plain"], "historyLength": 3, "returnImmediately": true,
            "taskPushNotificationConfig": {
                "id": "p", "url": "https://a.example/hook", "token": "x",
                "authentication": { "scheme": "Bearer", "credentials": "y" },
            },
        },
        "metadata": { "c": true },
    });
    let push = json!({ "taskId": "t", "id": "p", "url": "https://a.example/hook", "token": "x" });
    for (operation, request) in [
        ("SendMessage", send.clone()),
        ("SendStreamingMessage", send),
        ("GetTask", json!({ "id": "t", "historyLength": 2 })),
        ("CancelTask", json!({ "id": "t" })),
        ("SubscribeToTask", json!({ "id": "t" })),
        (
            "ListTasks",
            json!({ "contextId": "c", "status": "TASK_STATE_CANCELED", "pageSize": 5 }),
        ),
        ("CreateTaskPushNotificationConfig", push),
        (
            "GetTaskPushNotificationConfig",
            json!({ "taskId": "t", "id": "p" }),
        ),
        ("ListTaskPushNotificationConfigs", json!({ "taskId": "t" })),
        (
            "DeleteTaskPushNotificationConfig",
            json!({ "taskId": "t", "id": "p" }),
        ),
        ("GetExtendedAgentCard", json!({})),
    ] {
        for row in TABLE.iter().filter(|row| row.operation == operation) {
            for dialect in [Dialect::Kind, Dialect::Proto] {
                let old = (row.ask)(request.as_object().cloned().unwrap(), dialect);
                let asked = (row.request)(old, dialect).unwrap();
                assert_eq!(asked.operation, operation, "{dialect:?}");
                assert_eq!(
                    Value::Object(asked.body),
                    request,
                    "{operation} {dialect:?}"
                );
            }
        }
    }
}

#[test]
fn what_is_said_is_what_is_heard() {
    let status = json!({
        "state": "TASK_STATE_CANCELED", "timestamp": "2026-01-02T03:04:05Z",
        "message": { "messageId": "m", "role": "ROLE_AGENT", "parts": [{ "text": "done" }] },
    });
    let artifact = json!({
        "artifactId": "a", "name": "n", "description": "d", "parts": [{ "data": 7 }, { "text": "x" }],
    });
    let task = json!({
        "id": "t", "contextId": "c", "status": status, "artifacts": [artifact],
        "history": [{ "messageId": "h", "role": "ROLE_USER", "parts": [{ "text": "x" }] }],
    });
    let push = json!({
        "taskId": "t", "id": "p", "url": "https://a.example", "token": "x",
        "authentication": { "scheme": "Bearer", "credentials": "y" },
    });
    let events = [
        json!({ "task": task }),
        json!({ "message": { "messageId": "m", "role": "ROLE_AGENT", "parts": [] } }),
        json!({ "statusUpdate": { "taskId": "t", "contextId": "c", "status": status } }),
        json!({ "artifactUpdate": {
            "taskId": "t", "contextId": "c", "artifact": artifact, "append": true, "lastChunk": true,
        } }),
    ];
    let mut said: Vec<(&str, Value)> = events
        .into_iter()
        .map(|it| ("message/stream", it))
        .collect();
    said.push(("tasks/get", task.clone()));
    said.push((
        "tasks/list",
        json!({ "tasks": [task], "nextPageToken": "n" }),
    ));
    said.push(("tasks/pushNotificationConfig/get", push.clone()));
    said.push((
        "tasks/pushNotificationConfig/list",
        json!({ "configs": [push], "nextPageToken": "" }),
    ));
    for (method, new) in said {
        let row = named(method).unwrap();
        for dialect in [Dialect::Kind, Dialect::Proto] {
            let old = (row.reply)(new.clone(), dialect).unwrap();
            assert_eq!((row.hear)(old).unwrap(), new, "{method} {dialect:?}");
        }
    }
}
