//! REST requests of every wrong kind, media types, and the addresses that routers get wrong.

use axum::body::Body;
use serde_json::{Value, json};

use super::caller::{Binding, Caller, Failure, post_too_much, rest_failure};
use crate::support::http::Answer;
use crate::support::sut::Sut;

async fn get(caller: &mut Caller, path: &str) -> Answer {
    let request = caller.builder("GET", &format!("/a2a/rest{path}"));
    caller.raw(request.body(Body::empty()).unwrap()).await
}

async fn post(caller: &mut Caller, path: &str, media_type: &str, body: impl Into<Body>) -> Answer {
    let request = caller
        .builder("POST", &format!("/a2a/rest{path}"))
        .header("content-type", media_type);
    caller.raw(request.body(body.into()).unwrap()).await
}

/// The error of an answer. Its code is the status, and the next call on the connection works.
async fn failure(caller: &mut Caller, answer: &Answer) -> Failure {
    let json = serde_json::from_str(&answer.text).unwrap_or_else(|_| panic!("{answer:?}"));
    let failure = rest_failure(&json);
    assert_eq!(failure.code, i64::from(answer.status.as_u16()), "{json}");
    assert!(caller.call("ListTasks", json!({})).await.is_ok());
    failure
}

fn message(text: &str) -> Value {
    let id = uuid::Uuid::new_v4().to_string();
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]}})
}

async fn finished_task(caller: &mut Caller) -> String {
    let sent = caller.call("SendMessage", message("task")).await.unwrap();
    sent["task"]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn unknown_addresses_are_not_found() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    for path in [
        "/",
        "/nothing/at/all",
        "/tasks/x/y",
        "/tasks/x/pushNotificationConfigs/y/z",
        "/message:nothing",
    ] {
        let answer = get(&mut caller, path).await;
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        let failure = failure(&mut caller, &answer).await;
        assert_ne!(failure.reason(), Some("TASK_NOT_FOUND"), "{path}");
    }
}

#[tokio::test]
async fn other_verbs_are_not_allowed_and_the_right_ones_named() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    for (method, path, allowed) in [
        ("GET", "/message:send", "POST"),
        ("DELETE", "/message:stream", "POST"),
        ("POST", "/tasks", "GET"),
        ("PUT", "/tasks/x", "GET"),
        ("GET", "/tasks/x:cancel", "POST"),
        ("DELETE", "/tasks/x:subscribe", "POST, GET"),
        ("DELETE", "/tasks/x/pushNotificationConfigs", "POST, GET"),
        ("POST", "/tasks/x/pushNotificationConfigs/y", "GET, DELETE"),
        ("POST", "/extendedAgentCard", "GET"),
    ] {
        let request = caller.builder(method, &format!("/a2a/rest{path}"));
        let answer = caller.raw(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, 405, "{method} {path}: {answer:?}");
        let mut named: Vec<_> = answer.headers["allow"]
            .to_str()
            .unwrap()
            .split(", ")
            .collect();
        named.sort_unstable();
        let mut allowed: Vec<_> = allowed.split(", ").collect();
        allowed.sort_unstable();
        assert_eq!(named, allowed, "{method} {path}");
        failure(&mut caller, &answer).await;
    }
}

#[tokio::test]
async fn a_wrong_query_is_told_by_its_parameter() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    for (query, field) in [
        ("pageSize=abc", "pageSize"),
        ("pageSize=", "pageSize"),
        ("pageSize=1.5", "pageSize"),
        ("pageSize=0", "pageSize"),
        ("pageSize=101", "pageSize"),
        ("pageSize=99999999999", "pageSize"),
        ("status=NOPE", "status"),
        ("status=completed", "status"),
        ("historyLength=-1", "historyLength"),
        ("statusTimestampAfter=yesterday", "statusTimestampAfter"),
        (
            "statusTimestampAfter=2026-02-30T00:00:00Z",
            "statusTimestampAfter",
        ),
        ("includeArtifacts=maybe", "includeArtifacts"),
        ("pageToken=no%20such%20page", "pageToken"),
    ] {
        let answer = get(&mut caller, &format!("/tasks?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {answer:?}");
        let failure = failure(&mut caller, &answer).await;
        assert_eq!(failure.fields(), [field], "{query}: {failure:?}");
    }
    for query in [
        "",
        "pageSize=100",
        "status=TASK_STATE_COMPLETED",
        "status=3",
        "statusTimestampAfter=2026-01-01T00:00:00.5%2B02:00",
        "includeArtifacts=true&historyLength=0",
        "context_id=x&page_size=7",
        "unknown=1",
    ] {
        let answer = get(&mut caller, &format!("/tasks?{query}")).await;
        assert_eq!(answer.status, 200, "{query}: {answer:?}");
    }
}

#[tokio::test]
async fn a_wrong_body_is_told_by_its_fields() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    for (body, fields) in [
        ("", vec!["message"]),
        ("{}", vec!["message"]),
        (
            r#"{"message":{}}"#,
            vec!["message.messageId", "message.role", "message.parts"],
        ),
        (
            r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{}]}}"#,
            vec!["message.parts[0]"],
        ),
        (
            r#"{"message":{"messageId":"m","role":"BOSS","parts":[{"text":"x"}]}}"#,
            vec!["message.role"],
        ),
    ] {
        for path in ["/message:send", "/message:stream"] {
            let answer = post(&mut caller, path, "application/json", body).await;
            assert_eq!(answer.status, 400, "{path} {body}: {answer:?}");
            let failure = failure(&mut caller, &answer).await;
            let named = failure.fields();
            for field in &fields {
                assert!(
                    named.iter().any(|named| named.starts_with(field)),
                    "{body}: {named:?}"
                );
            }
        }
    }
    for body in ["{", "[]", "7", "{\"message\":}", "\u{feff}{}"] {
        let answer = post(&mut caller, "/message:send", "application/json", body).await;
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        failure(&mut caller, &answer).await;
    }
}

#[tokio::test]
async fn the_media_type_of_a_request_is_that_of_its_answer() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    for media_type in ["application/json", "application/a2a+json"] {
        let body = message("echo").to_string();
        let answer = post(&mut caller, "/message:send", media_type, body).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.headers["content-type"]),
            (200, &media_type.parse().unwrap())
        );
        let answer = post(&mut caller, "/message:send", media_type, "{}").await;
        assert_eq!(
            (answer.status.as_u16(), &answer.headers["content-type"]),
            (400, &media_type.parse().unwrap())
        );
        let request = caller
            .builder("GET", "/a2a/rest/tasks")
            .header("accept", media_type);
        let answer = caller.raw(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.headers["content-type"], media_type);
    }
    // Those who name no media type, or any, get what every client reads; so do errors.
    let answer = get(&mut caller, "/tasks").await;
    assert_eq!(answer.headers["content-type"], "application/json");
    let answer = get(&mut caller, "/tasks/unknown").await;
    assert_eq!(answer.headers["content-type"], "application/json");
    for (accepted, given) in [
        ("*/*", "application/json"),
        (
            "text/html, application/a2a+json;q=0.5",
            "application/a2a+json",
        ),
        (
            "application/a2a+json, application/json",
            "application/a2a+json",
        ),
    ] {
        for path in ["/a2a/rest/tasks", "/a2a/rest/tasks/unknown"] {
            let request = caller.builder("GET", path).header("accept", accepted);
            let answer = caller.raw(request.body(Body::empty()).unwrap()).await;
            assert_eq!(answer.headers["content-type"], given, "{accepted} {path}");
        }
    }
    for media_type in [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
    ] {
        let answer = post(&mut caller, "/message:send", media_type, "{").await;
        assert_eq!(answer.status, 415, "{media_type}");
        let failure = failure(&mut caller, &answer).await;
        assert_eq!(failure.reason(), Some("CONTENT_TYPE_NOT_SUPPORTED"));
    }
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused_and_the_server_lives_on() {
    let sut = Sut::in_memory().await;
    let body = message(&"x".repeat((16 << 20) + 1)).to_string();
    let (status, answer) = post_too_much(sut.address, "/a2a/rest/message:send", &body).await;
    assert_eq!((status, rest_failure(&answer).code), (413, 413), "{answer}");
    let mut caller = sut.caller(Binding::Rest).await;
    assert!(caller.call("ListTasks", json!({})).await.is_ok());
}

/// A router that takes `{id}` for a whole segment swallows `x:subscribe` and answers 404.
#[tokio::test]
async fn a_subscription_can_be_had_by_get_and_by_post() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    let mut request = message("go");
    request["message"]["messageId"] = "tck-cancel-both-verbs".into();
    request["configuration"] = json!({"returnImmediately": true});
    let task = caller.call("SendMessage", request).await.unwrap()["task"]["id"].clone();
    let task = task.as_str().unwrap();
    for method in ["GET", "POST"] {
        let mut other = sut.caller(Binding::Rest).await;
        let mut events = other
            .open_at(method, &format!("/a2a/rest/tasks/{task}:subscribe"))
            .await
            .unwrap();
        assert_eq!(events.event().await.body["task"]["id"], task, "{method}");
    }
    caller
        .call("CancelTask", json!({"id": task}))
        .await
        .unwrap();

    let finished = finished_task(&mut caller).await;
    for method in ["GET", "POST"] {
        let failed = caller
            .open_at(method, &format!("/a2a/rest/tasks/{finished}:subscribe"))
            .await;
        assert_eq!(
            failed.unwrap_err().reason(),
            Some("UNSUPPORTED_OPERATION"),
            "{method}"
        );
    }
}

#[tokio::test]
async fn what_stands_in_a_path_is_decoded_once() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    let task = finished_task(&mut caller).await;
    let encoded: String = task.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let answer = get(&mut caller, &format!("/tasks/{encoded}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    for path in [
        "/tasks/a%2Fb",
        "/tasks/%2e%2e",
        "/tasks/%25",
        "/tasks/%F0%9F%8C%8D",
        "/tasks/a%3Asubscribe%20",
    ] {
        let answer = get(&mut caller, path).await;
        assert_eq!(answer.status, 404, "{path}: {answer:?}");
        let failure = failure(&mut caller, &answer).await;
        assert_eq!(failure.reason(), Some("TASK_NOT_FOUND"), "{path}");
    }
    let answer = get(&mut caller, "/tasks/%ff").await;
    assert!([400, 404].contains(&answer.status.as_u16()), "{answer:?}");
    failure(&mut caller, &answer).await;
}
