//! The trace of a call, from its caller to those whom we call: spans as a receiver of OTLP gets them, read by the official
//! Python package.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a::client::{Client, Settings};
use a2a::trace::{Scope, TraceContext, within};
use a2a::types::{ListTasksRequest, Message, SendMessageRequest};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use model::provider::{Endpoint, Kind};
use model::scripted::{Scripted, Server, Turn};
use monas::config::{Config, Otlp};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use super::{requests, send, with_callers};
use crate::support::agent::{Sent, call};
use crate::support::server::{Running, config};

const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// What a listener got: the headers and the body of each request.
#[derive(Clone, Default)]
struct Got(Arc<Mutex<Vec<(HeaderMap, Bytes)>>>);

impl Got {
    /// The header `traceparent` of each request.
    fn contexts(&self) -> Vec<TraceContext> {
        let got = self.0.lock().unwrap();
        let headers = got.iter().filter_map(|it| it.0.get("traceparent"));
        let headers = headers.filter_map(|it| TraceContext::read(it.to_str().ok()?));
        headers.collect()
    }
}

/// Takes posts at a path, and answers all of them with a status.
async fn listen(path: &str, status: StatusCode) -> (String, Got) {
    let got = Got::default();
    let take = async move |State(got): State<Got>, headers: HeaderMap, body: Bytes| {
        got.0.lock().unwrap().push((headers, body));
        status
    };
    let routes = Router::new()
        .route(path, post(take))
        .with_state(got.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (url, got)
}

fn traced(mut config: Config, url: &str) -> Config {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", "Bearer of-the-receiver".parse().unwrap());
    config.otlp = Some(Otlp {
        url: url.to_owned(),
        headers,
    });
    config
}

/// The spans in what a receiver got, as the official package reads them.
async fn spans(got: &Got) -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let python = std::env::var_os("MONAS_ACP_PYTHON").map(PathBuf::from);
    let python = python.unwrap_or_else(|| folder.join("acp/.venv/bin/python"));
    let mut command = tokio::process::Command::new(python);
    command.arg("-B").arg(folder.join("acp/otlp.py"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut reader = command.kill_on_drop(true).spawn().unwrap_or_else(|error| {
        panic!("{error}: {command:?}; `cargo xtask test` sets up what it needs")
    });
    let mut input = String::new();
    for (headers, body) in got.0.lock().unwrap().iter() {
        assert_eq!(headers["content-type"], "application/x-protobuf");
        assert_eq!(headers["authorization"], "Bearer of-the-receiver");
        for byte in body {
            input += &format!("{byte:02x}");
        }
        input += "\n";
    }
    let mut stdin = reader.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    let read = reader.wait_with_output();
    let read = tokio::time::timeout(Duration::from_secs(60), read).await;
    let read = read.unwrap().unwrap();
    assert!(read.status.success(), "{read:?}");
    let text = String::from_utf8(read.stdout).unwrap();
    let lines = text.lines();
    lines.map(|it| serde_json::from_str(it).unwrap()).collect()
}

#[tokio::test]
async fn every_wire_takes_the_trace_of_its_caller() {
    let (url, got) = listen("/v1/traces", StatusCode::OK).await;
    let server = Running::serve(&traced(with_callers(), &url)).await;
    let mut wires = BTreeSet::new();
    for (wire, place, mut headers, body) in requests() {
        headers.push(("traceparent", CALLER));
        send(&server, "bob", place, &headers, body).await;
        wires.insert(wire);
    }
    for (binding, wire) in [
        ("websocket", "a2a/websocket"),
        ("capnweb", "a2a/capnweb"),
        ("grpc", "a2a/grpc"),
    ] {
        let mut settings = Settings::default().bearer("token-of-bob").unwrap();
        settings.bindings = vec![binding.to_owned()];
        let client = Client::discover(&server.url, settings).await.unwrap();
        let listed = client.list_tasks(ListTasksRequest::default());
        let scope = TraceContext::read(CALLER).map(Scope::from);
        within(scope, listed).await.unwrap();
        wires.insert(wire);
    }
    server.stop().await;
    let spans = spans(&got).await;
    let mine = spans.iter().filter(|it| it["trace"] == TRACE);
    let mine: Vec<&Value> = mine.collect();
    for span in &mine {
        assert_eq!(span["parent"], PARENT, "{span}");
        assert_eq!(span["kind"], "SPAN_KIND_SERVER", "{span}");
        assert_eq!(span["attributes"]["monas.caller"], "bob", "{span}");
        assert_eq!(span["attributes"]["monas.outcome"], "ok", "{span}");
        assert_eq!(span["resource"]["service.name"], "monas", "{span}");
    }
    let seen = mine
        .iter()
        .filter_map(|it| it["attributes"]["monas.wire"].as_str());
    assert_eq!(seen.collect::<BTreeSet<_>>(), wires);
    let listed = |span: &&&Value| span["attributes"]["monas.wire"] == "a2a/rest";
    assert_eq!(mine.iter().find(listed).unwrap()["name"], "ListTasks");
}

#[tokio::test]
async fn a_trace_goes_on_to_turns_skills_models_and_webhooks() {
    let (url, got) = listen("/v1/traces", StatusCode::OK).await;
    let (hook, hooked) = listen("/hook", StatusCode::OK).await;
    let script = Scripted::new([
        Turn::calls("recall", json!({ "question": "tea" })),
        Turn::text("You like tea.").usage(30, 4),
    ]);
    let provider = Server::start(script).await.unwrap();
    let mut config = traced(config(), &url);
    config.push_private = true;
    let mut endpoint = Endpoint::new(Kind::OpenAi, "small");
    endpoint.url = Some(format!("{}/v1", provider.url()));
    config.models.model = Some(endpoint);
    config.models.reads_memory = false;
    let server = Running::living(&config).await;
    let mut settings = Settings::default();
    settings.bindings = vec!["jsonrpc".to_owned()];
    let client = Client::discover(&server.url, settings).await.unwrap();
    let mut message = SendMessageRequest::from(Message::user("m-1", "What do I drink?"));
    let configuration = message.configuration.get_or_insert_default();
    let push = configuration
        .task_push_notification_config
        .get_or_insert_default();
    push.url = format!("{hook}/hook");
    let sent = client.send_message(message);
    let scope = TraceContext::read(CALLER).map(Scope::from);
    within(scope, sent).await.unwrap();
    let delivered = async {
        while hooked.contexts().len() < 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), delivered)
        .await
        .expect("webhooks come with their trace");
    let metrics = server.get("/metrics").await.text;
    for line in [
        "monas_model_requests_total{outcome=\"ok\"} 2",
        "monas_webhooks_total{outcome=\"given_up\"} 0",
    ] {
        assert!(metrics.contains(line), "{metrics}");
    }
    server.stop().await;

    let spans = spans(&got).await;
    let find = |name: &str| {
        let found = spans
            .iter()
            .filter(|it| it["name"] == name && it["trace"] == TRACE);
        found.collect::<Vec<_>>()
    };
    let below = |span: &Value, parent: &Value| assert_eq!(span["parent"], parent["span"], "{span}");
    let [call] = find("SendMessage")[..] else {
        panic!("{spans:#?}")
    };
    assert_eq!(call["parent"], PARENT);
    let [turn] = find("turn")[..] else {
        panic!("{spans:#?}")
    };
    below(turn, call);
    let skill = find("skill")[0];
    assert_eq!(skill["attributes"]["monas.skill"], "recall");
    let chats = find("chat");
    assert_eq!(chats.len(), 2, "{spans:#?}");
    assert_eq!(chats[1]["attributes"]["gen_ai.request.model"], "small");
    assert_eq!(chats[1]["attributes"]["gen_ai.usage.output_tokens"], 4);
    // The model got the context of the request that was sent to it.
    let posts = find("POST");
    let seen = provider.seen();
    for (seen, chat) in seen.iter().zip(&chats) {
        let context = TraceContext::read(&seen.traceparent).unwrap();
        let sent = format!("{:016x}", context.span);
        let post = posts.iter().find(|it| it["span"] == *sent).unwrap();
        below(post, chat);
        assert_eq!(post["attributes"]["http.response.status_code"], 200);
    }
    for context in hooked.contexts() {
        assert_eq!(format!("{:032x}", context.trace), TRACE);
    }
}

#[tokio::test]
async fn a_receiver_that_is_gone_costs_nothing_but_spans() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    let server = Running::serve(&traced(config(), &url)).await;
    let mut client = server.client(crate::support::http::Version::One).await;
    for id in 0..20 {
        let id = format!("m-{id}");
        let sent = Sent {
            id: &id,
            text: "echo hello",
            task: "",
        };
        let answer = call(&mut client, "SendMessage", sent.request()).await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    drop(client);
    let stopped = tokio::time::timeout(Duration::from_secs(20), server.stop());
    stopped.await.expect("it does not wait for the receiver");

    // One that refuses: what is lost is counted.
    let (url, _) = listen("/v1/traces", StatusCode::BAD_REQUEST).await;
    let server = Running::serve(&traced(config(), &url)).await;
    let lost = async {
        loop {
            let metrics = server.get("/metrics").await.text;
            let line = metrics
                .lines()
                .find_map(|it| it.strip_prefix("monas_spans_total{outcome=\"lost\"} "));
            if line.unwrap().parse::<u64>().unwrap() > 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let lost = tokio::time::timeout(Duration::from_secs(30), lost).await;
    lost.expect("a lost span is counted");
    server.stop().await;
}
