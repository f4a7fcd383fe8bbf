//! `/ws/chat` and the routes beside it, over real sockets: the documented sequence, restores, two windows, faults.
//!
//! - `callers`: a server that asks for credentials
//! - `cuts`: the client over connections that are cut
//! - `deltas`: a client that has the files of a project, line by line
//! - `faults`: clients that are slow, dead or hostile
//! - `files`: the files of a project
//! - `more_routes`: skills, records, laws and tasks as a page shows them
//! - `rpc`: `/ws/a2a` in the shapes of the document

mod callers;
mod cuts;
mod deltas;
mod faults;
mod files;
mod more_routes;
mod rpc;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use model::scripted::{Scripted, Server, Turn};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::process::Command;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;

use crate::support::http::{Answer, Client, Version};
use crate::support::program::{Monas, living};

/// How long anything may take.
const SOON: Duration = Duration::from_secs(60);

/// A window of a client.
struct Window {
    socket: WebSocketStream<TcpStream>,
    packed: bool,
    /// Everything that was received.
    seen: Vec<Value>,
}

impl Window {
    async fn open(monas: &Monas) -> Self {
        Self::open_with(monas, None).await
    }

    async fn open_with(monas: &Monas, protocol: Option<&str>) -> Self {
        Self::open_at(monas, "/ws/chat", protocol).await
    }

    async fn open_at(monas: &Monas, path: &str, protocol: Option<&str>) -> Self {
        let url = format!("ws://{}{path}", monas.authority());
        let mut request = url.into_client_request().unwrap();
        if let Some(protocol) = protocol {
            let headers = request.headers_mut();
            headers.insert("sec-websocket-protocol", protocol.parse().unwrap());
        }
        let stream = TcpStream::connect(monas.authority()).await.unwrap();
        let (socket, answer) = tokio_tungstenite::client_async(request, stream)
            .await
            .unwrap();
        let chosen = answer.headers().get("sec-websocket-protocol");
        assert_eq!(chosen.map(|it| it.to_str().unwrap()), protocol);
        Self {
            socket,
            packed: protocol == Some("msgpack"),
            seen: Vec::new(),
        }
    }

    async fn send(&mut self, message: &Value) {
        let frame = match self.packed {
            true => Message::Binary(rmp_serde::to_vec_named(message).unwrap().into()),
            false => Message::text(message.to_string()),
        };
        self.socket.send(frame).await.unwrap();
    }

    async fn command(&mut self, session: &str, words: &str) -> String {
        let id = uuid::Uuid::new_v4().to_string();
        self.send(&json!({
            "id": id, "type": "user_command", "timestamp": "2025-10-26T03:45:00.000Z", "source": "user",
            "payload": { "command": words, "context": "project", "urgency": "immediate", "attachments": [] },
            "metadata": { "session_id": session, "agent_state": "idle", "priority": "normal" },
        }))
        .await;
        id
    }

    async fn restore(&mut self, session: &str, cursor: Option<&str>) {
        let payload = json!({ "session_id": session, "cursor": cursor });
        self.send(&json!({ "type": "restore_session", "payload": payload }))
            .await;
    }

    async fn decide(&mut self, request: &str, decision: &str) {
        self.send(&json!({
            "id": uuid::Uuid::new_v4().to_string(), "type": "approval_response", "source": "user",
            "payload": { "request_id": request, "decision": decision },
        }))
        .await;
    }

    async fn next(&mut self) -> Value {
        loop {
            let frame = timeout(SOON, self.socket.next()).await;
            let message = match frame.expect("a message in time").unwrap().unwrap() {
                Message::Text(text) => serde_json::from_str::<Value>(&text).unwrap(),
                Message::Binary(bytes) => rmp_serde::from_slice(&bytes).unwrap(),
                Message::Ping(_) | Message::Pong(_) => continue,
                other => panic!("{other:?}"),
            };
            check(&message);
            self.seen.push(message.clone());
            return message;
        }
    }

    /// The next message that the words describe: a type, `action_type` or `event`.
    async fn until(&mut self, what: &str) -> Value {
        loop {
            let message = self.next().await;
            if kind(&message) == what {
                return message;
            }
        }
    }

    /// What was received and is part of the session.
    fn recorded(&self) -> Vec<Value> {
        let seen = self.seen.iter();
        let passing = ["session_restored", "pong", "error", "progress"];
        seen.filter(|it| it["payload"]["partial"].is_null() && !passing.contains(&&*kind(it)))
            .cloned()
            .collect()
    }
}

/// A message in a word.
fn kind(message: &Value) -> String {
    let payload = &message["payload"];
    let words = [&payload["action_type"], &payload["event"], &message["type"]];
    let word = words.into_iter().find_map(Value::as_str);
    word.unwrap().to_owned()
}

fn kinds(messages: &[Value]) -> Vec<String> {
    messages.iter().map(kind).collect()
}

fn cursor(message: &Value) -> String {
    message["metadata"]["cursor"].as_str().unwrap().to_owned()
}

/// What every message of the server has.
fn check(message: &Value) {
    let id = message["id"].as_str().unwrap().parse::<uuid::Uuid>();
    assert_eq!(id.unwrap().get_version_num(), 4, "{message}");
    let time = message["timestamp"].as_str().unwrap();
    assert!(time.len() == 24 && time.ends_with('Z'), "{message}");
    let source = message["source"].as_str().unwrap();
    assert!(["agent", "user", "system", "watchdog"].contains(&source));
    let metadata = &message["metadata"];
    assert!(metadata["session_id"].is_string() && metadata["cursor"].is_string());
    let state = metadata["agent_state"].as_str().unwrap();
    assert!(
        [
            "idle",
            "thinking",
            "executing",
            "awaiting_approval",
            "error"
        ]
        .contains(&state)
    );
    let priority = metadata["priority"].as_str().unwrap();
    assert!(["low", "normal", "high", "critical"].contains(&priority));
}

fn serve(home: &Path) -> Command {
    let mut command = living(home);
    command.arg("--workspace").arg(home.join("files"));
    command
}

async fn rest(monas: &Monas, verb: &str, path: &str, body: Value) -> (u16, Value) {
    let answer = ask(monas, verb, path, body).await;
    let status = answer.status.as_u16();
    let json = serde_json::from_str(&answer.text).unwrap_or(Value::String(answer.text));
    (status, json)
}

async fn ask(monas: &Monas, verb: &str, path: &str, body: Value) -> Answer {
    ask_as(monas, None, verb, path, body).await
}

async fn ask_as(monas: &Monas, token: Option<&str>, verb: &str, path: &str, body: Value) -> Answer {
    let mut client = Client::connect(monas.authority().parse().unwrap(), Version::One).await;
    let mut request = client.request(verb, "localhost", path);
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let body = match body {
        Value::Null => axum::body::Body::empty(),
        body => axum::body::Body::from(body.to_string()),
    };
    client.send(request.body(body).unwrap()).await
}

const WRITE: &str = "create notes.md with hello world";

/// The order of the document, from a command to its result.
const SEQUENCE: [&str; 9] = [
    "user_command",
    "reasoning",
    "tool_call",
    "approval_request",
    "approval_decided",
    "tool_result",
    "file_modified",
    "response",
    "task_completed",
];

#[tokio::test]
async fn the_documented_sequence_survives_a_kill_while_an_approval_waits() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let mut window = Window::open(&server).await;
    let id = window.command("sess_abc123", WRITE).await;
    let command = window.until("user_command").await;
    assert_eq!(command["id"], *id);
    assert_eq!(command["payload"]["command"], WRITE);
    assert_eq!(command["payload"]["context"], "project");
    let call = window.until("tool_call").await;
    let calls = &call["payload"]["tool_calls"][0];
    assert_eq!(
        (&calls["tool"], &calls["requires_approval"]),
        (&json!("file-write"), &json!(true))
    );
    let asked = window.until("approval_request").await;
    assert_eq!(asked["metadata"]["agent_state"], "awaiting_approval");
    assert_eq!(asked["metadata"]["priority"], "high");
    assert_eq!(
        asked["payload"]["options"],
        json!(["approve", "reject", "modify"])
    );
    let details = &asked["payload"]["details"];
    assert_eq!(
        (&details["path"], &details["operation"]),
        (&json!("notes.md"), &json!("create"))
    );
    assert!(
        details["preview"]
            .as_str()
            .unwrap()
            .contains("+hello world"),
        "{details}"
    );
    let request = asked["id"].as_str().unwrap().to_owned();
    let before = window.recorded();
    server.signal("KILL").await;
    server.ended().await;
    assert!(!home.path().join("files/notes.md").exists());

    let server = Monas::start(&mut serve(home.path())).await;
    let (_, waiting) = rest(&server, "GET", "/api/approvals", Value::Null).await;
    assert_eq!(waiting["approvals"][0]["id"], *request, "{waiting}");
    // A client that has everything is shown what waits all the same.
    let mut late = Window::open(&server).await;
    late.restore("sess_abc123", Some(&cursor(&asked))).await;
    let restored = late.until("session_restored").await;
    assert_eq!(restored["payload"]["data"]["waiting"], json!([request]));
    assert_eq!(
        late.recorded()
            .iter()
            .map(|it| &it["id"])
            .collect::<Vec<_>>(),
        [&asked["id"]]
    );
    // A new one gets the whole session, under the same ids.
    let mut window = Window::open(&server).await;
    window.restore("sess_abc123", None).await;
    window.until("session_restored").await;
    assert_eq!(window.recorded(), before);
    window.decide(&request, "approve").await;
    window.until("task_completed").await;
    late.until("task_completed").await;
    let all = window.recorded();
    assert_eq!(kinds(&all), SEQUENCE);
    let result = &all[5]["payload"];
    assert_eq!(
        (&result["tool"], &result["exit_code"], &result["success"]),
        (&json!("file-write"), &json!(0), &json!(true))
    );
    let change = &all[6]["payload"]["data"];
    assert_eq!(change["operation"], "created");
    assert_eq!(change["path"], "/project/notes.md");
    assert_eq!(all[8]["metadata"]["agent_state"], "idle");
    // Both windows saw the same.
    assert_eq!(late.recorded()[1..], all[4..]);
    let written = std::fs::read_to_string(home.path().join("files/notes.md")).unwrap();
    assert_eq!(written.trim_end(), "hello world");
    // From every cursor exactly the rest.
    for (at, message) in all.iter().enumerate() {
        let mut window = Window::open(&server).await;
        window.restore("sess_abc123", Some(&cursor(message))).await;
        window.until("session_restored").await;
        assert_eq!(
            window.recorded(),
            all[at + 1..],
            "after {}",
            cursor(message)
        );
    }
    let ids: BTreeSet<_> = all.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), all.len());
    server.stop().await;
}

/// A server with a model over HTTP.
fn thinking(home: &Path, model: &Server) -> Command {
    let mut command = serve(home);
    command.args(["--model", "openai:small"]);
    command.env("MONAS_MODEL_URL", format!("{}/v1", model.url()));
    command.env("MONAS_MODEL_KEY", "none");
    command
}

/// A file is written and a test run, each after an approval, with a kill while each of them waits.
#[tokio::test]
async fn the_documented_sequence_with_a_model_survives_kills_while_approvals_wait() {
    let tests = "echo PASS; echo ok project/auth";
    let script = Scripted::new([
        Turn::new().reason("First the module.").call(
            "file-write",
            json!({ "path": "auth.go", "content": "package auth\n" }),
        ),
        Turn::new().call("terminal-run", json!({ "command": tests })),
        Turn::text("The module is written, and its tests pass."),
    ]);
    let model = Server::start(script).await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let mut server = Monas::start(&mut thinking(home.path(), &model)).await;
    let mut window = Window::open(&server).await;
    window
        .command("auth", "Please make a module for login")
        .await;
    for action in ["file-write", "terminal-run"] {
        let asked = window.until("approval_request").await;
        assert_eq!(asked["payload"]["action"], action);
        let before = window.recorded();
        server.signal("KILL").await;
        server.ended().await;
        server = Monas::start(&mut thinking(home.path(), &model)).await;
        window = Window::open(&server).await;
        window.restore("auth", None).await;
        window.until("session_restored").await;
        assert_eq!(window.recorded(), before);
        let request = asked["id"].as_str().unwrap();
        window.decide(request, "approve").await;
    }
    window.until("task_completed").await;
    let all = window.recorded();
    let mut expected = SEQUENCE[..7].to_vec();
    expected.extend([
        "reasoning",
        "tool_call",
        "approval_request",
        "approval_decided",
    ]);
    expected.extend(["tool_result", "response", "task_completed"]);
    assert_eq!(kinds(&all), expected);
    let result = &all[11]["payload"];
    assert_eq!(result["command"], tests, "the exact command");
    let ended = (&result["output"], &result["exit_code"]);
    assert_eq!(ended, (&json!("PASS\nok project/auth\n"), &json!(0)));
    let written = std::fs::read_to_string(home.path().join("files/auth.go")).unwrap();
    assert_eq!(written, "package auth\n");
    server.stop().await;
}

/// It went wrong: nothing was told of such a word, and nothing happened.
#[tokio::test]
async fn a_word_that_could_answer_two_questions_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let mut window = Window::open(&server).await;
    let mut waiting = Vec::new();
    for words in [WRITE, "create other.md with more"] {
        window.command("two", words).await;
        waiting.push(window.until("approval_request").await["id"].clone());
    }
    let id = window.command("two", "yes").await;
    let fault = window.until("error").await["payload"]["data"].clone();
    assert_eq!(fault["in_reply_to"], *id, "{fault}");
    assert_eq!(fault["code"], "refused", "{fault}");
    let told = fault["message"].as_str().unwrap();
    assert!(told.contains("2 questions wait"), "{told}");
    window.decide(waiting[0].as_str().unwrap(), "reject").await;
    window.until("approval_decided").await;
    // With one left it is clear.
    window.command("two", "yes").await;
    let decided = window.until("approval_decided").await;
    assert_eq!(decided["payload"]["data"]["request_id"], waiting[1]);
    window.until("file_modified").await;
    window.command("two", "undo").await;
    let asked = window.until("approval_request").await;
    window
        .decide(asked["id"].as_str().unwrap(), "approve")
        .await;
    let change = window.until("file_modified").await["payload"]["data"].clone();
    assert_eq!(
        (&change["path"], &change["operation"]),
        (&json!("/project/other.md"), &json!("deleted"))
    );
    server.stop().await;
}

#[tokio::test]
async fn a_model_streams_what_it_thinks_and_msgpack_is_the_same() {
    let script = Scripted::new([
        Turn::new()
            .reason("The file does not exist.\nI create it.")
            .call(
                "file-write",
                json!({ "path": "plan.md", "content": "a plan\n" }),
            ),
        Turn::text("I wrote the plan into plan.md."),
    ]);
    let model = Server::start(script).await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut thinking(home.path(), &model)).await;
    let mut window = Window::open_with(&server, Some("msgpack")).await;
    let mut other = Window::open(&server).await;
    other.restore("plan", None).await;
    other.until("session_restored").await;
    window.command("plan", "Please make a plan").await;
    let reasoning = window.until("reasoning").await;
    let asked = window.until("approval_request").await;
    window
        .decide(asked["id"].as_str().unwrap(), "approve")
        .await;
    let answer = window.until("response").await;
    assert_eq!(
        answer["payload"]["content"],
        "I wrote the plan into plan.md."
    );
    window.until("task_completed").await;
    other.until("task_completed").await;
    assert_eq!(kinds(&window.recorded()), SEQUENCE);
    assert_eq!(other.recorded(), window.recorded());
    let steps = window.recorded()[1]["payload"]["reasoning_steps"].clone();
    assert_eq!(steps[0], "The file does not exist.", "{reasoning}");
    server.stop().await;
}

/// It went wrong: the stream of a task ends with a question, and what a command printed after the answer was not shown.
#[tokio::test]
async fn what_a_command_prints_is_shown_as_it_comes_after_an_approval() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let mut window = Window::open(&server).await;
    let wait = "run echo first; while [ ! -e go ]; do sleep 0.05; done; echo last";
    window.command("prints", wait).await;
    let asked = window.until("approval_request").await;
    window
        .decide(asked["id"].as_str().unwrap(), "approve")
        .await;
    let progress = window.until("progress").await;
    let said = progress["payload"]["data"]["message"].as_str().unwrap();
    assert!(said.contains("first") && !said.contains("last"), "{said}");
    std::fs::write(home.path().join("files/go"), "").unwrap();
    let result = window.until("tool_result").await;
    assert_eq!(result["payload"]["output"], "first\nlast\n");
    window.until("task_completed").await;
    server.stop().await;
}

#[tokio::test]
async fn each_fault_has_an_exact_error_and_the_connection_stays() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let mut window = Window::open(&server).await;
    let id = "550e8400-e29b-41d4-a716-446655440000";
    let command = |change: Value| {
        let mut message = json!({
            "id": id, "type": "user_command", "source": "user", "payload": { "command": "hi" },
        });
        for (name, value) in change.as_object().unwrap() {
            message[name] = value.clone();
        }
        message
    };
    for (message, code, field) in [
        (json!([]), "not_an_object", ""),
        (json!({ "id": id }), "missing", "type"),
        (command(json!({ "type": "shout" })), "invalid", "type"),
        (
            command(json!({ "type": "tool_result" })),
            "wrong_direction",
            "type",
        ),
        (command(json!({ "id": null })), "missing", "id"),
        (command(json!({ "id": "7" })), "invalid", "id"),
        (command(json!({ "source": "agent" })), "invalid", "source"),
        (
            command(json!({ "timestamp": "today" })),
            "invalid",
            "timestamp",
        ),
        (command(json!({ "payload": null })), "missing", "payload"),
        (
            command(json!({ "payload": {} })),
            "missing",
            "payload.command",
        ),
        (
            command(json!({ "payload": { "command": 7 } })),
            "invalid",
            "payload.command",
        ),
        (
            command(json!({ "payload": { "command": "hi", "context": "moon" } })),
            "invalid",
            "payload.context",
        ),
        (
            command(json!({ "metadata": { "priority": "urgent" } })),
            "invalid",
            "metadata.priority",
        ),
        (
            command(json!({ "metadata": { "session_id": "a b" } })),
            "invalid",
            "metadata.session_id",
        ),
        (
            json!({ "type": "restore_session" }),
            "missing",
            "payload.session_id",
        ),
        (
            json!({ "type": "restore_session", "payload": { "session_id": "x", "cursor": "y" } }),
            "invalid",
            "payload.cursor",
        ),
        (
            command(json!({ "type": "approval_response", "payload": { "request_id": id } })),
            "missing",
            "payload.decision",
        ),
        (
            command(
                json!({ "type": "approval_response", "payload": { "request_id": id, "decision": "approve" } }),
            ),
            "not_found",
            "payload.request_id",
        ),
    ] {
        window.send(&message).await;
        let error = window.until("error").await;
        let data = &error["payload"]["data"];
        assert_eq!(
            (&data["code"], &data["field"]),
            (&json!(code), &json!(field)),
            "{message}: {error}"
        );
        assert!(data["message"].as_str().unwrap().len() > 5, "{error}");
        if message["id"] == id {
            assert_eq!(data["in_reply_to"], id, "{error}");
        }
    }
    window.socket.send(Message::text("{")).await.unwrap();
    assert_eq!(
        window.until("error").await["payload"]["data"]["code"],
        "not_json"
    );
    window.send(&json!({ "type": "ping" })).await;
    window.until("pong").await;
    server.stop().await;
}

#[tokio::test]
async fn sessions_are_listed_searched_renamed_exported_and_deleted() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let body = json!({ "session_id": "one", "config": { "model": "gemma-3", "temperature": 0.7 } });
    let (status, begun) = rest(&server, "POST", "/api/agent/initialize", body).await;
    assert_eq!(
        (status, &begun["session_id"]),
        (200, &json!("one")),
        "{begun}"
    );
    assert_eq!(
        (&begun["agent_state"], &begun["model"]),
        (&json!("idle"), &Value::Null)
    );
    assert!(
        begun["note"].as_str().unwrap().contains("gemma-3"),
        "{begun}"
    );
    let skills = begun["capabilities"].as_array().unwrap();
    assert!(skills.contains(&json!("file-write")), "{begun}");
    let body = json!({ "command": "remember that the sky is blue", "context": "project", "session_id": "one" });
    let (status, sent) = rest(&server, "POST", "/api/agent/command", body).await;
    assert_eq!(status, 200, "{sent}");
    assert!(["queued", "processing"].contains(&sent["status"].as_str().unwrap()));
    let mut window = Window::open(&server).await;
    window.restore("one", None).await;
    let done = window.until("task_completed").await;
    assert_eq!(done["payload"]["data"]["task_id"], sent["task_id"]);
    window.command("two", "what is a monad?").await;
    window.until("response").await;

    let (_, listed) = rest(&server, "GET", "/api/sessions", Value::Null).await;
    let titles: Vec<_> = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["title"].clone())
        .collect();
    assert_eq!(
        titles,
        ["what is a monad?", "remember that the sky is blue"]
    );
    let (_, found) = rest(&server, "GET", "/api/sessions?query=sky", Value::Null).await;
    assert_eq!(found["sessions"].as_array().unwrap().len(), 1, "{found}");
    let body = json!({ "title": "Colours", "archived": true });
    let (status, _) = rest(&server, "PATCH", "/api/sessions/one", body).await;
    assert_eq!(status, 200);
    let (_, archived) = rest(&server, "GET", "/api/sessions?archived=true", Value::Null).await;
    assert_eq!(archived["sessions"][0]["title"], "Colours");
    let text = ask(
        &server,
        "GET",
        "/api/sessions/one/export?format=markdown",
        Value::Null,
    )
    .await
    .text;
    assert!(
        text.starts_with("# Colours\n") && text.contains("## You,"),
        "{text}"
    );
    let (_, page) = rest(
        &server,
        "GET",
        "/api/sessions/one/messages?limit=1",
        Value::Null,
    )
    .await;
    assert_eq!(
        (page["messages"].as_array().unwrap().len(), &page["more"]),
        (1, &json!(true))
    );
    let (status, _) = rest(&server, "DELETE", "/api/sessions/one", Value::Null).await;
    assert_eq!(status, 200);
    let (status, gone) = rest(&server, "GET", "/api/sessions/one", Value::Null).await;
    assert_eq!((status, &gone["code"]), (404, &json!("not_found")));
    let (_, paused) = rest(&server, "POST", "/api/agent/pause", Value::Null).await;
    assert_eq!(
        (&paused["success"], &paused["previous_state"]),
        (&json!(true), &json!("idle"))
    );
    window.until("agent_paused").await;
    let (_, resumed) = rest(&server, "POST", "/api/agent/resume", Value::Null).await;
    assert_eq!(
        (&resumed["success"], &resumed["current_state"]),
        (&json!(true), &json!("idle"))
    );
    let (_, status) = rest(&server, "GET", "/api/agent/status", Value::Null).await;
    assert_eq!(
        (&status["queue_length"], &status["current_task"]),
        (&json!(0), &Value::Null)
    );
    server.stop().await;
}

#[tokio::test]
async fn under_cuts_every_message_comes_once_and_in_order() {
    let home = tempfile::tempdir().unwrap();
    let server = Monas::start(&mut serve(home.path())).await;
    let mut whole = Window::open(&server).await;
    whole.restore("cuts", None).await;
    whole.until("session_restored").await;
    let mut sender = Window::open(&server).await;
    let (mut seen, mut last) = (Vec::new(), None);
    for round in 0..12 {
        // The client comes back with its last cursor, reads some messages, and is cut off.
        let mut client = Window::open(&server).await;
        client.restore("cuts", last.as_deref()).await;
        let words = format!("remember that number {round} is {}", round * 7);
        let id = sender.command("cuts", &words).await;
        // A command that is sent again is done once.
        let again = json!({ "id": id, "type": "user_command", "payload": { "command": words },
            "metadata": { "session_id": "cuts" } });
        sender.send(&again).await;
        for _ in 0..(round * 5 % 7) + 1 {
            client.next().await;
        }
        let got = client.recorded();
        last = got.last().map(cursor).or(last);
        seen.extend(got);
    }
    for _ in 0..12 {
        whole.until("task_completed").await;
    }
    let mut client = Window::open(&server).await;
    client.restore("cuts", last.as_deref()).await;
    client.until("session_restored").await;
    seen.extend(client.recorded());
    assert_eq!(seen, whole.recorded());
    let ids: BTreeSet<_> = seen.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), seen.len());
    let cursors: Vec<(u64, u64)> = seen
        .iter()
        .map(|it| {
            let cursor = cursor(it);
            let (event, index) = cursor.split_once('.').unwrap();
            (event.parse().unwrap(), index.parse().unwrap())
        })
        .collect();
    assert!(cursors.is_sorted(), "{cursors:?}");
    server.stop().await;
}
