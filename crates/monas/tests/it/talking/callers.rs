//! The chat of a server that asks for credentials: whose sessions are shown, and when a connection ends.

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::{SOON, Window, ask_as, serve};
use crate::closed::made;
use crate::support::program::{Monas, command};

/// A reply to a caller with this token.
async fn rest(server: &Monas, token: &str, verb: &str, path: &str, body: Value) -> (u16, Value) {
    let answer = ask_as(server, Some(token), verb, path, body).await;
    let json = serde_json::from_str(&answer.text).unwrap_or_else(|_| panic!("{answer:?}"));
    (answer.status.as_u16(), json)
}

#[tokio::test]
async fn a_caller_sees_its_own_sessions_and_a_revoked_key_ends_its_connection() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(serve(home.path()).env_remove("MONAS_OPEN")).await;
    let owner = made(&mut command(home.path()), &["--role", "admin"]).await;
    let mut keys = Vec::new();
    for name in ["ada", "bob"] {
        let body = json!({ "name": name, "role": "user", "key": true });
        let (status, added) = rest(&server, &owner, "POST", "/api/users", body).await;
        assert_eq!(status, 200, "{added}");
        let text = |field: &str| added["key"][field].as_str().unwrap().to_owned();
        keys.push((text("id"), text("secret")));
    }
    let [(id, ada), (_, bob)] = &keys[..] else {
        unreachable!("two users were added");
    };
    // A page cannot add a header to the handshake; the token stands in the address.
    let mut window = Window::open_at(&server, &format!("/ws/chat?token={ada}"), None).await;
    window
        .command("ours", "remember that the sky is blue")
        .await;
    window.until("task_completed").await;
    let path = "/api/sessions/ours";
    let (status, shown) = rest(&server, ada, "GET", path, Value::Null).await;
    assert_eq!(status, 200, "{shown}");
    // The same name is a session of another caller, or none.
    let (_, listed) = rest(&server, bob, "GET", "/api/sessions", Value::Null).await;
    assert_eq!(listed["sessions"], json!([]));
    let (status, hidden) = rest(&server, bob, "GET", path, Value::Null).await;
    assert_eq!((status, &hidden["code"]), (404, &json!("not_found")));
    let mut other = Window::open_at(&server, &format!("/ws/chat?token={bob}"), None).await;
    other.restore("ours", None).await;
    other.until("session_restored").await;
    assert_eq!(other.recorded(), Vec::<Value>::new());

    let path = format!("/api/keys/{id}");
    let (status, revoked) = rest(&server, &owner, "DELETE", &path, Value::Null).await;
    assert_eq!(status, 200, "{revoked}");
    let end = async {
        loop {
            match window.socket.next().await {
                Some(Ok(Message::Close(Some(close)))) => return close,
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                other => panic!("{other:?}"),
            }
        }
    };
    let close = timeout(SOON, end).await.expect("the connection ends");
    assert_eq!(close.code, CloseCode::Policy);
    assert!(close.reason.contains("revoked"), "{close:?}");
    // The connection of the other caller stays.
    other.send(&json!({ "type": "ping" })).await;
    other.until("pong").await;
    server.stop().await;
}

/// Each kind of message needs what the route of the same meaning needs.
#[tokio::test]
async fn each_role_may_send_what_the_rules_of_the_routes_say() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(serve(home.path()).env_remove("MONAS_OPEN")).await;
    let alert = json!({
        "alert_type": "disk", "title": "Disk", "description": "It is nearly full.", "severity": "low",
    });
    let kinds = [
        (
            "user_command",
            json!({ "command": "hello" }),
            "/api/agent/command",
        ),
        (
            "approval_response",
            json!({ "request_id": "550e8400-e29b-41d4-a716-446655440000", "decision": "approve" }),
            "/api/approvals/{id}",
        ),
        ("watchdog_alert", alert, "/api/agent/law/accept"),
    ];
    for role in access::Role::ALL {
        let words = ["--user", role.name(), "--role", role.name()];
        let token = made(&mut command(home.path()), &words).await;
        let mut window = Window::open_at(&server, &format!("/ws/chat?token={token}"), None).await;
        let caller = access::Principal::named(role.name()).permitted(role.permissions());
        for (kind, payload, path) in &kinds {
            let mut rows = monas::serve::rules::all();
            let row = rows.find(|it| it.verb == "POST" && it.path == *path);
            let denied = row.unwrap().rule.check(&caller).is_err();
            window.seen.clear();
            window
                .send(&json!({ "type": kind, "payload": payload, "id": uuid::Uuid::new_v4().to_string() }))
                .await;
            window.send(&json!({ "type": "ping" })).await;
            window.until("pong").await;
            let mut codes = window.seen.iter().map(|it| &it["payload"]["data"]["code"]);
            let was_denied = codes.any(|it| it == "denied");
            assert_eq!(was_denied, denied, "{kind} as {role}: {:?}", window.seen);
        }
    }
    server.stop().await;
}

/// What a client sends counts like a call below `/api`; the connection stays.
#[tokio::test]
async fn one_message_too_many_is_refused_and_the_connection_stays() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(serve(home.path()).env("MONAS_RATE_LIMIT", "on")).await;
    let mut window = Window::open_at(&server, "/ws/chat", None).await;
    // Twenty at once, and ten a second: of so many some are refused, however slow this machine is.
    for _ in 0..400 {
        window.send(&json!({ "type": "ping" })).await;
    }
    let error = window.until("error").await;
    let data = &error["payload"]["data"];
    assert_eq!(data["code"], "rate_limited", "{error}");
    let pongs = window.seen.len() - 1;
    assert!(pongs >= 20, "{pongs} were answered before");
    // The others are answered in turn, each in one of the two ways.
    for _ in pongs + 1..400 {
        window.next().await;
    }
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    window.send(&json!({ "type": "ping" })).await;
    window.until("pong").await;
    server.stop().await;
}
