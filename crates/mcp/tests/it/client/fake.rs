//! A tool server over HTTP that replies with what a test gives it.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::response::Response;
use axum::routing::any;
use futures_util::{StreamExt as _, stream};
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use skill::ToolServer;

/// The reply to a request.
pub(crate) enum Said {
    Result(Value),
    /// Leaves the request open for ever.
    Nothing,
    /// A body of this media type.
    Bytes(&'static str, Bytes),
    /// The beginning of a body, and then the connection is cut.
    Cut(&'static str, &'static str),
    /// A redirect to this address.
    Elsewhere(String),
}

/// The headers of one request.
pub(crate) type Seen = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

pub(crate) struct Fake {
    pub(crate) url: String,
    pub(crate) seen: Seen,
}

impl Fake {
    /// Replies with what `answer` returns; the handshake is always the same.
    pub(crate) async fn start(answer: impl Fn(&Value) -> Said + Send + Sync + 'static) -> Self {
        let seen = Seen::default();
        let answer = Arc::new(answer);
        let noted = seen.clone();
        let handler = any(async move |headers: HeaderMap, body: Bytes| {
            let request: Value = serde_json::from_slice(&body).unwrap_or_default();
            noted.lock().unwrap().push((headers, request.clone()));
            if request["id"].is_null() {
                return status(StatusCode::ACCEPTED);
            }
            let said = match request["method"].as_str() {
                Some("server/discover") => Said::Result(discovered()),
                _ => answer(&request),
            };
            said.say(&request).await
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let router = Router::new().route("/mcp", handler);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, seen }
    }

    /// A server with these tools, each of which replies with this result.
    pub(crate) async fn with_tools(
        tools: Vec<Value>,
        called: impl Fn(&Value) -> Said + Send + Sync + 'static,
    ) -> Self {
        Self::start(move |request| match request["method"].as_str() {
            Some("tools/list") => Said::Result(page(&tools, None)),
            _ => called(request),
        })
        .await
    }

    pub(crate) fn server(&self) -> ToolServer {
        ToolServer {
            url: Some(self.url.clone()),
            ..ToolServer::default()
        }
    }
}

impl Said {
    async fn say(self, request: &Value) -> Response {
        match self {
            Self::Result(result) => {
                let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
                body("application/json", Body::from(answer.to_string()))
            }
            Self::Nothing => std::future::pending().await,
            Self::Bytes(kind, bytes) => body(kind, Body::from(bytes)),
            Self::Cut(kind, beginning) => {
                let beginning = stream::iter([Ok::<_, std::io::Error>(Bytes::from(beginning))]);
                let cut = stream::iter([Err(std::io::Error::other("cut"))]);
                body(kind, Body::from_stream(beginning.chain(cut)))
            }
            Self::Elsewhere(place) => {
                let mut response = status(StatusCode::TEMPORARY_REDIRECT);
                let headers = response.headers_mut();
                headers.insert(http::header::LOCATION, place.parse().unwrap());
                response
            }
        }
    }
}

fn body(kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    let kind = http::HeaderValue::from_static(kind);
    response
        .headers_mut()
        .insert(http::header::CONTENT_TYPE, kind);
    response
}

fn status(status: StatusCode) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A page of a list of tools.
pub(crate) fn page(tools: &[Value], next: Option<&str>) -> Value {
    let mut page = json!({
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": tools,
    });
    if let Some(next) = next {
        page["nextCursor"] = json!(next);
    }
    page
}

/// A tool that accepts any input.
pub(crate) fn tool(name: &str) -> Value {
    json!({ "name": name, "description": "A tool.", "inputSchema": { "type": "object" } })
}

/// The result of a tool with this text.
pub(crate) fn text(text: &str) -> Said {
    let content = json!([{ "type": "text", "text": text }]);
    Said::Result(json!({ "resultType": "complete", "content": content }))
}

fn discovered() -> Value {
    json!({
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
        "serverInfo": { "name": "fake", "version": "1" },
    })
}
