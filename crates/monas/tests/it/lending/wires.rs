//! One token over every wire.

use a2a::binding::BINDINGS;
use a2a::client::{Client, Error, Version};
use a2a::types::{
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, Message, SendMessageRequest,
    SubscribeToTaskRequest, Task,
};
use futures_util::StreamExt as _;
use serde_json::{Value as Json, json};

use super::{ask, client, endless, lend, revoke, served, task};
use crate::support::server::Running;

/// Every binding, in both versions.
pub(super) fn wires() -> impl Iterator<Item = (&'static str, Version)> {
    let versions = [Version::V1_0, Version::V0_3];
    let of = move |version| BINDINGS.iter().map(move |binding| (binding.key, version));
    versions.into_iter().flat_map(of)
}

/// Whether a call was refused because the caller may not, however the wire says it.
pub(super) fn is_refused<T>(result: &Result<T, Error>) -> bool {
    match result {
        Err(Error::Unauthorized { status, .. }) => *status == 403,
        Err(Error::Refused(refusal)) => refusal.code == -31403,
        _ => false,
    }
}

/// Whether the credentials were refused.
pub(super) fn is_unknown<T>(result: &Result<T, Error>) -> bool {
    match result {
        Err(Error::Unauthorized { status, .. }) => *status == 401,
        Err(Error::Refused(refusal)) => refusal.code == -31401,
        _ => false,
    }
}

pub(super) fn get(task: &Task) -> GetTaskRequest {
    GetTaskRequest {
        id: task.id.clone(),
        ..GetTaskRequest::default()
    }
}

fn about(task: &Task) -> SendMessageRequest {
    let mut message = Message::user(uuid::Uuid::new_v4().to_string(), "and now?");
    message.task_id = task.id.clone();
    message.into()
}

fn cancel(task: &Task) -> CancelTaskRequest {
    CancelTaskRequest {
        id: task.id.clone(),
        ..CancelTaskRequest::default()
    }
}

pub(super) async fn follow(client: &Client, task: &Task) -> Result<a2a::client::Events, Error> {
    let request = SubscribeToTaskRequest {
        id: task.id.clone(),
        ..SubscribeToTaskRequest::default()
    };
    client.subscribe_to_task(request).await
}

#[tokio::test]
async fn a_view_of_one_task_is_that_over_every_wire() {
    let server = served().await;
    let (shown, other) = (task(&server).await, task(&server).await);
    let (token, id) = lend(&server, json!({ "read_only": true, "task": shown.id })).await;
    for wire in wires() {
        let about_wire = format!("{} {}", wire.0, wire.1);
        let guest = client(&server, &token, wire).await;
        let seen = guest.get_task(get(&shown)).await.expect(&about_wire);
        assert_eq!(seen.id, shown.id, "{about_wire}");
        let elsewhere = guest.get_task(get(&other)).await;
        assert!(is_refused(&elsewhere), "{about_wire}: {elsewhere:?}");
        let cancelled = guest.cancel_task(cancel(&shown)).await;
        assert!(is_refused(&cancelled), "{about_wire}: {cancelled:?}");
        for message in [endless(), about(&shown), about(&other)] {
            let sent = guest.send_message(message).await;
            assert!(is_refused(&sent), "{about_wire}: {sent:?}");
        }
        let mut events = follow(&guest, &shown).await.expect(&about_wire);
        assert!(events.next().await.unwrap().is_ok(), "{about_wire}");
        let elsewhere = follow(&guest, &other).await;
        let elsewhere = match elsewhere {
            Ok(mut events) => events.next().await.unwrap().map(drop),
            Err(error) => Err(error),
        };
        assert!(is_refused(&elsewhere), "{about_wire}: {elsewhere:?}");
        if wire.1 == Version::V1_0 {
            let list = guest.list_tasks(ListTasksRequest::default()).await;
            let list = list.expect(&about_wire);
            let ids: Vec<_> = list.tasks.iter().map(|task| &task.id).collect();
            assert_eq!(ids, [&shown.id], "{about_wire}");
            assert_eq!(list.total_size, 1, "{about_wire}");
        }
    }
    revoke(&server, &id).await;
    for wire in wires() {
        let guest = client(&server, &token, wire).await;
        let seen = guest.get_task(get(&shown)).await;
        assert!(is_unknown(&seen), "{} {}: {seen:?}", wire.0, wire.1);
    }
    server.stop().await;
}

/// A token that may change its task, and only it: sending names the task, and the task goes on.
#[tokio::test]
async fn sending_is_refused_unless_it_names_the_task() {
    let server = served().await;
    let (shown, other) = (task(&server).await, task(&server).await);
    let (token, _) = lend(&server, json!({ "task": shown.id })).await;
    for wire in wires() {
        let guest = client(&server, &token, wire).await;
        for message in [endless(), about(&other)] {
            let sent = guest.send_message(message).await;
            assert!(is_refused(&sent), "{} {}: {sent:?}", wire.0, wire.1);
        }
        let cancelled = guest.cancel_task(cancel(&other)).await;
        assert!(is_refused(&cancelled), "{} {}", wire.0, wire.1);
    }
    let guest = client(&server, &token, ("rest", Version::V1_0)).await;
    guest.cancel_task(cancel(&shown)).await.unwrap();
    server.stop().await;
}

#[tokio::test]
async fn only_the_named_operations_may_be_called() {
    let server = served().await;
    let shown = task(&server).await;
    // As a method of Cap'n Web and by its name in the table.
    let (token, _) = lend(&server, json!({ "methods": ["getTask", "CancelTask"] })).await;
    for wire in wires() {
        let guest = client(&server, &token, wire).await;
        assert!(guest.get_task(get(&shown)).await.is_ok(), "{wire:?}");
        assert!(is_refused(&guest.send_message(endless()).await), "{wire:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn streams_and_calls_under_way_end_when_the_capability_is_revoked() {
    let server = served().await;
    for wire in wires() {
        let shown = task(&server).await;
        let (token, id) = lend(&server, json!({ "task": shown.id })).await;
        let guest = client(&server, &token, wire).await;
        let mut events = follow(&guest, &shown).await.unwrap();
        assert!(events.next().await.unwrap().is_ok());
        revoke(&server, &id).await;
        let mut last = None;
        while let Some(event) = events.next().await {
            last = Some(event.map(drop));
        }
        let last = last.unwrap_or(Ok(()));
        assert!(is_unknown(&last), "{} {}: {last:?}", wire.0, wire.1);
        // Whoever has the session still has no more than the one who opens a new one.
        let seen = guest.get_task(get(&shown)).await;
        assert!(is_unknown(&seen), "{} {}: {seen:?}", wire.0, wire.1);
        // The task is of ada, and goes on.
        let ada = client(&server, "ada-s3cret", wire).await;
        assert!(
            !ada.get_task(get(&shown))
                .await
                .unwrap()
                .state()
                .is_terminal()
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn forged_and_expired_tokens_are_refused_over_every_wire() {
    let server = served().await;
    let shown = task(&server).await;
    let (token, _) = lend(&server, json!({ "for": "1s" })).await;
    let (other, _) = lend(&server, json!({})).await;
    let mut forged = other.clone();
    let last = if forged.pop() == Some('A') { 'B' } else { 'A' };
    forged.push(last);
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    for wire in wires() {
        for wrong in [&*token, &forged, "monas-cap-", &format!("{other}A")] {
            let guest = client(&server, wrong, wire).await;
            let seen = guest.get_task(get(&shown)).await;
            assert!(is_unknown(&seen), "{} {}: {seen:?}", wire.0, wire.1);
        }
    }
    server.stop().await;
}

/// A call of a method of MCP.
pub(super) async fn mcp(
    server: &Running,
    token: &str,
    method: &str,
    parameters: Json,
) -> (u16, String) {
    use crate::support::http::Version as Http;
    let mut client = server.client(Http::One).await;
    let request = client
        .request("POST", "localhost", "/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("authorization", format!("Bearer {token}"));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": parameters });
    let request = request.body(axum::body::Body::from(body.to_string()));
    let answer = client.send(request.unwrap()).await;
    (answer.status.as_u16(), answer.text)
}

#[tokio::test]
async fn mcp_acp_and_the_api_take_the_token_for_what_it_is() {
    let server = served().await;
    let shown = task(&server).await;
    let (token, id) = lend(&server, json!({ "read_only": true, "task": shown.id })).await;
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "guest", "version": "1" },
    });
    let run = json!({
        "agent_name": "slow", "mode": "async",
        "input": [{ "role": "user", "parts": [{ "content_type": "text/plain", "content": "go" }] }],
    });
    // Nothing can be begun with a token that reads one task.
    let (status, said) = ask(&server, &token, "POST", "/acp/runs", run.clone()).await;
    assert_eq!(status, 403, "{said}");
    let (status, said) = ask(
        &server,
        &token,
        "GET",
        &format!("/acp/runs/{}", shown.id),
        Json::Null,
    )
    .await;
    assert_ne!(status, 403, "{said}");
    let wanted = json!({});
    let (status, said) = ask(&server, &token, "POST", "/api/capabilities", wanted).await;
    assert_eq!(status, 403, "{said}");
    revoke(&server, &id).await;
    let (status, _) = mcp(&server, &token, "initialize", hello).await;
    assert_eq!(status, 401);
    for (method, path) in [
        ("GET", "/acp/agents"),
        ("POST", "/acp/runs"),
        ("GET", "/api/capabilities"),
        ("GET", "/metrics"),
        ("GET", "/tasks"),
    ] {
        let (status, said) = ask(&server, &token, method, path, run.clone()).await;
        assert_eq!(status, 401, "{method} {path}: {said}");
    }
    server.stop().await;
}

#[tokio::test]
async fn callers_see_and_revoke_only_their_own() {
    let server = served().await;
    let (_, id) = lend(&server, json!({ "note": "for the auditor", "for": 600 })).await;
    let (status, listed) = ask(
        &server,
        "ada-s3cret",
        "GET",
        "/api/capabilities",
        Json::Null,
    )
    .await;
    assert_eq!(status, 200);
    let listed = &listed["capabilities"][0];
    assert_eq!(listed["id"], id);
    assert_eq!(
        (&listed["by"], &listed["note"]),
        (&json!("ada"), &json!("for the auditor"))
    );
    assert!(
        listed["expires"].is_string() && listed["last_used"].is_null(),
        "{listed}"
    );
    assert!(listed.get("token").is_none() && listed.get("hash").is_none());
    let (_, none) = ask(
        &server,
        "bob-s3cret",
        "GET",
        "/api/capabilities",
        Json::Null,
    )
    .await;
    assert_eq!(none["capabilities"], json!([]));
    // One of another caller is answered like one that never was.
    let mut answers = Vec::new();
    for id in [&*id, "cap-000000000000"] {
        let path = format!("/api/capabilities/{id}");
        let (status, said) = ask(&server, "bob-s3cret", "DELETE", &path, Json::Null).await;
        answers.push((status, said.to_string().replace(id, "ID")));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0].0, 404);
    for (wanted, field) in [
        (json!({ "methods": ["getTasks"] }), "methods"),
        (json!({ "for": "soon" }), "for"),
        (json!({ "for": "9999d" }), "for"),
        (json!({ "for": 0 }), "for"),
        (json!({ "readonly": true }), "readonly"),
        (json!({ "permissions": ["all"] }), "permissions"),
    ] {
        let (status, said) = ask(&server, "ada-s3cret", "POST", "/api/capabilities", wanted).await;
        assert_eq!(status, 422, "{field}: {said}");
        assert!(said.to_string().contains(field), "{field}: {said}");
    }
    server.stop().await;
}
