//! A2A over Cap'n Web: the agent as an object, called by our client and by the npm package.

use std::path::Path;
use std::sync::{Arc, Mutex};

use capnweb::transport::websocket;
use capnweb::{Capability, Connection, Error, ReadableStream, Value, target};
use futures_util::StreamExt;
use serde_json::json;
use tokio::process::Command;
use tokio::sync::Notify;

use super::caller::Binding;
use crate::support::sut::Sut;

async fn connect(sut: &Sut) -> Connection {
    let url = format!("ws://{}/a2a/capnweb", sut.address);
    let nothing = Capability::nothing();
    websocket::connect(&url, nothing, &capnweb::Options::default())
        .await
        .unwrap()
}

fn message(text: &str) -> Value {
    let id = uuid::Uuid::new_v4().to_string();
    let part = Value::object([("text", text)]);
    Value::object([
        ("messageId", Value::from(id)),
        ("role", "ROLE_USER".into()),
        ("parts", Value::array([part])),
    ])
}

fn text<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    let found = path.iter().try_fold(value, |value, name| value.field(name));
    found.and_then(Value::as_str).unwrap_or_default()
}

#[tokio::test]
async fn every_form_of_a_call_is_understood() {
    let sut = Sut::in_memory().await;
    let connection = connect(&sut).await;
    let agent: Capability = connection.remote::<capnweb::Any>().into();
    let whole = Value::object([("message", message("task hello"))]);
    let mut ids = Vec::new();
    for sent in [
        agent.call("sendMessage", (message("task hello"),)),
        agent.call("SendMessage", (message("task hello"),)),
        agent.call("sendMessage", (whole.clone(),)),
    ] {
        let sent = sent.await.unwrap();
        assert_eq!(
            text(&sent, &["task", "status", "state"]),
            "TASK_STATE_COMPLETED"
        );
        ids.push(text(&sent, &["task", "id"]).to_owned());
    }
    let by_id = agent.call("getTask", (&*ids[0],)).await.unwrap();
    let by_request = Value::object([("id", ids[0].as_str())]);
    let by_request = agent.call("GetTask", (by_request,)).await.unwrap();
    assert_eq!(format!("{by_id:?}"), format!("{by_request:?}"));
    let mut caller = sut.caller(Binding::JsonRpc).await;
    let elsewhere = caller.call("GetTask", json!({"id": ids[0]})).await.unwrap();
    assert_eq!(elsewhere["id"], text(&by_id, &["id"]));
    let without = agent.call("getTask", (&*ids[0], 0.0)).await.unwrap();
    assert!(without.field("history").is_none(), "{without:?}");
    let listed = agent.call("listTasks", ()).await.unwrap();
    assert_eq!(listed.field("totalSize").and_then(Value::as_f64), Some(3.0));
    let card = agent.call("getAgentCard", ()).await.unwrap();
    assert!(!text(&card, &["name"]).is_empty());
    let authorised = agent.call("authenticate", ("a token",));
    let again = authorised.call("getTask", (&*ids[1],)).await.unwrap_err();
    assert!(again.message().contains("no scheme"), "{again:?}");
}

/// A message in the shapes that 0.3 and the first interface of this binding have.
fn old_message(text: &str) -> Value {
    let id = uuid::Uuid::new_v4().to_string();
    let part = Value::object([("kind", "text"), ("text", text)]);
    Value::object([
        ("messageId", Value::from(id)),
        ("role", "user".into()),
        ("parts", Value::array([part])),
    ])
}

#[tokio::test]
async fn a_session_is_answered_in_the_version_it_writes() {
    let sut = Sut::in_memory().await;
    let connection = connect(&sut).await;
    let agent: Capability = connection.remote::<capnweb::Any>().into();
    // Nothing has shown a version yet.
    let listed = agent.call("listTasks", ()).await.unwrap();
    assert!(listed.field("totalSize").is_some());
    let sent = agent.call("sendMessage", (old_message("task hello"),));
    let found = agent.call("getTask", (sent.property("id"), 1.0));
    let found = found.await.unwrap();
    let sent = sent.await.unwrap();
    assert_eq!(text(&sent, &["kind"]), "task");
    assert_eq!(text(&sent, &["status", "state"]), "completed");
    assert_eq!(text(&found, &["id"]), text(&sent, &["id"]));
    let history = found.field("history").and_then(Value::as_array).unwrap();
    assert_eq!(text(&history[0], &["kind"]), "message");
    let id = text(&sent, &["id"]);
    // The method about webhooks takes what it always takes.
    let arguments = (id, "http://127.0.0.1:9/", "token");
    let made = agent.call("createTaskPushNotificationConfig", arguments);
    let made = made.await.unwrap();
    assert_eq!(text(&made, &["taskId"]), id);
    assert_eq!(text(&made, &["pushNotificationConfig", "token"]), "token");
    let refused = agent.call("cancelTask", (id,)).await.unwrap_err();
    assert_eq!(refused.prop("code").and_then(Value::as_f64), Some(-32002.0));
    // A request that shows its version is answered in it.
    let new = agent.call("sendMessage", (message("task hello"),)).await;
    assert!(new.unwrap().field("task").is_some());
    let card = agent.call("getAgentCard", ()).await.unwrap();
    let ways = card.field("additionalInterfaces").and_then(Value::as_array);
    let ways = ways.unwrap().iter().map(|way| text(way, &["transport"]));
    assert!(ways.collect::<Vec<_>>().contains(&"CAPNWEB"), "{card:?}");
}

#[tokio::test]
async fn every_operation_is_a_method_under_both_of_its_names() {
    let sut = Sut::in_memory().await;
    let connection = connect(&sut).await;
    let agent: Capability = connection.remote::<capnweb::Any>().into();
    for row in a2a::operation::TABLE {
        let (first, rest) = row.name.split_at(1);
        for name in [row.name, &format!("{}{rest}", first.to_lowercase())] {
            // Without arguments it may fail, but not as an unknown method.
            if let Err(error) = agent.call(name, ()).await {
                assert!(error.prop("reason").is_some(), "{name}: {error:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_result_is_used_before_it_is_there() {
    let sut = Sut::in_memory().await;
    let connection = connect(&sut).await;
    let agent: Capability = connection.remote::<capnweb::Any>().into();
    let sent = agent.call("sendMessage", (message("task hello"),));
    let id = sent.property("task").property("id");
    let found = agent.call("getTask", (id,)).await.unwrap();
    let sent = sent.await.unwrap();
    assert_eq!(text(&found, &["id"]), text(&sent, &["task", "id"]));
}

#[tokio::test]
async fn failures_carry_code_reason_and_details() {
    let sut = Sut::in_memory().await;
    let connection = connect(&sut).await;
    let agent: Capability = connection.remote::<capnweb::Any>().into();
    let error = agent.call("getTask", ("nothing",)).await.unwrap_err();
    let number = |error: &Error| error.prop("code").and_then(Value::as_f64);
    assert_eq!(number(&error), Some(-32001.0), "{error:?}");
    assert_eq!(
        error.prop("reason").and_then(Value::as_str),
        Some("TASK_NOT_FOUND")
    );
    let details = error.prop("details").and_then(Value::as_array).unwrap();
    assert_eq!(text(&details[0], &["domain"]), "a2a-protocol.org");
    for (method, arguments, code) in [
        ("sendMessage", vec![Value::from(7.0)], -32602.0),
        ("getTask", vec![], -32602.0),
        ("sendMessage", vec![Value::Number(f64::NAN)], -32602.0),
    ] {
        let error = agent.call(method, arguments).await.unwrap_err();
        assert_eq!(number(&error), Some(code), "{method}: {error:?}");
    }
    let error = agent.call("getNothing", ()).await.unwrap_err();
    assert!(error.message().contains("getNothing"), "{error:?}");
}

#[tokio::test]
async fn a_call_under_way_is_answered_when_the_server_stops() {
    let sut = Sut::in_memory().await;
    let connection = connect(&sut).await;
    let agent: Capability = connection.remote::<capnweb::Any>().into();
    let sent = agent.call("sendMessage", (message("burst 1000 50ms"),));
    let stopping = async {
        // The call is under way when another one behind it is answered.
        agent.call("listTasks", ()).await.unwrap();
        sut.terminate().await;
    };
    let (answered, ()) = tokio::join!(sent.into_future(), stopping);
    let error = answered.unwrap_err();
    let reason = error.prop("reason").and_then(Value::as_str);
    assert_eq!(reason, Some("UNAVAILABLE"), "{error:?}");
}

/// Keeps what it is told.
#[derive(Clone, Default)]
struct Listener(Arc<Heard>);

#[derive(Default)]
struct Heard {
    events: Mutex<Vec<String>>,
    over: Notify,
}

#[target(pub(crate))]
impl Listener {
    pub fn on_status_update(&self, event: Value) {
        let state = text(&event, &["status", "state"]).to_owned();
        let last = matches!(event.field("final"), Some(Value::Bool(true)));
        self.0
            .events
            .lock()
            .unwrap()
            .push(format!("{state} {last}"));
        if last {
            self.0.over.notify_one();
        }
    }

    pub fn on_artifact_update(&self, event: Value) {
        let flag = |name| matches!(event.field(name), Some(Value::Bool(true)));
        let flags = format!("{} {}", flag("append"), flag("lastChunk"));
        self.0.events.lock().unwrap().push(flags);
    }
}

#[tokio::test]
async fn a_callback_that_is_given_twice_hears_everything_once() {
    let sut = Sut::in_memory().await;
    let connection = connect(&sut).await;
    let agent: Capability = connection.remote::<capnweb::Any>().into();
    let listener = Listener::default();
    let callback = || Value::Stub(Capability::new(listener.clone()));
    let arguments = vec![message("burst 3 20ms"), Value::Undefined, callback()];
    let task = agent.call("sendMessageStreaming", arguments);
    // It ends when it is dropped.
    let _subscription = task.call("subscribe", (callback(),)).await.unwrap();
    let shown = task.call("getTask", ()).await.unwrap();
    assert!(!text(&shown, &["id"]).is_empty());
    listener.0.over.notified().await;
    let heard = listener.0.events.lock().unwrap().clone();
    assert_eq!(
        heard,
        [
            "TASK_STATE_SUBMITTED false",
            "TASK_STATE_WORKING false",
            "false false",
            "true false",
            "true true",
            "TASK_STATE_COMPLETED true"
        ]
    );
}

#[tokio::test]
async fn a_callback_is_told_in_the_version_of_the_message() {
    let sut = Sut::in_memory().await;
    let connection = connect(&sut).await;
    let agent: Capability = connection.remote::<capnweb::Any>().into();
    let listener = Listener::default();
    let callback = || Value::Stub(Capability::new(listener.clone()));
    let arguments = vec![old_message("burst 2 20ms"), Value::Undefined, callback()];
    let task = agent.call("sendMessageStreaming", arguments);
    // It ends when it is dropped.
    let _subscription = task.call("subscribe", (callback(),)).await.unwrap();
    listener.0.over.notified().await;
    let heard = listener.0.events.lock().unwrap().clone();
    assert_eq!(
        heard,
        [
            "submitted false",
            "working false",
            "false false",
            "true true",
            "completed true"
        ]
    );
    let shown = task.call("getTask", ()).await.unwrap();
    assert_eq!(text(&shown, &["kind"]), "task");
}

#[tokio::test]
async fn a_stream_is_a_stream_and_goes_on_from_its_cursor() {
    let sut = Sut::in_memory().await;
    let connection = connect(&sut).await;
    let agent: Capability = connection.remote::<capnweb::Any>().into();
    let sent = agent.call("sendStreamingMessage", (message("burst 10 20ms"),));
    let Value::Readable(mut events) = sent.await.unwrap() else {
        panic!("no stream");
    };
    let first = events.next().await.unwrap().unwrap();
    let id = text(&first, &["task", "id"]).to_owned();
    for _ in 1..5 {
        events.next().await.unwrap().unwrap();
    }
    drop(events);
    drop(connection);
    let connection = connect(&sut).await;
    let agent: Capability = connection.remote::<capnweb::Any>().into();
    let request = Value::object([("id", id)]);
    let parameters = Value::object([
        ("Last-Event-ID", "5"),
        ("A2A-Extensions", a2a::service::REPEATABLE),
    ]);
    let rest = agent.call("subscribeToTask", (request, parameters)).await;
    let Value::Readable(rest) = rest.unwrap() else {
        panic!("no stream");
    };
    let rest: ReadableStream = rest;
    let generations: Vec<i64> = rest
        .map(|event| {
            let event = event.unwrap();
            let kinds = ["artifactUpdate", "statusUpdate"];
            let found = kinds.iter().find_map(|kind| event.field(kind)).unwrap();
            text(found, &["generation"]).parse::<i64>().unwrap()
        })
        .collect()
        .await;
    let last = *generations.last().unwrap();
    assert_eq!(generations, (6..=last).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_operator_sees_sessions_and_calls() {
    let sut = Sut::in_memory().await;
    let connection = connect(&sut).await;
    let agent: Capability = connection.remote::<capnweb::Any>().into();
    agent.call("sendMessage", (message("echo"),)).await.unwrap();
    agent.call("getTask", ("nothing",)).await.unwrap_err();
    // Names that callers make up have no place of their own.
    agent.call("x".repeat(100).as_str(), ()).await.unwrap_err();
    let mut caller = sut.caller(Binding::Rest).await;
    let request = caller.builder("GET", "/metrics");
    let page = caller
        .raw(request.body(axum::body::Body::empty()).unwrap())
        .await;
    for line in [
        "capnweb_sessions 1",
        r#"capnweb_calls_total{interface="Agent",member="sendMessage",outcome="succeeded"} 1"#,
        r#"capnweb_calls_total{interface="Agent",member="getTask",outcome="failed"} 1"#,
        r#"capnweb_calls_total{interface="Agent",member="other",outcome="failed"} 1"#,
    ] {
        assert!(
            page.text.lines().any(|it| it == line),
            "{line}\n{}",
            page.text
        );
    }
    assert!(!page.text.contains("xxx"));
}

#[tokio::test]
async fn the_npm_package_works_by_websocket_and_by_batch() {
    let sut = Sut::in_memory().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/capnweb");
    let node = std::env::var_os("MONAS_NODE").unwrap_or_else(|| "node".into());
    let output = Command::new(node)
        .arg(folder.join("a2a.test.mjs"))
        .arg(format!("http://{}/a2a/capnweb", sut.address))
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{wrong}");
    assert!(said.trim_end().ends_with("15 passed"), "{said}");
}

/// The client in `conformance/capnweb/python` was written from the document of the binding alone.
#[tokio::test]
async fn a_client_written_from_the_document_works() {
    let sut = Sut::in_memory().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let environment = folder.join("a2a/.venv/bin/python");
    let python = crate::interop::program("MONAS_PYTHON", environment);
    let output = Command::new(python)
        // No compiled files beside the sources.
        .arg("-B")
        .arg(folder.join("capnweb/python/drive.py"))
        .arg(format!("http://{}/a2a/capnweb", sut.address))
        .output()
        .await
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let wrong = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{wrong}");
    assert!(said.lines().count() >= 30, "{said}");
}
