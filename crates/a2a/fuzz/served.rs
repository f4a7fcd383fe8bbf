//! A whole server, called over each of its wires with the input of the fuzzer. The corpus runs through the
//! same function as an ordinary test.
//!
//! The first byte of an input picks the wire: `j` for a body of JSON-RPC, `r` for a line with a verb and a path
//! of REST and the body behind it, `c` for a batch of Cap'n Web, `w` for a frame of a WebSocket. Nothing
//! panics, and everything gets its answer in the form of its wire, in either version of the protocol.

use std::sync::Arc;
use std::time::Duration;

use a2a::binding::{self, BindingUses, Wire};
use a2a::limits::Limits;
use a2a::operation::{self, Replies};
use a2a::server::{Agent, Config, Failure, Server, TABLES, Turn};
use a2a::types::{AgentCapabilities, AgentCard};
use axum::Router;
use axum::body::Body;
use futures_core::future::BoxFuture;
use futures_util::{SinkExt as _, StreamExt as _};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use store::Store;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tower::ServiceExt as _;

/// How long an answer may take that nothing holds up.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks over the wire that the first byte picks.
pub(crate) fn check(input: &[u8]) {
    thread_local!(static WORLD: World = World::new());
    let Some((wire, rest)) = input.split_first() else {
        return;
    };
    WORLD.with(|world| {
        let asking = async {
            match wire {
                b'r' => world.rest(rest).await,
                b'c' => world.capnweb(rest).await,
                b'w' => world.websocket(rest).await,
                _ => world.json_rpc(rest).await,
            }
        };
        let answered = async { tokio::time::timeout(PATIENCE, asking).await };
        let answered = world.runtime.block_on(answered);
        assert!(
            answered.is_ok(),
            "no answer after {PATIENCE:?}: {}",
            String::from_utf8_lossy(input)
        );
    });
}

/// A server, and a connection to it.
struct World {
    runtime: Runtime,
    router: Router,
    socket: tokio::sync::Mutex<WebSocketStream<TcpStream>>,
}

/// Answers every message with an end, so that nothing is waited for.
struct Brief;

impl Agent for Brief {
    fn answer(&self, turn: Turn) -> BoxFuture<'static, Result<(), Failure>> {
        Box::pin(async move {
            let text = turn.text();
            if text.len().is_multiple_of(2) {
                turn.reply(turn.say(&text)).await?;
            } else {
                turn.complete().await?;
            }
            Ok(())
        })
    }
}

impl World {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().expect("a runtime starts");
        let (router, socket) = runtime.block_on(async {
            let card = AgentCard {
                default_input_modes: vec!["*/*".to_owned()],
                // No webhooks: what the fuzzer makes up is not to be called.
                capabilities: Some(AgentCapabilities {
                    streaming: Some(true),
                    ..AgentCapabilities::default()
                }),
                ..AgentCard::default()
            };
            let server = Server::start(Config::new(card), Arc::new(Brief), Store::memory(TABLES));
            let server = server.await.expect("a server starts");
            let mut limits = Limits::default();
            // Between two inputs no task answers a ping.
            limits.keep_alive = Duration::from_secs(1 << 20);
            let wire = Wire::new(Arc::new(server), limits);
            let router = binding::routes(&wire, &BindingUses::default());
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let address = listener.local_addr().expect("it has an address");
            let served = router.clone();
            tokio::spawn(async move { axum::serve(listener, served).await });
            let stream = TcpStream::connect(address).await.expect("it listens");
            let url = format!("ws://{address}/ws/a2a");
            let opened = tokio_tungstenite::client_async(url, stream).await;
            (router, opened.expect("a WebSocket opens").0)
        });
        Self {
            runtime,
            router,
            socket: tokio::sync::Mutex::new(socket),
        }
    }

    async fn ask(&self, request: Request<Body>) -> (StatusCode, HeaderMap, Vec<u8>) {
        let answered = self.router.clone().oneshot(request).await;
        let (head, body) = answered.expect("routers do not fail").into_parts();
        let body = body.collect().await.expect("bodies have an end").to_bytes();
        (head.status, head.headers, body.to_vec())
    }

    async fn json_rpc(&self, body: &[u8]) {
        let request = Request::post("/a2a/jsonrpc")
            .header("content-type", "application/json")
            .header("a2a-version", "1.0")
            .body(Body::from(body.to_vec()))
            .expect("a request");
        let (status, headers, answer) = self.ask(request).await;
        assert_eq!(status, 200);
        let streams = headers["content-type"] == "text/event-stream";
        for answer in bodies(streams, &answer) {
            assert!(is_response(&answer), "{answer}");
        }
    }

    async fn rest(&self, input: &[u8]) {
        let end = input.iter().position(|byte| *byte == b'\n');
        let (line, body) = input.split_at(end.unwrap_or(input.len()));
        let line = std::str::from_utf8(line).unwrap_or_default();
        let Some((verb, path)) = line.split_once(' ') else {
            return;
        };
        // What is beside the binding is not its business.
        if !path.starts_with('/') {
            return;
        }
        let request = Request::builder()
            .method(verb)
            .uri(format!("/a2a/rest{path}"))
            .header("content-type", "application/json");
        let old = path.starts_with("/v1/");
        let request = if old {
            request
        } else {
            request.header("a2a-version", "1.0")
        };
        // What is no request never reaches a server.
        let Ok(request) = request.body(Body::from(body.get(1..).unwrap_or_default().to_vec()))
        else {
            return;
        };
        let (status, headers, answer) = self.ask(request).await;
        assert!(status.as_u16() < 500, "{status} {line:?}");
        let media_type = headers.get("content-type").and_then(|it| it.to_str().ok());
        let streams = media_type == Some("text/event-stream");
        for answer in bodies(streams, &answer) {
            let error = &answer["error"];
            let new = error["code"] == status.as_u16() && error["details"].is_array();
            let old = answer["code"].is_i64() && answer["message"].is_string();
            assert!(status == 200 || new || old, "{status} {answer}");
        }
    }

    async fn capnweb(&self, body: &[u8]) {
        let request = Request::post("/a2a/capnweb").body(Body::from(body.to_vec()));
        let (status, _, answer) = self.ask(request.expect("a request")).await;
        assert!(status.as_u16() < 500, "{status}");
        if status == 200 {
            let answer = String::from_utf8(answer).expect("messages are text");
            for line in answer.lines() {
                let message: Value = serde_json::from_str(line).expect("messages are JSON");
                assert!(message[0].is_string(), "{message}");
            }
        }
    }

    async fn websocket(&self, frame: &[u8]) {
        let frame = String::from_utf8_lossy(frame).into_owned();
        let read: Value = serde_json::from_str(&frame).unwrap_or_default();
        let method = read["method"].as_str().unwrap_or_default();
        let many = operation::named(method).is_some_and(|it| it.replies == Replies::Many)
            || a2a::v0_3::named(method).is_some_and(|it| it.replies == Replies::Many);
        // What cancels a stream is not answered, unless it is damaged.
        let may_be_silent = frame.contains("cancelStream");
        let mut open = !may_be_silent;
        let mut socket = self.socket.lock().await;
        let behind = json!({ "jsonrpc": "2.0", "id": "behind it", "method": "ListTasks" });
        for text in [frame, behind.to_string()] {
            socket.send(Message::text(text)).await.expect("it is open");
        }
        let mut waiting = true;
        while open || waiting {
            let text = match socket.next().await {
                Some(Ok(Message::Text(text))) => text,
                Some(Ok(Message::Ping(_))) => continue,
                ended => panic!("the connection ended: {ended:?}"),
            };
            let answer: Value = serde_json::from_str(&text).expect("frames are JSON");
            assert!(
                answer["streamEnd"] == true || is_response(&answer),
                "{answer}"
            );
            if answer["id"] == "behind it" && waiting {
                waiting = false;
            } else if !many || answer.get("result").is_none() {
                assert!(open || may_be_silent, "answered twice: {answer}");
                open = false;
            }
        }
    }
}

/// The JSON of an answer: it, or what its events hold.
fn bodies(streams: bool, answer: &[u8]) -> Vec<Value> {
    if !streams {
        return vec![serde_json::from_slice(answer).unwrap_or_default()];
    }
    let text = std::str::from_utf8(answer).expect("events are text");
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).expect("events hold JSON"))
        .collect()
}

/// Whether it is one result or one error, under an id.
fn is_response(answer: &Value) -> bool {
    let error = answer["error"]["code"].is_i64() && answer["error"]["message"].is_string();
    answer["jsonrpc"] == "2.0"
        && answer.get("id").is_some()
        && answer.get("result").is_some() != error
}
