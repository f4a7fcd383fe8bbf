//! `/ws/a2a` in the shapes of the document: the card, the answer of a task, the metadata of the envelope.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use super::{SOON, Window, serve};
use crate::support::http::{Client, Version};
use crate::support::program::Monas;

/// A page that speaks JSON-RPC without a subprotocol.
struct Page(WebSocketStream<TcpStream>);

impl Page {
    async fn open(monas: &Monas) -> Self {
        let url = format!("ws://{}/ws/a2a", monas.authority());
        let stream = TcpStream::connect(monas.authority()).await.unwrap();
        let (socket, _) = tokio_tungstenite::client_async(url, stream).await.unwrap();
        Self(socket)
    }

    async fn call(&mut self, method: &str, params: Value) -> Value {
        let request =
            json!({ "jsonrpc": "2.0", "id": "req-001", "method": method, "params": params });
        let frame = Message::text(request.to_string());
        self.0.send(frame).await.unwrap();
        loop {
            let frame = timeout(SOON, self.0.next())
                .await
                .expect("an answer in time");
            if let Message::Text(text) = frame.unwrap().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }
}

fn said(words: &str, metadata: &Value) -> Value {
    json!({
        "message": { "role": "user", "parts": [{ "type": "text", "text": words }] },
        "configuration": { "streaming": false },
        "metadata": metadata,
    })
}

#[tokio::test]
async fn a_page_is_told_the_card_and_the_answer_in_the_shapes_of_the_document() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let mut page = Page::open(&server).await;
    let told = page
        .call("agent/getAuthenticatedExtendedCard", json!({}))
        .await;
    let card = &told["result"];
    for (name, has) in [
        ("file_operations", true),
        ("memory_graph", true),
        ("streaming", true),
    ] {
        assert_eq!(card["capabilities"][name], has, "{name} of {told}");
    }
    let skills: Vec<&str> = card["skills"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["name"].as_str())
        .collect();
    for name in ["code_generation", "terminal_control", "memory_management"] {
        assert!(skills.contains(&name), "{name} in {skills:?}");
    }
    assert_eq!(card["transport"], "JSONRPC");
    let url = card["url"].as_str().unwrap();
    assert!(url.starts_with("ws") && url.ends_with("/ws/a2a"), "{url}");

    let sent = page.call("message/send", said("hello", &json!({}))).await;
    let task = &sent["result"]["taskId"];
    let params = json!({ "taskId": task });
    let shown = page.call("tasks/get", params).await;
    assert_eq!(shown["result"]["status"]["state"], "completed", "{shown}");
    let messages = shown["result"]["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    assert_eq!(
        (&last["role"], &last["parts"][0]["type"]),
        (&json!("agent"), &json!("text"))
    );
    assert_ne!(last["parts"][0]["text"], "");
    server.stop().await;
}

#[tokio::test]
async fn the_metadata_of_the_envelope_is_read_and_checked_over_json_rpc() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let mut page = Page::open(&server).await;
    let metadata =
        json!({ "session_id": "sess_abc123", "agent_state": "idle", "priority": "high" });
    let sent = page.call("message/send", said("hello", &metadata)).await;
    assert_eq!(sent["result"]["contextId"], "sess_abc123", "{sent}");
    // The words are in the session of that name, with its priority.
    let mut window = Window::open(&server).await;
    window.restore("sess_abc123", None).await;
    let command = window.until("user_command").await;
    assert_eq!(command["payload"]["command"], "hello");
    assert_eq!(command["metadata"]["priority"], "high");

    for (metadata, field) in [
        (json!({ "session_id": "a b" }), "metadata.session_id"),
        (
            json!({ "session_id": "s", "priority": "urgent" }),
            "metadata.priority",
        ),
        (json!({ "agent_state": "asleep" }), "metadata.agent_state"),
        (
            json!({ "session_id": "s", "task_id": 7 }),
            "metadata.task_id",
        ),
    ] {
        let refused = page.call("message/send", said("hello", &metadata)).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(why.contains(field), "{why}");
        let params = json!({
            "message": { "messageId": uuid::Uuid::new_v4().to_string(), "role": "ROLE_USER", "parts": [{ "text": "hello" }] },
            "metadata": metadata,
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params });
        let mut client = Client::connect(server.authority().parse().unwrap(), Version::One).await;
        let request = client.request("POST", "localhost", "/a2a/jsonrpc");
        let request = request.header("content-type", "application/json");
        let request = request.header("a2a-version", "1.0");
        let request = request.body(axum::body::Body::from(body.to_string()));
        let answer = client.send(request.unwrap()).await;
        assert!(answer.text.contains(field), "{}", answer.text);
    }
    server.stop().await;
}
