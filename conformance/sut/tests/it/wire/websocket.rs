//! JSON-RPC over a WebSocket: many calls on one connection, streams that end, broken frames.

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use super::caller::Binding;
use crate::support::sut::Sut;

struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    async fn connect(address: SocketAddr) -> Self {
        let mut request = format!("ws://{address}/ws/a2a")
            .into_client_request()
            .unwrap();
        let protocol = "a2a.v1".parse().unwrap();
        request
            .headers_mut()
            .insert("sec-websocket-protocol", protocol);
        let stream = TcpStream::connect(address).await.unwrap();
        let (socket, response) = tokio_tungstenite::client_async(request, stream)
            .await
            .unwrap();
        assert_eq!(response.headers()["sec-websocket-protocol"], "a2a.v1");
        Self(socket)
    }

    async fn write(&mut self, frame: impl Into<String>) {
        let frame = Message::Text(frame.into().into());
        self.0.send(frame).await.unwrap();
    }

    async fn call(&mut self, id: &str, method: &str, params: Value) {
        let frame = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(frame.to_string()).await;
    }

    /// The next frame that is text.
    async fn read(&mut self) -> Value {
        loop {
            match self.0.next().await.unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Close(frame) => panic!("closed: {frame:?}"),
                _ => {}
            }
        }
    }

    /// All frames of this id, up to the one that ends its stream.
    async fn stream(&mut self, id: &str) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let frame = self.read().await;
            assert_eq!(frame["id"], id, "{frame}");
            if frame["streamEnd"] == true {
                assert!(frame.get("result").is_none(), "{frame}");
                return events;
            }
            events.push(frame["result"].clone());
        }
    }
}

fn message(text: &str) -> Value {
    let id = uuid::Uuid::new_v4().to_string();
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]}})
}

#[tokio::test]
async fn a_quick_call_overtakes_a_stream() {
    let sut = Sut::in_memory().await;
    let mut socket = Socket::connect(sut.address).await;
    socket
        .call("slow", "SendStreamingMessage", message("burst 3 50ms"))
        .await;
    socket
        .call("quick", "SendMessage", message("echo hello"))
        .await;
    let mut ids = Vec::new();
    let mut chunks = 0;
    loop {
        let frame = socket.read().await;
        let id = frame["id"].as_str().unwrap().to_owned();
        chunks += usize::from(frame["result"].get("artifactUpdate").is_some());
        if id == "quick" {
            let said = &frame["result"]["message"]["parts"][0]["text"];
            assert!(said.as_str().unwrap().contains("hello"), "{frame}");
        }
        ids.push(id);
        if frame["streamEnd"] == true {
            break;
        }
    }
    assert_eq!(chunks, 3);
    assert_eq!(ids.iter().filter(|id| *id == "quick").count(), 1, "{ids:?}");
    assert_ne!(ids.last().unwrap(), "quick", "{ids:?}");
}

#[tokio::test]
async fn every_operation_is_served() {
    let sut = Sut::in_memory().await;
    let mut socket = Socket::connect(sut.address).await;
    for row in a2a::operation::TABLE {
        socket.call(row.name, row.name, json!({})).await;
        let answer = socket.read().await;
        assert_eq!(answer["id"], row.name);
        assert_ne!(answer["error"]["code"], -32601, "{answer}");
    }
}

#[tokio::test]
async fn names_of_0_3_are_answered_in_the_form_of_0_3() {
    let sut = Sut::in_memory().await;
    let mut socket = Socket::connect(sut.address).await;
    let id = uuid::Uuid::new_v4().to_string();
    let part = json!({"kind": "text", "text": "task hello"});
    let message = json!({"kind": "message", "messageId": id, "role": "user", "parts": [part]});
    socket
        .call("1", "message/send", json!({"message": message}))
        .await;
    let task = socket.read().await["result"].clone();
    assert_eq!(task["kind"], "task", "{task}");
    assert_eq!(task["status"]["state"], "completed");
    socket.call("2", "GetTask", json!({"id": task["id"]})).await;
    let same = socket.read().await["result"].clone();
    assert_eq!(same["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn a_task_is_the_same_over_a_socket_and_elsewhere() {
    let sut = Sut::in_memory().await;
    let mut socket = Socket::connect(sut.address).await;
    socket.call("1", "SendMessage", message("task hello")).await;
    let task = socket.read().await["result"]["task"].clone();
    let id = task["id"].clone();
    socket.call("2", "GetTask", json!({"id": id})).await;
    assert_eq!(socket.read().await["result"], task);
    let mut caller = sut.caller(Binding::Rest).await;
    caller.unset("a2a-extensions");
    let found = caller.call("GetTask", json!({"id": id})).await;
    assert_eq!(found.unwrap(), task);
    socket.call("3", "GetTask", json!({"id": "nothing"})).await;
    let error = socket.read().await["error"].clone();
    assert_eq!(error["code"], -32001);
    assert_eq!(error["data"][0]["reason"], "TASK_NOT_FOUND");
}

#[tokio::test]
async fn a_stream_that_is_cancelled_ends_and_its_task_goes_on() {
    let sut = Sut::in_memory().await;
    let mut socket = Socket::connect(sut.address).await;
    socket
        .call("s", "SendStreamingMessage", message("burst 100 50ms"))
        .await;
    let id = socket.read().await["result"]["task"]["id"].clone();
    socket
        .write(r#"{"jsonrpc":"2.0","id":"s","cancelStream":true}"#)
        .await;
    socket.stream("s").await;
    socket.call("g", "GetTask", json!({"id": id})).await;
    let state = socket.read().await["result"]["status"]["state"].clone();
    assert_eq!(state, "TASK_STATE_WORKING");
    // The id can be used again, and to cancel an ended call is not an error.
    socket
        .write(r#"{"jsonrpc":"2.0","id":"s","cancelStream":true}"#)
        .await;
    socket.call("s", "CancelTask", json!({"id": id})).await;
    let cancelled = socket.read().await;
    assert_eq!(
        cancelled["result"]["status"]["state"],
        "TASK_STATE_CANCELED"
    );
}

#[tokio::test]
async fn a_stream_goes_on_from_its_cursor_on_another_connection() {
    let sut = Sut::in_memory().await;
    let mut first = Socket::connect(sut.address).await;
    first
        .call("s", "SendStreamingMessage", message("burst 10 20ms"))
        .await;
    let task = first.read().await["result"]["task"].clone();
    let mut seen = 1;
    while seen < 5 {
        first.read().await;
        seen += 1;
    }
    drop(first);
    let mut second = Socket::connect(sut.address).await;
    let frame = json!({
        "jsonrpc": "2.0", "id": "r", "method": "SubscribeToTask", "params": {"id": task["id"]},
        "a2a-service-parameters": {
            "Last-Event-ID": seen.to_string(), "A2A-Extensions": a2a::service::REPEATABLE,
        },
    });
    second.write(frame.to_string()).await;
    let rest = second.stream("r").await;
    let generations: Vec<_> = rest
        .iter()
        .map(|event| {
            let event = event.as_object().unwrap().values().next().unwrap();
            let generation = event["generation"].as_str().unwrap();
            generation.parse::<i64>().unwrap()
        })
        .collect();
    let last = *generations.last().unwrap();
    assert_eq!(generations, (6..=last).collect::<Vec<_>>());
    assert!(last > 10, "{generations:?}");
}

#[tokio::test]
async fn a_call_under_way_is_answered_when_the_server_stops() {
    let sut = Sut::in_memory().await;
    let mut socket = Socket::connect(sut.address).await;
    socket
        .call("1", "SendMessage", message("burst 1000 50ms"))
        .await;
    // The call is under way when another one behind it is answered.
    socket.call("2", "ListTasks", json!({})).await;
    assert_eq!(socket.read().await["id"], "2");
    sut.terminate().await;
    let answer = socket.read().await;
    assert_eq!(answer["id"], "1");
    assert_eq!(answer["error"]["data"][0]["reason"], "UNAVAILABLE");
    let closed = loop {
        if let Message::Close(frame) = socket.0.next().await.unwrap().unwrap() {
            break frame.unwrap();
        }
    };
    assert_eq!(u16::from(closed.code), 1001);
}

#[tokio::test]
async fn what_is_wrong_is_answered_and_the_connection_lives_on() {
    let sut = Sut::in_memory().await;
    let mut socket = Socket::connect(sut.address).await;
    for (frame, code) in [
        ("{", -32700),
        ("[]", -32600),
        ("17", -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"Nothing"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"GetTask"}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","a2a-service-parameters":7}"#,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","a2a-service-parameters":{"A2A-Version":"9.9"}}"#,
            -32009,
        ),
    ] {
        socket.write(frame).await;
        assert_eq!(socket.read().await["error"]["code"], code, "{frame}");
    }
    socket
        .call("s", "SendStreamingMessage", message("burst 100 50ms"))
        .await;
    socket.read().await;
    socket.call("s", "ListTasks", json!({})).await;
    let refused = loop {
        let frame = socket.read().await;
        if frame.get("error").is_some() {
            break frame;
        }
    };
    assert_eq!(refused["error"]["code"], -32600, "the id is in use");
    socket
        .0
        .send(Message::Binary(vec![1].into()))
        .await
        .unwrap();
    let closed = loop {
        if let Message::Close(frame) = socket.0.next().await.unwrap().unwrap() {
            break frame.unwrap();
        }
    };
    assert_eq!(u16::from(closed.code), 1003);
}

#[tokio::test]
async fn a_page_that_writes_loosely_is_answered_in_kind() {
    let sut = Sut::in_memory().await;
    let mut socket = Socket::connect(sut.address).await;
    let params = json!({
        "message": { "role": "user", "parts": [{ "type": "text", "text": "task hello" }] },
        "configuration": { "streaming": true },
    });
    socket.call("req-002", "message/send", params).await;
    let sent = socket.read().await["result"].take();
    let id = sent["taskId"].as_str().unwrap();
    assert!(sent["status"]["state"].is_string(), "{sent}");
    assert!(sent.get("kind").is_none(), "{sent}");
    // The task may be under way; its stream ends when it has.
    socket
        .call("follow", "tasks/resubscribe", json!({ "taskId": id }))
        .await;
    let events = socket.stream("follow").await;
    assert!(
        events
            .iter()
            .all(|it| it["taskId"] == id && it.get("kind").is_none()),
        "{events:?}"
    );

    socket
        .call("req-003", "tasks/get", json!({ "taskId": id }))
        .await;
    let task = socket.read().await["result"].take();
    assert_eq!(task["id"], id);
    assert_eq!(task["status"]["state"], "completed");
    assert_eq!(
        task["messages"][0]["parts"],
        json!([{ "type": "text", "text": "task hello" }])
    );
    assert_eq!(task["artifacts"][0]["mimeType"], "text/plain");
    assert_eq!(task["artifacts"][0]["parts"][0]["type"], "text");

    let params =
        json!({ "message": { "role": "user", "parts": [{ "type": "text", "text": "echo hi" }] } });
    socket.call("4", "message/send", params).await;
    let said = socket.read().await["result"].take();
    assert_eq!(
        said["parts"],
        json!([{ "type": "text", "text": "echo hi" }]),
        "{said}"
    );
    socket
        .call("5", "tasks/get", json!({ "taskId": "nobody" }))
        .await;
    assert_eq!(socket.read().await["error"]["code"], -32001);
}
