//! Calls of an agent over JSON-RPC.

use axum::body::Body;
use serde_json::{Value, json};

use super::http::Client;

/// What is sent: the id and the text of a message, and the task it continues.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent<'a> {
    pub(crate) id: &'a str,
    pub(crate) text: &'a str,
    pub(crate) task: &'a str,
}

impl Sent<'_> {
    /// The request that carries it.
    pub(crate) fn request(self) -> Value {
        json!({ "message": {
            "messageId": self.id,
            "taskId": self.task,
            "role": "ROLE_USER",
            "parts": [{ "text": self.text }],
        }})
    }
}

/// Calls a method, and gives what the server answers: the whole JSON-RPC response.
pub(crate) async fn call(client: &mut Client, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = client
        .request("POST", "localhost", "/a2a/jsonrpc")
        .header("content-type", "application/json")
        .header("a2a-version", "1.0")
        .body(Body::from(body.to_string()));
    let answer = client.send(request.unwrap()).await;
    serde_json::from_str(&answer.text).unwrap_or_else(|_| panic!("{answer:?}"))
}

/// Calls a method that answers with a stream, and gives what each event holds.
pub(crate) async fn stream(client: &mut Client, method: &str, params: Value) -> Vec<Value> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = client
        .request("POST", "localhost", "/a2a/jsonrpc")
        .header("content-type", "application/json")
        .header("a2a-version", "1.0")
        .body(Body::from(body.to_string()));
    let answer = client.send(request.unwrap()).await;
    let data = answer
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"));
    data.map(|data| serde_json::from_str::<Value>(data).unwrap()["result"].clone())
        .collect()
}

/// The texts of parts, in a row.
pub(crate) fn texts(parts: &Value) -> String {
    let parts = parts.as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}
