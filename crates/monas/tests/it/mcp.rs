//! `monas mcp`: the skills of an agent on standard input and output.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::support::program::{Monas, command, living};

/// The program as a host starts it, what it reads and what it writes.
fn started(home: &Path) -> (Child, ChildStdin, Lines<BufReader<ChildStdout>>) {
    spawned(command(home), home)
}

fn spawned(
    mut command: Command,
    home: &Path,
) -> (Child, ChildStdin, Lines<BufReader<ChildStdout>>) {
    command.args(["mcp", "--data"]).arg(home.join("data"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut monas = command.spawn().unwrap();
    let input = monas.stdin.take().unwrap();
    let output = monas.stdout.take().unwrap();
    (monas, input, BufReader::new(output).lines())
}

/// Such messages once got no reply, and their sender waited for ever.
#[tokio::test]
async fn a_host_is_told_what_was_no_message_and_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let (mut monas, mut input, mut lines) = started(home.path());
    let large = json!({ "jsonrpc": "2.0", "id": 1, "method": "x".repeat(17 << 20) }).to_string();
    let open = json!({ "jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    } });
    for (line, id, code) in [
        ("nonsense", Value::Null, json!(-32700)),
        (&large, Value::Null, json!(-32600)),
        (&open.to_string(), json!(2), Value::Null),
    ] {
        input.write_all(line.as_bytes()).await.unwrap();
        input.write_all(b"\n").await.unwrap();
        let reply = lines.next_line().await.unwrap().unwrap();
        let reply: Value = serde_json::from_str(&reply).unwrap();
        assert_eq!(
            (&reply["id"], &reply["error"]["code"]),
            (&id, &code),
            "{reply}"
        );
    }
    drop(input);
    assert!(monas.wait().await.unwrap().success());
}

#[tokio::test]
async fn a_host_that_starts_the_program_has_its_skills() {
    let home = tempfile::tempdir().unwrap();
    let (mut monas, mut input, mut lines) = started(home.path());
    let mut ask = async |message: Value| {
        input
            .write_all(format!("{message}\n").as_bytes())
            .await
            .unwrap();
        if message["id"].is_null() {
            return Value::Null;
        }
        let line = lines.next_line().await.unwrap().unwrap();
        serde_json::from_str::<Value>(&line).unwrap()
    };
    let opened = ask(
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    } }),
    );
    let opened = opened.await;
    assert_eq!(
        opened["result"]["protocolVersion"], "2025-11-25",
        "{opened}"
    );
    ask(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    let listed = ask(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" })).await;
    assert!(listed.to_string().contains("\"name\":\"echo\""), "{listed}");
    let called = ask(
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "echo", "arguments": { "text": "hello" },
    } }),
    );
    let called = called.await;
    assert_eq!(called["result"]["content"][0]["text"], "hello", "{called}");
    drop(input);
    assert!(monas.wait().await.unwrap().success());
}

/// The answers to these messages, each a request, of a `monas mcp` that lives as users have it.
async fn answers(home: &Path, messages: &[Value]) -> Vec<Value> {
    let (mut monas, mut input, mut lines) = spawned(living(home), home);
    let mut answers = Vec::new();
    for message in messages {
        let line = format!("{message}\n");
        input.write_all(line.as_bytes()).await.unwrap();
        let line = lines.next_line().await.unwrap().unwrap();
        answers.push(serde_json::from_str(&line).unwrap());
    }
    drop(input);
    assert!(monas.wait().await.unwrap().success());
    answers
}

fn request(id: u32, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Once it said that the data is in use, and exited; and it had fewer tools than a server.
#[tokio::test]
async fn beside_a_running_server_messages_are_passed_on_to_it() {
    let home = tempfile::tempdir().unwrap();
    let open = request(
        1,
        "initialize",
        &json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        }),
    );
    let list = request(2, "tools/list", &json!({}));
    let alone = answers(home.path(), &[open.clone(), list.clone()]).await;
    let names = |listed: &Value| -> Vec<String> {
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(
        names(&alone[1]).contains(&"ask-agent".to_owned()),
        "{:?}",
        names(&alone[1])
    );

    let mut command = living(home.path());
    let server = Monas::start(command.arg("--data").arg(home.path().join("data"))).await;
    let recall = request(
        3,
        "tools/call",
        &json!({ "name": "recall", "arguments": { "question": "tea" } }),
    );
    let beside = answers(home.path(), &[open, list, recall]).await;
    assert_eq!(names(&beside[1]), names(&alone[1]));
    assert_eq!(beside[2]["id"], 3, "{}", beside[2]);
    assert!(beside[2]["result"]["content"].is_array(), "{}", beside[2]);
    server.stop().await;
}
