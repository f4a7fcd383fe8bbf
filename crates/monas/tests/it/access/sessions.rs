//! Cap'n Web, where credentials may also be handed over in a call.

use capnweb::transport::batch::BatchClient;
use capnweb::transport::websocket;
use capnweb::{Any, Capability, Connection, Options, Value};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio_tungstenite::tungstenite::Message as WsMessage;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use super::cases::{self, Case};
use crate::support::server::Running;

/// A session that shows nothing when it is opened, and its agent.
async fn open(server: &Running) -> (Connection, Capability) {
    let url = format!("ws://{}/a2a/capnweb", server.address);
    let opened = websocket::connect(&url, Capability::nothing(), &Options::default()).await;
    let session = opened.unwrap();
    let agent = session.remote::<Any>().into();
    (session, agent)
}

fn whoami() -> Value {
    Value::object([
        ("messageId", Value::from(uuid::Uuid::new_v4().to_string())),
        ("role", "ROLE_USER".into()),
        ("parts", Value::array([Value::object([("text", "whoami")])])),
    ])
}

/// What the agent said.
fn said(answer: &Value) -> &str {
    let parts = answer.field("message").and_then(|it| it.field("parts"));
    let first = parts.and_then(Value::as_array).and_then(|it| it.first());
    let text = first.and_then(|part| part.field("text"));
    text.and_then(Value::as_str).unwrap_or_default()
}

fn pairs(members: &[(&str, &str)]) -> Value {
    Value::object(members.iter().map(|(name, value)| (*name, *value)))
}

fn code(error: &capnweb::Error) -> Option<f64> {
    error.prop("code").and_then(Value::as_f64)
}

/// What each scheme is handed: right, then wrong.
fn handed() -> Vec<(Case, Value, Value)> {
    vec![
        (
            cases::bearer_tokens_are_known_over_every_binding(),
            pairs(&[("type", "bearer"), ("token", "token-of-ada")]),
            pairs(&[("type", "bearer"), ("token", "token-of-eve")]),
        ),
        (
            cases::bearer_tokens_are_known_over_every_binding(),
            "token-of-ada".into(),
            pairs(&[("type", "apiKey"), ("key", "token-of-ada")]),
        ),
        (
            cases::passwords_are_known_over_every_binding(),
            pairs(&[("username", "bob"), ("password", "pass: word")]),
            pairs(&[("username", "bob"), ("password", "other")]),
        ),
        (
            cases::keys_in_cookies_are_known_over_every_binding(),
            pairs(&[("key", "key 1/2&3")]),
            pairs(&[("token", "key 1/2&3")]),
        ),
    ]
}

#[tokio::test]
async fn to_authenticate_and_to_send_is_one_round_trip() {
    for (case, right, wrong) in handed() {
        let server = case.start().await;
        let (_session, agent) = open(&server).await;
        // Nothing is awaited in between.
        let known = agent.call("authenticate", (right,));
        let answer = known.call("sendMessage", (whoami(),)).await.unwrap();
        assert_eq!(said(&answer), case.caller);
        let stranger = agent.call("authenticate", (wrong,));
        let error = stranger.call("sendMessage", (whoami(),)).await.unwrap_err();
        assert_eq!(code(&error), Some(-31401.0), "{}: {error:?}", case.name);
        server.stop().await;
    }
}

#[tokio::test]
async fn a_batch_authenticates_and_sends_at_once() {
    let case = cases::bearer_tokens_are_known_over_every_binding();
    let server = case.start().await;
    let url = format!("http://{}/a2a/capnweb", server.address);
    let batch = BatchClient::new(&url, &Options::default()).unwrap().batch();
    let agent: Capability = batch.remote::<Any>().into();
    let known = agent.call("authenticate", ("token-of-ada",));
    let answer = known.call("sendMessage", (whoami(),));
    batch.send().await.unwrap();
    assert_eq!(said(&answer.await.unwrap()), case.caller);
    server.stop().await;
}

#[tokio::test]
async fn a_stranger_gets_the_card_and_is_told_what_is_missing() {
    let server = cases::bearer_tokens_are_known_over_every_binding()
        .start()
        .await;
    let (_session, agent) = open(&server).await;
    let card = agent.call("getAgentCard", ()).await.unwrap();
    let schemes = card.field("securitySchemes").unwrap();
    assert!(schemes.field("tokens").is_some());
    for method in [
        "sendMessage",
        "sendMessageStreaming",
        "sendStreamingMessage",
    ] {
        let error = agent.call(method, (whoami(),)).await.unwrap_err();
        assert_eq!(code(&error), Some(-31401.0), "{method}: {error:?}");
        let reason = error.prop("reason").and_then(Value::as_str);
        assert_eq!(reason, Some("UNAUTHENTICATED"), "{method}");
    }
    for method in ["getTask", "cancelTask", "subscribeToPushNotifications"] {
        let error = agent.call(method, ("1",)).await.unwrap_err();
        assert_eq!(code(&error), Some(-31401.0), "{method}: {error:?}");
    }
    for odd in [Value::Null, 1.0.into(), Value::array([1.0]), pairs(&[])] {
        let error = agent.call("authenticate", (odd,)).await.unwrap_err();
        assert_eq!(code(&error), Some(-32602.0), "{error:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn wrong_credentials_get_no_session() {
    let server = cases::bearer_tokens_are_known_over_every_binding()
        .start()
        .await;
    let mut client = server.client(crate::support::http::Version::One).await;
    let request = client
        .request("POST", "localhost", "/a2a/capnweb")
        .header("authorization", "Bearer wrong");
    let answer = client.send(request.body("".into()).unwrap()).await;
    assert_eq!(answer.status, 401);
    assert!(answer.headers.contains_key("www-authenticate"));
    server.stop().await;
}

/// A message with a data part of so many small objects.
fn crowd(count: usize) -> String {
    let data = format!("{}1", "{},".repeat(count));
    format!(r#"{{"messageId":"m-{count}","role":"ROLE_USER","parts":[{{"data":[{data}]}}]}}"#)
}

/// A frame that calls a method with one text, so many bytes long.
fn frame_of(length: usize) -> String {
    let text = "x".repeat(length);
    format!(r#"["push",["pipeline",0,["getTask"],["{text}"]]]"#)
}

/// `limits.max_body` was not asked: a stranger could send 32 MiB, and cost 2.5 GB with it.
#[tokio::test]
async fn messages_are_bounded_as_bodies_are_and_those_of_strangers_are_small() {
    let mut case = cases::bearer_tokens_are_known_over_every_binding();
    case.config.limits.max_body = 1 << 20;
    let server = case.start().await;
    for path in ["/a2a/capnweb", "/acp/capnweb"] {
        let url = format!("http://localhost{path}");
        let post = async |body: String, token: Option<&str>| {
            let mut client = server.client(crate::support::http::Version::One).await;
            let request = client.request("POST", "localhost", path);
            let request = match token {
                Some(token) => request.header("authorization", format!("Bearer {token}")),
                None => request,
            };
            let answer = client.send(request.body(body.into()).unwrap()).await;
            (answer.status.as_u16(), answer.text)
        };
        let (status, text) = post(frame_of(20_000), None).await;
        assert_eq!(status, 401, "{url}: {text}");
        let (status, text) = post(frame_of(10), None).await;
        assert_eq!(status, 200, "{url}: {text}");
        let (status, text) = post(frame_of(20_000), Some("token-of-ada")).await;
        assert_eq!(status, 200, "{url}: {text}");
        let (status, text) = post(frame_of(1 << 20), Some("token-of-ada")).await;
        assert_eq!(status, 413, "{url}: {text}");
        let bomb = format!(r#"["push",[[{}1]]]"#, "{},".repeat(300_000));
        let (status, text) = post(bomb, Some("token-of-ada")).await;
        assert_eq!(status, 400, "{url}: {text}");
        assert!(text.contains("take too much memory"), "{text}");
    }
    // A stranger's session ends with a message of 17 KB; after `authenticate` one of 500 KB is taken.
    let (session, agent) = open(&server).await;
    drop(agent.call("sendMessage", ("x".repeat(17_000),)).await);
    let ended = session.closed().await;
    assert!(ended.message().contains("not authenticated"), "{ended}");
    let (_session, agent) = open(&server).await;
    let known = agent.call("authenticate", ("token-of-ada",));
    let error = known.call("getTask", ("x".repeat(500_000),)).await;
    assert_eq!(code(&error.unwrap_err()), Some(-32602.0));
    server.stop().await;
}

/// 15 MB of `{}` took 1.4 GB over every wire that has JSON.
#[tokio::test]
async fn too_many_values_are_refused_in_the_form_of_each_wire() {
    let case = cases::bearer_tokens_are_known_over_every_binding();
    let server = Running::serve(&case.config).await;
    let post = async |path: &str, body: String| {
        let mut client = server.client(crate::support::http::Version::One).await;
        let request = client
            .request("POST", "localhost", path)
            .header("authorization", "Bearer token-of-ada")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("a2a-version", "1.0");
        let answer = client.send(request.body(body.into()).unwrap()).await;
        let json: serde_json::Value = serde_json::from_str(&answer.text).unwrap();
        (answer.status.as_u16(), json)
    };
    let message = crowd(400_000);
    let request = format!(r#"{{"message":{message}}}"#);
    let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{request}}}"#);
    let said = |json: &serde_json::Value| json.to_string().contains("take too much memory");
    let (status, json) = post("/a2a/jsonrpc", call.clone()).await;
    assert!(
        status == 413 && json["error"]["code"] == -32600 && said(&json),
        "{json}"
    );
    let (status, json) = post("/a2a/rest/message:send", request).await;
    assert!(
        status == 413 && json["error"]["status"] == "RESOURCE_EXHAUSTED" && said(&json),
        "{json}"
    );
    let (status, json) = post("/acp/runs", message.clone()).await;
    assert!(status == 413 && said(&json), "{json}");
    let (status, json) = post("/mcp", call.clone()).await;
    assert!(
        status == 413 && json["error"]["code"].is_number() && said(&json),
        "{json}"
    );
    let (status, json) = post("/api/memory/import", message).await;
    assert!(
        status == 413 && json["code"] == "too_large" && said(&json),
        "{json}"
    );
    // Over WebSockets the connection goes on.
    let mut request = format!("ws://{}/ws/a2a", server.address)
        .into_client_request()
        .unwrap();
    let token = "Bearer token-of-ada".parse().unwrap();
    request.headers_mut().insert("authorization", token);
    let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"ListTasks","params":{}}"#;
    for (sent, expected) in [(&*call, "take too much memory"), (list, "\"id\":2")] {
        socket.send(WsMessage::text(sent)).await.unwrap();
        let text = loop {
            // Pings come between.
            if let WsMessage::Text(text) = socket.next().await.unwrap().unwrap() {
                break text;
            }
        };
        assert!(text.contains(expected), "{text}");
    }
    server.stop().await;
}

/// 16 MB of `{}` in a frame of the chat took 760 MB, and of empty lists in MessagePack 1.7 GB.
#[tokio::test]
async fn too_many_values_are_refused_in_the_chat_and_in_messagepack() {
    let case = cases::bearer_tokens_are_known_over_every_binding();
    let server = Running::living(&case.config).await;
    let empty_lists = || {
        let mut packed = vec![0xdd];
        packed.extend_from_slice(&400_000_u32.to_be_bytes());
        packed.resize(packed.len() + 400_000, 0x90);
        packed
    };
    let ping = serde_json::json!({ "id": uuid::Uuid::new_v4().to_string(), "type": "ping",
        "timestamp": "2025-10-26T03:45:00.000Z", "source": "user", "payload": {}, "metadata": {} });
    let text = WsMessage::text(crowd(400_000));
    let packed = WsMessage::Binary(empty_lists().into());
    let packed_ping = WsMessage::Binary(rmp_serde::to_vec_named(&ping).unwrap().into());
    for (protocol, heavy, ping) in [
        ("json", text, WsMessage::text(ping.to_string())),
        ("msgpack", packed, packed_ping),
    ] {
        let mut request = format!("ws://{}/ws/chat", server.address)
            .into_client_request()
            .unwrap();
        let headers = request.headers_mut();
        headers.insert("authorization", "Bearer token-of-ada".parse().unwrap());
        headers.insert("sec-websocket-protocol", protocol.parse().unwrap());
        let (mut socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        for (sent, expected) in [(heavy, "too_large"), (ping, "pong")] {
            socket.send(sent).await.unwrap();
            let said = loop {
                match socket.next().await.unwrap().unwrap() {
                    WsMessage::Text(text) => break text.to_string(),
                    WsMessage::Binary(bytes) => {
                        let value: serde_json::Value = rmp_serde::from_slice(&bytes).unwrap();
                        break value.to_string();
                    }
                    _ => {}
                }
            };
            assert!(said.contains(expected), "{protocol}: {said}");
        }
    }
    let mut client = server.client(crate::support::http::Version::One).await;
    let request = client
        .request("POST", "localhost", "/api/memory/query")
        .header("authorization", "Bearer token-of-ada")
        .header("content-type", "application/msgpack");
    let answer = client
        .send(request.body(empty_lists().into()).unwrap())
        .await;
    assert_eq!(answer.status.as_u16(), 413, "{answer:?}");
    assert!(answer.text.contains("take too much memory"), "{answer:?}");
    server.stop().await;
}
