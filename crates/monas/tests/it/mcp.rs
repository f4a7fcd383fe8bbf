//! `monas mcp`: the skills of an agent on standard input and output.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use crate::support::program::command;

/// The program as a host starts it, what it reads and what it writes.
fn started(home: &Path) -> (Child, ChildStdin, Lines<BufReader<ChildStdout>>) {
    let mut command = command(home);
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
