//! Version 0.3 beside 1.0, in the words of its clients: names, both dialects of JSON, and its own rules.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Body;
use serde_json::{Value, json};

use super::caller::{Binding, Caller, json_rpc, json_rpc_result};
use crate::support::http::Answer;
use crate::support::sut::Sut;

/// A caller that names no version, as those of 0.3 do.
async fn caller(sut: &Sut) -> Caller {
    let mut caller = sut.caller(Binding::JsonRpc).await;
    caller.unset("a2a-version");
    caller
}

async fn post(caller: &mut Caller, path: &str, body: &Value) -> Answer {
    let request = caller.builder("POST", path);
    let request = request.header("content-type", "application/json");
    let request = request.body(body.to_string().into()).unwrap();
    caller.raw(request).await
}

async fn get(caller: &mut Caller, path: &str) -> Value {
    let request = caller.builder("GET", path).body(Body::empty()).unwrap();
    let answer = caller.raw(request).await;
    serde_json::from_str(&answer.text).unwrap()
}

/// A call of JSON-RPC: its result, or the code of its error and what it says.
async fn call(caller: &mut Caller, method: &str, params: Value) -> Result<Value, (i64, String)> {
    let answer = post(caller, "/a2a/jsonrpc", &json_rpc(method, params)).await;
    let answer = serde_json::from_str(&answer.text).unwrap();
    json_rpc_result(&answer).map_err(|failure| (failure.code, failure.message))
}

/// The same where the answer is a stream: all results.
async fn stream(caller: &mut Caller, method: &str, params: Value) -> Vec<Value> {
    let answer = post(caller, "/a2a/jsonrpc", &json_rpc(method, params)).await;
    assert_eq!(
        answer.headers["content-type"], "text/event-stream",
        "{answer:?}"
    );
    events(&answer)
        .iter()
        .map(|event| json_rpc_result(event).unwrap())
        .collect()
}

fn events(answer: &Answer) -> Vec<Value> {
    let lines = answer.text.lines();
    let data = lines.filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// An id that no other message has.
fn unique() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed).to_string()
}

fn message(prefix: &str, text: &str) -> Value {
    json!({ "message": {
        "kind": "message", "role": "user", "messageId": format!("{prefix}-{}", unique()),
        "parts": [{ "kind": "text", "text": text }],
    }})
}

fn content(prefix: &str, text: &str) -> Value {
    json!({ "message": {
        "role": "ROLE_USER", "messageId": format!("{prefix}-{}", unique()),
        "content": [{ "text": text }],
    }})
}

#[tokio::test]
async fn a_name_of_0_3_needs_no_version_and_a_name_of_1_0_does() {
    let sut = Sut::in_memory().await;
    let mut caller = caller(&sut).await;
    for version in [None, Some(""), Some("0.3"), Some("0.3.0"), Some("1.0")] {
        caller.unset("a2a-version");
        if let Some(version) = version {
            caller.set("a2a-version", version);
        }
        let task = call(&mut caller, "message/send", message("old", "task hello"))
            .await
            .unwrap();
        assert_eq!(
            (&task["kind"], &task["status"]["state"]),
            (&json!("task"), &json!("completed"))
        );
        let (path, body) = ("/a2a/rest/v1/message:send", content("old", "task hello"));
        if version != Some("1.0") {
            let answer = post(&mut caller, path, &body).await;
            assert_eq!(answer.status, 200, "{version:?} {answer:?}");
            let listed = call(&mut caller, "ListTasks", json!({})).await;
            assert_eq!(listed.unwrap_err().0, -32009, "{version:?}");
        }
    }
    for version in ["0.2", "2.0", "nonsense"] {
        caller.set("a2a-version", version);
        let failed = call(&mut caller, "message/send", message("old", "task")).await;
        assert_eq!(failed.unwrap_err().0, -32009, "{version}");
    }
    caller.unset("a2a-version");
    for method in ["message/nonsense", "tasks", "tasks/pushNotificationConfig"] {
        let failed = call(&mut caller, method, json!({})).await;
        assert_eq!(failed.unwrap_err().0, -32601, "{method}");
    }
}

#[tokio::test]
async fn a_send_waits_unless_it_says_otherwise() {
    let sut = Sut::in_memory().await;
    let mut caller = caller(&sut).await;
    let task = call(
        &mut caller,
        "message/send",
        message("tck-complete-task", ""),
    )
    .await
    .unwrap();
    assert_eq!(task["status"]["state"], "completed");
    assert_eq!(
        task["status"]["message"]["parts"][0],
        json!({ "kind": "text", "text": "Hello from TCK" })
    );

    let mut params = message("tck-cancel", "");
    params["configuration"] = json!({ "blocking": false });
    let task = call(&mut caller, "message/send", params).await.unwrap();
    let id = &task["id"];
    let found = call(
        &mut caller,
        "tasks/get",
        json!({ "id": id, "historyLength": 0 }),
    )
    .await
    .unwrap();
    assert_eq!(found["status"]["state"], "working");
    assert_eq!(found.get("history"), None);
    let ended = call(&mut caller, "tasks/cancel", json!({ "id": id }))
        .await
        .unwrap();
    assert_eq!(ended["status"]["state"], "canceled");
}

#[tokio::test]
async fn a_stream_says_which_event_is_the_last() {
    let sut = Sut::in_memory().await;
    let mut caller = caller(&sut).await;
    let events = stream(&mut caller, "message/stream", message("tck-stream-001", "")).await;
    let kinds: Vec<_> = events
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["task", "status-update", "artifact-update", "status-update"]
    );
    assert_eq!(
        (&events[1]["final"], &events[3]["final"]),
        (&json!(false), &json!(true))
    );

    // What has ended is told once more, rather than refused.
    let again = stream(
        &mut caller,
        "tasks/resubscribe",
        json!({ "id": events[0]["id"] }),
    )
    .await;
    assert_eq!(again.len(), 1);
    assert_eq!(
        (&again[0]["kind"], &again[0]["status"]["state"]),
        (&json!("task"), &json!("completed"))
    );
}

#[tokio::test]
async fn an_error_of_a_stream_is_in_the_stream() {
    let sut = Sut::in_memory().await;
    let mut caller = caller(&sut).await;
    let call = json_rpc("tasks/resubscribe", json!({ "id": "nobody" }));
    let answer = post(&mut caller, "/a2a/jsonrpc", &call).await;
    assert_eq!(
        answer.headers["content-type"], "text/event-stream",
        "{answer:?}"
    );
    assert_eq!(events(&answer)[0]["error"]["code"], -32001);
}

#[tokio::test]
async fn errors_have_the_codes_and_field_names_of_0_3() {
    let sut = Sut::in_memory().await;
    let mut caller = caller(&sut).await;
    let finished = call(&mut caller, "message/send", message("old", "task"))
        .await
        .unwrap();
    let mut nowhere = message("old", "");
    nowhere["message"]["taskId"] = finished["id"].clone();
    let mut bytes = message("old", "");
    bytes["message"]["parts"] =
        json!([{ "kind": "file", "file": { "bytes": "%", "mimeType": "text/plain" } }]);
    let mut foreign = message("old", "");
    foreign["message"]["parts"] =
        json!([{ "kind": "file", "file": { "bytes": "", "mimeType": "video/x" } }]);
    for (method, params, code, says) in [
        ("tasks/get", json!({ "id": "nobody" }), -32001, "nobody"),
        (
            "tasks/cancel",
            json!({ "id": finished["id"] }),
            -32002,
            "COMPLETED",
        ),
        ("message/send", nowhere, -32004, ""),
        ("message/send", foreign, -32005, "video/x"),
        ("message/send", json!({}), -32602, "message: "),
        (
            "message/send",
            bytes,
            -32602,
            "message.parts[0].file.bytes: ",
        ),
        ("tasks/get", json!({}), -32602, "id: "),
        (
            "tasks/pushNotificationConfig/delete",
            json!({ "id": "x" }),
            -32602,
            "pushNotificationConfigId: ",
        ),
        (
            "tasks/pushNotificationConfig/set",
            json!({ "taskId": "x" }),
            -32602,
            "pushNotificationConfig: ",
        ),
    ] {
        let (found, message) = call(&mut caller, method, params).await.unwrap_err();
        assert_eq!(found, code, "{method}: {message}");
        assert!(message.contains(says), "{method}: {message}");
    }
}

#[tokio::test]
async fn webhooks_are_kept_under_the_id_of_their_task_unless_they_have_one() {
    let sut = Sut::in_memory().await;
    let mut caller = caller(&sut).await;
    let task = call(
        &mut caller,
        "message/send",
        message("tck-input-required", ""),
    )
    .await
    .unwrap();
    let id = task["id"].clone();
    let config = json!({ "url": "http://127.0.0.1:9/", "token": "t" });
    let set = json!({ "taskId": id, "pushNotificationConfig": config });
    for _ in 0..2 {
        let made = call(&mut caller, "tasks/pushNotificationConfig/set", set.clone())
            .await
            .unwrap();
        assert_eq!(made["pushNotificationConfig"]["id"], id);
    }
    let any = json!({ "id": id });
    let got = call(&mut caller, "tasks/pushNotificationConfig/get", any.clone())
        .await
        .unwrap();
    assert_eq!(
        (&got["taskId"], &got["pushNotificationConfig"]["token"]),
        (&id, &json!("t"))
    );
    let listed = call(
        &mut caller,
        "tasks/pushNotificationConfig/list",
        any.clone(),
    )
    .await
    .unwrap();
    assert_eq!(listed, json!([got]));
    let gone = json!({ "id": id, "pushNotificationConfigId": id });
    let gone = call(&mut caller, "tasks/pushNotificationConfig/delete", gone)
        .await
        .unwrap();
    assert_eq!(gone, Value::Null);
    let none = call(&mut caller, "tasks/pushNotificationConfig/get", any)
        .await
        .unwrap_err();
    assert_eq!(none.0, -32602);
}

#[tokio::test]
async fn rest_answers_in_the_dialect_it_is_asked_in() {
    let sut = Sut::in_memory().await;
    let mut caller = caller(&sut).await;
    let path = "/a2a/rest/v1/message:send";
    let mut params = content("tck-cancel", "");
    params["configuration"] = json!({ "acceptedOutputModes": [] });
    // protobuf has no way to leave it open, so that this does not wait.
    let answer = post(&mut caller, path, &params).await;
    assert_eq!(answer.headers["content-type"], "application/json");
    let held: Value = serde_json::from_str(&answer.text).unwrap();
    let id = held["task"]["id"].as_str().unwrap();
    assert_eq!(
        held["task"]["history"][0]["content"],
        json!([{ "text": "" }])
    );

    let ended = post(
        &mut caller,
        &format!("/a2a/rest/v1/tasks/{id}:cancel"),
        &json!({}),
    )
    .await;
    let ended: Value = serde_json::from_str(&ended.text).unwrap();
    assert_eq!(ended["status"]["state"], "TASK_STATE_CANCELLED");
    assert_eq!(
        get(&mut caller, &format!("/a2a/rest/v1/tasks/{id}")).await,
        ended
    );
    let kind = get(
        &mut caller,
        &format!("/a2a/rest/v1/tasks/{id}?dialect=kind"),
    )
    .await;
    assert_eq!(
        (&kind["kind"], &kind["status"]["state"]),
        (&json!("task"), &json!("canceled"))
    );

    let answer = post(&mut caller, path, &message("old", "task")).await;
    let task: Value = serde_json::from_str(&answer.text).unwrap();
    assert_eq!(
        (&task["kind"], &task["history"][0]["role"]),
        (&json!("task"), &json!("user"))
    );

    let streamed = post(
        &mut caller,
        "/a2a/rest/v1/message:stream",
        &content("tck-stream-001", ""),
    )
    .await;
    let streamed = events(&streamed);
    assert_eq!(streamed.last().unwrap()["statusUpdate"]["final"], true);
    let path = format!("/a2a/rest/v1/tasks/{id}:subscribe");
    let request = caller.builder("GET", &path).body(Body::empty()).unwrap();
    let again = events(&caller.raw(request).await);
    assert_eq!(again, [json!({ "task": ended })]);

    let missing = get(&mut caller, "/a2a/rest/v1/tasks/nobody").await;
    assert_eq!(missing["code"], -32001, "{missing}");
    let listed = get(
        &mut caller,
        "/a2a/rest/v1/tasks?status=completed&pageSize=1",
    )
    .await;
    assert_eq!(
        listed["tasks"][0]["status"]["state"], "TASK_STATE_COMPLETED",
        "{listed}"
    );
}

#[tokio::test]
async fn one_task_is_the_same_in_both_versions() {
    let sut = Sut::in_memory().await;
    let mut old = caller(&sut).await;
    let mut new = sut.caller(Binding::Rest).await;
    let sent = message("tck-input-required", "first");
    let asked = call(&mut old, "message/send", sent).await.unwrap();
    let task = new
        .call("GetTask", json!({ "id": asked["id"] }))
        .await
        .unwrap();
    assert_eq!(task["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    let follow = json!({ "message": {
        "role": "ROLE_USER", "messageId": unique(), "taskId": asked["id"],
        "parts": [{ "text": "second" }],
    }});
    new.call("SendMessage", follow).await.unwrap();
    let done = call(&mut old, "tasks/get", json!({ "id": asked["id"] }))
        .await
        .unwrap();
    let said: Vec<_> = done["history"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["role"] == "user")
        .map(|it| &it["parts"][0]["text"])
        .collect();
    assert_eq!(said, ["first", "second"]);
    assert_eq!(done["status"]["state"], "completed");
}

#[tokio::test]
async fn the_card_is_for_readers_of_both_versions() {
    let sut = Sut::in_memory().await;
    let mut caller = caller(&sut).await;
    let address = sut.address;
    for path in ["/.well-known/agent-card.json", "/.well-known/agent.json"] {
        let card = get(&mut caller, path).await;
        assert_eq!(card["protocolVersion"], "0.3.0");
        assert_eq!(card["preferredTransport"], "JSONRPC");
        assert_eq!(card["url"], format!("http://{address}/a2a/jsonrpc"));
        assert_eq!(card["supportsAuthenticatedExtendedCard"], true);
        let versions = card["supportedInterfaces"].as_array().unwrap().iter();
        let versions: Vec<_> = versions
            .map(|it| it["protocolVersion"].as_str().unwrap())
            .collect();
        assert!(
            versions.is_sorted_by(|before, after| before >= after),
            "{versions:?}"
        );
        let old = versions.iter().filter(|version| **version == "0.3").count();
        assert_eq!(card["additionalInterfaces"].as_array().unwrap().len(), old);
    }
    for extended in [
        call(&mut caller, "agent/getAuthenticatedExtendedCard", json!({}))
            .await
            .unwrap(),
        get(&mut caller, "/a2a/rest/v1/card").await,
    ] {
        assert_eq!(extended.get("supportedInterfaces"), None);
        assert!(
            extended["skills"].to_string().contains("script"),
            "{extended}"
        );
    }
}

#[tokio::test]
async fn a_tenant_may_be_called_as_the_paths_of_0_3_are() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    let listed = get(&mut caller, "/a2a/rest/v1/tasks").await;
    assert_eq!(listed["totalSize"], 0, "{listed}");
    let sent = json!({ "message": {
        "role": "ROLE_USER", "messageId": unique(), "parts": [{ "text": "task" }],
    }});
    let answer = post(&mut caller, "/a2a/rest/v1/message:send", &sent).await;
    assert!(answer.text.contains("TASK_STATE_COMPLETED"), "{answer:?}");
    let listed = get(&mut caller, "/a2a/rest/v1/tasks").await;
    assert_eq!(listed["totalSize"], 1, "{listed}");
    let without = get(&mut caller, "/a2a/rest/tasks").await;
    assert_eq!(without["totalSize"], 0, "{without}");
}
