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
