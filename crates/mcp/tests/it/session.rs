//! Sessions of revision 2025-11-25: ids of requests, replies as JSON or stream, and callers.

use std::time::Duration;

use a2a::types::TaskState;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderValue, Request, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use crate::support::Bench;
use crate::wire::{initialize, post, send};

/// An open session, driven request by request.
struct Session<'a> {
    bench: &'a Bench,
    id: HeaderValue,
}

impl<'a> Session<'a> {
    async fn open(bench: &'a Bench) -> Self {
        let body = initialize();
        let mut request = post(&body).body(Body::from(body.to_string())).unwrap();
        request.headers_mut().remove("mcp-protocol-version");
        let response = bench.http.routes().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let id = response.headers()["mcp-session-id"].clone();
        let session = Self { bench, id };
        let opened = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let response = session.send(&opened).await;
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        session
    }

    fn request(&self, body: &Value) -> Request<Body> {
        let mut request = post(body).body(Body::from(body.to_string())).unwrap();
        let headers = request.headers_mut();
        headers.insert("mcp-session-id", self.id.clone());
        headers.insert("mcp-protocol-version", "2025-11-25".parse().unwrap());
        request
    }

    async fn send(&self, body: &Value) -> Response {
        let request = self.request(body);
        self.bench.http.routes().oneshot(request).await.unwrap()
    }

    async fn ask(&self, body: &Value) -> Value {
        reply(self.send(body).await).await
    }
}

/// The last message of a reply, JSON or event stream.
async fn reply(response: Response) -> Value {
    assert_eq!(response.status(), StatusCode::OK);
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    let text = std::str::from_utf8(&body).unwrap();
    let lines = text.lines().rev();
    let mut data = lines.filter_map(|line| line.strip_prefix("data:"));
    let last = data.find(|data| !data.trim().is_empty());
    serde_json::from_str(last.unwrap_or(text)).unwrap()
}

fn call(id: u32, tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": tool, "arguments": { "who": "Ada" } } })
}

/// Regression: both were answered on the stream of the second, and the first waited forever.
#[tokio::test]
async fn an_id_that_is_under_way_is_refused_and_the_first_is_answered() {
    let bench = Bench::start().await;
    let session = Session::open(&bench).await;
    let wait = call(7, "wait");
    let first = session.ask(&wait);
    let others = async {
        let task = bench.first().await;
        let second = session.ask(&call(7, "greet")).await;
        bench.cancel(&task.id).await.unwrap();
        second
    };
    let (first, second) = tokio::join!(first, others);
    assert_eq!(second["error"]["code"], -32600, "{second}");
    assert_eq!(second["id"], 7);
    assert_eq!(first["id"], 7);
    assert_eq!(first["result"]["isError"], true, "{first}");
    // An id that was answered may be used again.
    let third = session.ask(&call(7, "greet")).await;
    assert_eq!(third["result"]["structuredContent"]["text"], "Hello, Ada!");
}

#[tokio::test]
async fn the_id_of_a_cancelled_request_is_free() {
    let bench = Bench::start().await;
    let session = Session::open(&bench).await;
    let wait = call(7, "wait");
    let first = session.send(&wait);
    let others = async {
        bench.first().await;
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": 7 } });
        assert_eq!(session.send(&cancelled).await.status(), 202);
        session.ask(&call(7, "greet")).await
    };
    let (_, second) = tokio::join!(first, others);
    assert_eq!(second["id"], 7, "{second}");
    assert_ne!(second["error"]["code"], -32600, "{second}");
}

/// Regression: every request in a session was answered with a stream.
#[tokio::test]
async fn a_reply_in_a_session_that_streams_nothing_is_json() {
    let hour = Duration::from_secs(3600);
    let bench = Bench::with(|_| {}, |http| http.limits.hold = hour).await;
    let session = Session::open(&bench).await;
    let kind = |response: &Response| response.headers()["content-type"].clone();
    let response = session.send(&call(2, "greet")).await;
    assert_eq!(kind(&response), "application/json");
    let greeted = reply(response).await;
    assert_eq!(
        greeted["result"]["structuredContent"]["text"],
        "Hello, Ada!"
    );

    let mut count = call(3, "count");
    count["params"]["_meta"] = json!({ "progressToken": "p" });
    let response = session.send(&count).await;
    assert_eq!(kind(&response), "text/event-stream");
    assert_eq!(reply(response).await["result"]["isError"], false);

    let mut request = session.request(&call(4, "greet"));
    let accept = "text/event-stream, application/json;q=0.5".parse().unwrap();
    request.headers_mut().insert("accept", accept);
    let response = bench.http.routes().oneshot(request).await.unwrap();
    assert_eq!(kind(&response), "text/event-stream");
    assert_eq!(reply(response).await["id"], 4);
}

/// A reply that takes long is a stream, which can be resumed.
#[tokio::test]
async fn a_reply_in_a_session_that_takes_long_is_a_stream() {
    let bench = Bench::with(|_| {}, |http| http.limits.hold = Duration::ZERO).await;
    let session = Session::open(&bench).await;
    let response = session.send(&call(2, "wait")).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    bench.cancel(&bench.first().await.id).await.unwrap();
    assert_eq!(reply(response).await["result"]["isError"], true);
}

#[tokio::test]
async fn a_session_is_initialized_once() {
    let bench = Bench::start().await;
    let session = Session::open(&bench).await;
    let mut again = initialize();
    again["id"] = json!(2);
    let again = session.ask(&again).await;
    assert_eq!(again["error"]["code"], -32600, "{again}");
    assert_eq!(again["id"], 2);
    let served = session.ask(&call(3, "greet")).await;
    assert_eq!(served["result"]["isError"], false, "{served}");
}

#[tokio::test]
async fn every_revision_that_is_offered_is_spoken() {
    let bench = Bench::start().await;
    let mut discover = crate::wire::call("");
    discover["method"] = json!("server/discover");
    let request = post(&discover).body(Body::from(discover.to_string()));
    let (_, found) = send(&bench, request.unwrap()).await;
    let mut offered: Vec<Value> =
        serde_json::from_value(found["result"]["supportedVersions"].clone()).unwrap();
    // Revision 2026-07-28 has no sessions.
    assert_eq!(offered.pop(), Some(json!("2026-07-28")));
    assert_eq!(
        offered,
        ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
    );
    for version in offered {
        let mut body = initialize();
        body["params"]["protocolVersion"] = version.clone();
        let mut request = post(&body).body(Body::from(body.to_string())).unwrap();
        request.headers_mut().remove("mcp-protocol-version");
        let response = bench.http.routes().oneshot(request).await.unwrap();
        let agreed = reply(response).await;
        assert_eq!(agreed["result"]["protocolVersion"], version);
    }
}

/// Once the end of a session was answered with 202, as if it were still to come.
#[tokio::test]
async fn a_session_that_is_deleted_is_gone() {
    let bench = Bench::start().await;
    let session = Session::open(&bench).await;
    let delete = || {
        let request = Request::delete("/mcp").header("host", "127.0.0.1");
        let request = request.header("mcp-session-id", session.id.clone());
        request.body(Body::empty()).unwrap()
    };
    let ended = bench.http.routes().oneshot(delete()).await.unwrap();
    assert_eq!(ended.status(), StatusCode::NO_CONTENT);
    assert_eq!(send(&bench, delete()).await.0, StatusCode::NOT_FOUND);
    let (status, _) = send(&bench, session.request(&call(2, "greet"))).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

/// The events of a reply have ids, and a client that lost the connection reads the rest.
#[tokio::test]
async fn a_reply_that_streams_can_be_read_again() {
    let bench = Bench::start().await;
    let session = Session::open(&bench).await;
    let mut count = call(3, "count");
    count["params"]["_meta"] = json!({ "progressToken": "p" });
    let whole = session.send(&count).await;
    let whole = to_bytes(whole.into_body(), 1 << 20).await.unwrap();
    let whole = String::from_utf8(whole.to_vec()).unwrap();
    let events: Vec<&str> = whole.split_inclusive("\n\n").collect();
    // An event that is only an id, three of progress, and the response.
    assert_eq!(events.len(), 5, "{whole}");
    let id_of = |event: &str| {
        event
            .lines()
            .find_map(|it| it.strip_prefix("id: ").map(str::to_owned))
    };
    for seen in 0..4 {
        let request = Request::get("/mcp")
            .header("host", "127.0.0.1")
            .header("accept", "text/event-stream")
            .header("mcp-session-id", session.id.clone())
            .header("last-event-id", id_of(events[seen]).unwrap());
        let request = request.body(Body::empty()).unwrap();
        let rest = bench.http.routes().oneshot(request).await.unwrap();
        let rest = to_bytes(rest.into_body(), 1 << 20).await.unwrap();
        assert_eq!(rest, events[seen + 1..].concat());
    }
    for unknown in ["9/0", "x", "", "1/99"] {
        let request = Request::get("/mcp")
            .header("host", "127.0.0.1")
            .header("accept", "text/event-stream")
            .header("mcp-session-id", session.id.clone())
            .header("last-event-id", unknown);
        let request = request.body(Body::empty()).unwrap();
        let rest = bench.http.routes().oneshot(request).await.unwrap();
        assert_eq!(rest.status(), StatusCode::OK);
        assert!(
            to_bytes(rest.into_body(), 1 << 20)
                .await
                .unwrap()
                .is_empty(),
            "{unknown}"
        );
    }
}

/// A client of a session that disconnects has not cancelled its request.
#[tokio::test]
async fn a_call_in_a_session_goes_on_without_its_connection() {
    let bench = Bench::with(|_| {}, |http| http.limits.hold = Duration::from_secs(3600)).await;
    let session = Session::open(&bench).await;
    let wait = call(2, "wait");
    let mut sending = Box::pin(session.send(&wait));
    let task = tokio::select! {
        _ = &mut sending => panic!("it was answered"),
        task = bench.first() => task,
    };
    drop(sending);
    bench.until_state(&task.id, TaskState::Working).await;
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 2 } });
    assert_eq!(session.send(&cancelled).await.status(), 202);
    bench.until_state(&task.id, TaskState::Canceled).await;
}

#[tokio::test]
async fn a_session_has_a_limit_on_open_requests() {
    let bench = Bench::with(|_| {}, |http| http.limits.max_requests = 1).await;
    let session = Session::open(&bench).await;
    let wait = call(2, "wait");
    let first = session.ask(&wait);
    let others = async {
        let task = bench.first().await;
        let second = session.ask(&call(3, "greet")).await;
        bench.cancel(&task.id).await.unwrap();
        second
    };
    let (first, second) = tokio::join!(first, others);
    assert_eq!(second["error"]["code"], -32600, "{second}");
    assert_eq!(first["id"], 2);
}
