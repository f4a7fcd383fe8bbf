//! The transport of revision 2024-11-05: one stream for what the server says, and an address for what the client says.

use a2a::types::TaskState;
use axum::body::{Body, BodyDataStream};
use axum::http::{Request, StatusCode};
use axum::response::Response;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::support::{Bench, state};
use crate::wire::{door, initialize, send, shows};

fn get(path: &str) -> Request<Body> {
    let request = Request::get(path).header("host", "127.0.0.1");
    request.body(Body::empty()).unwrap()
}

fn post(address: &str, body: &Value) -> Request<Body> {
    let request = Request::post(address)
        .header("host", "127.0.0.1")
        .header("content-type", "application/json");
    request.body(Body::from(body.to_string())).unwrap()
}

fn call(id: u32, tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": tool, "arguments": { "who": "Ada" } } })
}

/// A client with its stream.
struct Client<'a> {
    bench: &'a Bench,
    events: BodyDataStream,
    address: String,
}

impl<'a> Client<'a> {
    async fn connect(bench: &'a Bench) -> Self {
        let response = bench.http.routes().oneshot(get("/sse")).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let mut client = Self {
            bench,
            events: response.into_body().into_data_stream(),
            address: String::new(),
        };
        let (name, address) = client.event().await;
        assert_eq!(name, "endpoint");
        client.address = address;
        client
    }

    /// The name and the data of the next event.
    async fn event(&mut self) -> (String, String) {
        let event = self.events.next().await.unwrap().unwrap();
        let event = std::str::from_utf8(&event).unwrap();
        let field = |name: &str| {
            let mut lines = event.lines().filter_map(|line| line.strip_prefix(name));
            lines.next().unwrap_or_default().trim().to_owned()
        };
        (field("event:"), field("data:"))
    }

    async fn message(&mut self) -> Value {
        let (name, data) = self.event().await;
        assert_eq!(name, "message", "{data}");
        serde_json::from_str(&data).unwrap()
    }

    async fn post(&self, body: &Value) -> Response {
        let request = post(&self.address, body);
        self.bench.http.routes().oneshot(request).await.unwrap()
    }

    async fn ask(&mut self, body: &Value) -> Value {
        assert_eq!(self.post(body).await.status(), StatusCode::ACCEPTED);
        self.message().await
    }

    async fn open(&mut self) {
        let mut body = initialize();
        body["params"]["protocolVersion"] = json!("2024-11-05");
        let opened = self.ask(&body).await;
        assert_eq!(
            opened["result"]["protocolVersion"], "2024-11-05",
            "{opened}"
        );
        let opened = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.post(&opened).await.status(), StatusCode::ACCEPTED);
    }
}

#[tokio::test]
async fn a_client_of_the_first_revision_lists_and_calls() {
    let bench = Bench::start().await;
    let mut client = Client::connect(&bench).await;
    assert!(
        client.address.starts_with("/messages?sessionId="),
        "{}",
        client.address
    );
    client.open().await;
    let listed = client
        .ask(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }))
        .await;
    assert_eq!(listed["result"]["tools"][0]["name"], "greet");
    let called = client.ask(&call(3, "greet")).await;
    assert_eq!(called["id"], 3);
    assert_eq!(called["result"]["structuredContent"]["text"], "Hello, Ada!");
    let unknown = client.ask(&call(4, "fly")).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

/// A question comes on the stream, and its answer is posted.
#[tokio::test]
async fn a_question_is_asked_on_the_stream() {
    let bench = Bench::start().await;
    let mut client = Client::connect(&bench).await;
    let mut body = initialize();
    body["params"]["capabilities"] = json!({ "elicitation": {} });
    client.ask(&body).await;
    let order = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": { "name": "order", "arguments": { "what": "a lamp" } } });
    let mut said = client.ask(&order).await;
    for message in ["Order a lamp?", "Really?"] {
        assert_eq!(said["method"], "elicitation/create", "{said}");
        assert_eq!(said["params"]["message"], message);
        let content = json!({ "approved": true });
        let answer = json!({ "jsonrpc": "2.0", "id": said["id"],
            "result": { "action": "accept", "content": content } });
        said = client.ask(&answer).await;
    }
    assert_eq!(said["id"], 2, "{said}");
    assert_eq!(
        said["result"]["structuredContent"]["text"],
        "a lamp: true, sure"
    );
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_session_and_cancels_its_calls() {
    let bench = Bench::start().await;
    let mut client = Client::connect(&bench).await;
    client.open().await;
    let address = client.address.clone();
    assert_eq!(
        client.post(&call(2, "wait")).await.status(),
        StatusCode::ACCEPTED
    );
    let task = bench.first().await;
    drop(client);
    bench.until_state(&task.id, TaskState::Canceled).await;
    let (status, gone) = send(&bench, post(&address, &call(3, "greet"))).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{gone}");
    assert_eq!(state(&bench.load(&task.id).await), TaskState::Canceled);
}

#[tokio::test]
async fn what_is_wrong_is_refused_in_json_rpc() {
    let bench = Bench::with(|_| {}, |http| http.limits.max_body = 1000).await;
    let client = Client::connect(&bench).await;
    let mut evil = get("/sse");
    evil.headers_mut()
        .insert("host", "evil.example".parse().unwrap());
    let mut text = post(&client.address, &call(1, "greet"));
    text.headers_mut()
        .insert("content-type", "text/plain".parse().unwrap());
    for (request, status, code) in [
        (evil, 403, -32600),
        (post("/sse", &json!({})), 405, -32600),
        (get("/messages"), 405, -32600),
        (post("/messages", &call(1, "greet")), 404, -32600),
        (
            post("/messages?sessionId=none", &call(1, "greet")),
            404,
            -32600,
        ),
        (text, 415, -32600),
        (post(&client.address, &json!("x".repeat(2000))), 413, -32600),
        (post(&client.address, &json!([])), 400, -32600),
    ] {
        let asked = format!("{request:?}");
        let (found, reply) = send(&bench, request).await;
        assert_eq!(found.as_u16(), status, "{asked}: {reply}");
        assert_eq!(reply["error"]["code"], code, "{asked}: {reply}");
    }
}

#[tokio::test]
async fn a_stream_belongs_to_its_caller() {
    let bench = Bench::with(|_| {}, |http| http.door = door()).await;
    let refused = bench.http.routes().oneshot(get("/sse")).await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    let request = shows("ada", get("/sse"));
    let response = bench.http.routes().oneshot(request).await.unwrap();
    let mut client = Client {
        bench: &bench,
        events: response.into_body().into_data_stream(),
        address: String::new(),
    };
    let address = client.event().await.1;
    for (who, status) in [
        ("bob", StatusCode::NOT_FOUND),
        ("ada", StatusCode::ACCEPTED),
    ] {
        let request = shows(who, post(&address, &initialize()));
        let response = bench.http.routes().oneshot(request).await.unwrap();
        assert_eq!(response.status(), status, "{who}");
    }
}

/// The address of messages is the whole path, also where the routes are below another one.
#[tokio::test]
async fn the_address_for_messages_is_where_the_client_can_reach_it() {
    let bench = Bench::start().await;
    let routes = axum::Router::new().nest("/agents/ada", bench.http.routes());
    let response = routes.oneshot(get("/agents/ada/sse")).await.unwrap();
    let mut events = response.into_body().into_data_stream();
    let first = events.next().await.unwrap().unwrap();
    let first = std::str::from_utf8(&first).unwrap();
    let expected = "event: endpoint\ndata: /agents/ada/messages?sessionId=";
    assert!(first.starts_with(expected), "{first}");
}
