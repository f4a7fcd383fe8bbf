//! HTTP: malformed requests, refused requests, limits and callers.

use std::sync::Arc;
use std::time::Duration;

use a2a::service::{Call, Service as _};
use access::{Callers, Door, Hash, Principal, Scheme};
use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::Response;
use mcp::HttpConfig;
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::support::{Bench, User, Wire};

/// A valid request of revision 2026-07-28.
pub(crate) fn call(tool: &str) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": tool, "arguments": { "who": "Ada" }, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        } },
    })
}

pub(crate) fn post(body: &Value) -> axum::http::request::Builder {
    let method = body["method"].as_str().unwrap_or_default();
    let name = body["params"]["name"].as_str().unwrap_or_default();
    Request::post("/mcp")
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method)
        .header("mcp-name", name)
}

pub(crate) fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    } })
}

pub(crate) async fn send(bench: &Bench, request: Request<Body>) -> (StatusCode, Value) {
    let response: Response = bench.http.routes().oneshot(request).await.unwrap();
    let status = response.status();
    let kind = response.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(kind.starts_with("application/json"), "{status}: {kind}");
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn a_reply_that_streams_nothing_is_json() {
    let bench = Bench::start().await;
    let body = call("greet");
    let request = post(&body).body(Body::from(body.to_string())).unwrap();
    let (status, reply) = send(&bench, request).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(reply["result"]["structuredContent"]["text"], "Hello, Ada!");
    assert_eq!(reply["result"]["resultType"], "complete");
}

#[tokio::test]
async fn whatever_is_refused_is_refused_in_json_rpc() {
    let bench = Bench::with(|_| {}, |http| http.limits.max_body = 1000).await;
    let body = call("greet");
    let text = || Body::from(body.to_string());
    let with = |name: &str, value: &str| {
        let mut request = post(&body).body(text()).unwrap();
        let name = axum::http::HeaderName::try_from(name).unwrap();
        request.headers_mut().insert(name, value.parse().unwrap());
        request
    };
    let long = Body::from(" ".repeat(2000));
    let get = Request::get("/mcp")
        .header("host", "localhost")
        .body(Body::empty());
    let put = Request::put("/mcp")
        .header("host", "localhost")
        .body(Body::empty());
    for (request, status, code) in [
        (with("host", "evil.example"), 403, -32600),
        (with("origin", "http://evil.example"), 403, -32600),
        (with("accept", "text/html"), 406, -32600),
        (with("content-type", "text/plain"), 415, -32600),
        (with("mcp-method", "tools/list"), 400, -32020),
        (with("mcp-name", "shout"), 400, -32020),
        (with("mcp-protocol-version", "2025-11-25"), 400, -32020),
        (post(&body).body(long).unwrap(), 413, -32600),
        (post(&body).body(Body::from("{")).unwrap(), 400, -32700),
        (
            post(&body).body(Body::from(&b"\xff"[..])).unwrap(),
            400,
            -32700,
        ),
        (post(&body).body(Body::from("")).unwrap(), 400, -32700),
        (post(&body).body(Body::from("[]")).unwrap(), 400, -32600),
        (post(&body).body(Body::from("[{}]")).unwrap(), 400, -32600),
        (post(&body).body(Body::from("7")).unwrap(), 400, -32600),
        (post(&body).body(Body::from("{}")).unwrap(), 400, -32600),
        (get.unwrap(), 406, -32600),
        (put.unwrap(), 405, -32600),
    ] {
        let asked = format!("{request:?}");
        let (found, reply) = send(&bench, request).await;
        assert_eq!(found.as_u16(), status, "{asked}: {reply}");
        assert_eq!(reply["jsonrpc"], "2.0", "{asked}: {reply}");
        assert_eq!(reply["error"]["code"], code, "{asked}: {reply}");
        assert!(
            !reply["error"]["message"].as_str().unwrap().is_empty(),
            "{asked}"
        );
    }
}

/// Regression: the library reports wrong parameters of a known method as an unknown method.
#[tokio::test]
async fn parameters_of_the_wrong_shape_are_no_unknown_method() {
    let bench = Bench::start().await;
    let with = |change: &dyn Fn(&mut Value)| {
        let mut body = call("greet");
        change(&mut body);
        body
    };
    for (body, code, told) in [
        (
            with(&|it| it["params"]["name"] = json!(5)),
            -32602,
            "tools/call",
        ),
        (
            with(&|it| it["params"]["arguments"] = json!([])),
            -32602,
            "tools/call",
        ),
        (
            with(&|it| it["params"]["arguments"] = json!("Ada")),
            -32602,
            "tools/call",
        ),
        (
            with(&|it| {
                it["method"] = json!("tasks/get");
                it["params"]["taskId"] = json!(7);
            }),
            -32602,
            "tasks/get",
        ),
        (
            with(&|it| it["params"]["_meta"]["urn:monas:mcp:call"] = json!(5)),
            -32602,
            "urn:monas:mcp:call",
        ),
        (
            with(&|it| it["params"]["_meta"]["urn:monas:mcp:call"] = json!("")),
            -32602,
            "urn:monas:mcp:call",
        ),
        (
            with(&|it| it["method"] = json!("tools/fly")),
            -32601,
            "tools/fly",
        ),
    ] {
        let request = post(&body).body(Body::from(body.to_string())).unwrap();
        let (_, reply) = send(&bench, request).await;
        assert_eq!(reply["error"]["code"], code, "{body}: {reply}");
        let message = reply["error"]["message"].as_str().unwrap();
        assert!(message.contains(told), "{body}: {reply}");
    }
    assert!(bench.all().await.is_empty());
}

#[tokio::test]
async fn a_page_that_is_let_in_may_call() {
    let bench = Bench::with(
        |_| {},
        |http| {
            http.origins = vec!["http://127.0.0.1:7777".to_owned()];
            http.hosts = vec!["agents.example".to_owned()];
        },
    )
    .await;
    let body = call("greet");
    let mut request = post(&body).body(Body::from(body.to_string())).unwrap();
    let headers = request.headers_mut();
    headers.insert("origin", "http://127.0.0.1:7777".parse().unwrap());
    headers.insert("host", "agents.example".parse().unwrap());
    assert_eq!(send(&bench, request).await.0, StatusCode::OK);
}

#[tokio::test]
async fn sessions_are_counted_and_end_when_the_server_does() {
    let bench = Bench::with(|_| {}, |http| http.limits.max_sessions = 1).await;
    let first = bench.client(Wire::Sessions, User::plain()).await;
    let open = initialize();
    let mut request = post(&open).body(Body::from(open.to_string())).unwrap();
    request.headers_mut().remove("mcp-protocol-version");
    request.headers_mut().remove("mcp-name");
    // The session that is idle makes room for the new one.
    let (status, reply) = send(&bench, request).await;
    assert_eq!(status, StatusCode::OK, "{reply}");
    // Requests without a session are still served.
    let other = bench.client(Wire::Stateless, User::plain()).await;
    assert!(!other.list_all_tools().await.unwrap().is_empty());
    bench.http.stop().await;
    let called = tokio::time::timeout(
        Duration::from_secs(30),
        first.call_tool(CallToolRequestParams::new("tell")),
    );
    assert!(called.await.unwrap().is_err());
}

/// Once one caller could open all sessions of the server, and every other was refused for an hour.
#[tokio::test]
async fn a_caller_that_opens_too_many_sessions_ends_its_own() {
    let change = |http: &mut HttpConfig| {
        http.door = door();
        http.limits.max_sessions_each = 3;
        http.limits.max_sessions = 4;
    };
    let bench = Bench::with(|_| {}, change).await;
    let open = async |who: &str| {
        let body = initialize();
        let mut request = post(&body).body(Body::from(body.to_string())).unwrap();
        request.headers_mut().remove("mcp-protocol-version");
        let request = shows(who, request);
        let response = bench.http.routes().oneshot(request).await.unwrap();
        let status = response.status();
        let session = response.headers().get("mcp-session-id").cloned();
        // The request is open until its reply is read.
        to_bytes(response.into_body(), 1 << 20).await.unwrap();
        assert_eq!(status, StatusCode::OK);
        session.unwrap()
    };
    let lives = async |who: &str, session: &HeaderValue| {
        let ping = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let mut request = post(&ping).body(Body::from(ping.to_string())).unwrap();
        let headers = request.headers_mut();
        headers.insert("mcp-session-id", session.clone());
        headers.insert("mcp-protocol-version", "2025-11-25".parse().unwrap());
        let request = shows(who, request);
        let response = bench.http.routes().oneshot(request).await.unwrap();
        response.status() == StatusCode::ACCEPTED
    };
    let of_ada = open("ada").await;
    let mut of_bob = Vec::new();
    for _ in 0..10 {
        of_bob.push(open("bob").await);
    }
    assert!(lives("ada", &of_ada).await);
    assert!(lives("bob", &of_bob[9]).await);
    assert!(!lives("bob", &of_bob[0]).await);
    // The server has as many as it may have: bob, who has the most, ends one for ada.
    let another = open("ada").await;
    assert!(lives("ada", &of_ada).await && lives("ada", &another).await);
    assert!(lives("bob", &of_bob[9]).await);
}

/// Metadata of the protocol does not reach the skill: its input is the arguments only.
#[tokio::test]
async fn nothing_of_the_protocol_reaches_the_task() {
    let bench = Bench::start().await;
    let mut body = call("greet");
    body["params"]["_meta"]["example.com/secret"] = json!("hush");
    let request = post(&body).body(Body::from(body.to_string())).unwrap();
    let (_, reply) = send(&bench, request).await;
    let id = bench.all().await[0].id.clone();
    let task = format!("{:?}", bench.load(&id).await);
    assert!(!task.contains("hush") && task.contains("Ada"), "{task}");
    assert!(!reply.to_string().contains("hush"), "{reply}");
}

/// A door that knows two callers by their tokens.
pub(crate) fn door() -> Arc<Door> {
    let mut callers = Callers::default();
    for name in ["ada", "bob"] {
        callers.add(name, Hash::of(name), &[]).unwrap();
    }
    Arc::new(Door::new(vec![("tokens".to_owned(), Scheme::Bearer(callers))]).unwrap())
}

pub(crate) fn shows(token: &str, mut request: Request<Body>) -> Request<Body> {
    let token = format!("Bearer {token}").parse().unwrap();
    request.headers_mut().insert("authorization", token);
    request
}

#[tokio::test]
async fn a_task_belongs_to_its_caller() {
    let bench = Bench::with(|_| {}, |http| http.door = door()).await;
    let body = call("greet");
    let request = || post(&body).body(Body::from(body.to_string())).unwrap();
    let response = bench.http.routes().oneshot(request()).await.unwrap();
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    let challenge = response.headers()["www-authenticate"].to_str().unwrap();
    assert!(challenge.starts_with("Bearer"), "{challenge}");

    let (status, _) = send(&bench, shows("ada", request())).await;
    assert_eq!(status, StatusCode::OK);
    let count = async |name: &str| {
        let call = Call::by(Principal::named(name));
        let listed = bench.server.list_tasks(call, Default::default()).await;
        listed.unwrap().tasks.len()
    };
    assert_eq!((count("ada").await, count("bob").await), (1, 0));
}

#[tokio::test]
async fn a_caller_cannot_use_the_session_of_another() {
    let bench = Bench::with(|_| {}, |http| http.door = door()).await;
    let open = initialize();
    let mut request = post(&open).body(Body::from(open.to_string())).unwrap();
    request.headers_mut().remove("mcp-protocol-version");
    let response = bench
        .http
        .routes()
        .oneshot(shows("ada", request))
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let session = response.headers()["mcp-session-id"].clone();
    let ping = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    for (who, status) in [
        ("bob", StatusCode::NOT_FOUND),
        ("ada", StatusCode::ACCEPTED),
    ] {
        let mut request = post(&ping).body(Body::from(ping.to_string())).unwrap();
        let headers = request.headers_mut();
        headers.insert("mcp-session-id", session.clone());
        headers.insert("mcp-protocol-version", "2025-11-25".parse().unwrap());
        let response = bench
            .http
            .routes()
            .oneshot(shows(who, request))
            .await
            .unwrap();
        assert_eq!(response.status(), status, "{who}");
    }
}
