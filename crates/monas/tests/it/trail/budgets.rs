//! Budgets: who exceeds one is told which, in the form of each wire, and others are unharmed.

use std::time::Duration;

use a2a::types::TaskState;
use axum::body::Body;
use monas::config::Config;
use serde_json::{Value, json};

use super::{parsed, send, with_callers};
use crate::living::{client, say, state, words};
use crate::support::http::Answer;
use crate::support::program::{Monas, living};
use crate::support::server::Running;

const JSON: (&str, &str) = ("content-type", "application/json");

/// Sends a text over REST in the name of a caller.
async fn rest(server: &Running, caller: &str, text: &str) -> Answer {
    let id = uuid::Uuid::new_v4().to_string();
    let message = json!({ "message": {
        "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }],
    }});
    let headers = [JSON, ("a2a-version", "1.0")];
    let place = ("POST", "/a2a/rest/message:send");
    send(server, caller, place, &headers, message.to_string()).await
}

/// Sends a text over JSON-RPC.
async fn rpc(server: &Running, caller: &str, text: &str) -> Answer {
    let id = uuid::Uuid::new_v4().to_string();
    let message = json!({ "messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }] });
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": { "message": message },
    });
    let headers = [JSON, ("a2a-version", "1.0")];
    let place = ("POST", "/a2a/jsonrpc");
    send(server, caller, place, &headers, body.to_string()).await
}

/// Calls a tool over MCP.
async fn tool(server: &Running, caller: &str, name: &str, arguments: Value) -> Answer {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": name,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    let headers = [
        JSON,
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", name),
    ];
    send(server, caller, ("POST", "/mcp"), &headers, body.to_string()).await
}

fn with(change: impl FnOnce(&mut access::budget::Settings)) -> Config {
    let mut config = with_callers();
    change(&mut config.budgets);
    config
}

#[tokio::test]
async fn a_turn_that_takes_too_long_fails_and_says_why() {
    let config = with(|it| it.call.time = Some(Duration::from_millis(300)));
    let server = Running::serve(&config).await;
    let said = "this call may take 300ms (budget.call_time)";
    for answer in [
        rest(&server, "ada", "burst 100 50ms").await,
        rpc(&server, "ada", "burst 100 50ms").await,
    ] {
        let body = parsed(&answer);
        let task = match body.get("result") {
            Some(result) => &result["task"],
            None => &body["task"],
        };
        assert_eq!(task["status"]["state"], "TASK_STATE_FAILED", "{body}");
        let why = task["status"]["message"]["parts"][0]["text"].as_str();
        assert!(why.unwrap().contains(said), "{body}");
        // What was made before is kept.
        assert!(task["artifacts"][0]["parts"].is_array(), "{body}");
    }
    let slow = json!({ "pieces": 100, "pause_ms": 50 });
    let answer = tool(&server, "ada", "burst", slow).await;
    assert!(answer.text.contains(said), "{answer:?}");
    let quick = rest(&server, "ada", "echo hello").await;
    assert_eq!(quick.status, 200, "{quick:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_request_that_holds_too_much_is_refused_in_the_form_of_its_wire() {
    let config = with(|it| it.call.memory = Some(4_000));
    let server = Running::serve(&config).await;
    let large = format!("echo {}", "x".repeat(5_000));

    let answer = rest(&server, "ada", &large).await;
    assert_eq!(answer.status, 429, "{answer:?}");
    let detail = &parsed(&answer)["error"]["details"][0];
    assert_eq!(detail["reason"], "BUDGET_EXCEEDED", "{answer:?}");
    assert_eq!(detail["metadata"]["budget"], "budget.call_memory");

    let error = parsed(&rpc(&server, "ada", &large).await);
    assert_eq!(error["error"]["code"], -31429, "{error}");
    let said = "budget exceeded: this call may hold 4000 bytes (budget.call_memory)";
    assert_eq!(error["error"]["message"], said);

    let answer = tool(&server, "ada", "echo", json!({ "text": large })).await;
    let error = parsed(&answer);
    assert_eq!(
        error["error"]["data"]["budget"], "budget.call_memory",
        "{answer:?}"
    );

    let answer = send(&server, "ada", ("GET", "/api/agents"), &[], large.clone()).await;
    assert_eq!(answer.status, 429, "{answer:?}");
    let refused = json!({ "error": said, "code": "budget_exceeded" });
    assert_eq!(parsed(&answer), refused);

    // What an agent makes counts, too: these pieces are more than the request was.
    let made = parsed(&rest(&server, "ada", "burst 2000").await);
    assert_eq!(
        made["task"]["status"]["state"], "TASK_STATE_FAILED",
        "{made}"
    );

    let small = rest(&server, "ada", "echo hello").await;
    assert_eq!(small.status, 200, "{small:?}");
    let metrics = send(&server, "ada", ("GET", "/metrics"), &[], "").await;
    let hit = "monas_limits_hit_total{limit=\"call_memory\"} 5";
    assert!(metrics.text.contains(hit), "{}", metrics.text);
    server.stop().await;
}

#[tokio::test]
async fn a_caller_that_has_used_its_time_waits_for_the_next_period_and_others_do_not() {
    let config = with(|it| {
        it.caller.time = Some(Duration::from_millis(300));
        it.period = Duration::from_secs(3600);
    });
    let server = Running::serve(&config).await;
    let answer = parsed(&rest(&server, "ada", "burst 100 50ms").await);
    let why = answer["task"]["status"]["message"]["parts"][0]["text"].as_str();
    assert!(why.unwrap().contains("budget.caller_time"), "{answer}");
    let refused = rest(&server, "ada", "echo hello").await;
    assert_eq!(refused.status, 429, "{refused:?}");
    let seconds = refused.headers["retry-after"].to_str().unwrap();
    assert!(
        (3000..=3600).contains(&seconds.parse().unwrap()),
        "{seconds}"
    );
    let other = rest(&server, "bob", "echo hello").await;
    assert_eq!(other.status, 200, "{other:?}");
    server.stop().await;
}

#[tokio::test]
async fn an_agent_that_has_used_its_processor_time_answers_no_caller() {
    let config = with(|it| {
        it.agent.cpu = Some(Duration::from_micros(1));
        it.period = Duration::from_secs(3600);
    });
    let server = Running::serve(&config).await;
    // Work that has ended is not lost; the next is not begun.
    rest(&server, "ada", "echo hello").await;
    let refused = rpc(&server, "bob", "echo hello").await;
    let said = parsed(&refused);
    assert_eq!(
        said["error"]["data"][0]["reason"], "BUDGET_EXCEEDED",
        "{said}"
    );
    let why = said["error"]["message"].as_str().unwrap();
    assert!(why.contains("budget.agent_cpu"), "{why}");
    // What needs no agent is done.
    let version = [("a2a-version", "1.0")];
    let listed = send(&server, "bob", ("GET", "/a2a/rest/tasks"), &version, "").await;
    assert_eq!(listed.status, 200, "{listed:?}");
    server.stop().await;
}

/// A body whose length the head does not say.
fn chunked(text: &str) -> Body {
    let pieces: Vec<_> = text.as_bytes().chunks(1_000).map(<[u8]>::to_vec).collect();
    let pieces = pieces.into_iter().map(Ok::<_, std::convert::Infallible>);
    Body::from_stream(futures_util::stream::iter(pieces))
}

/// It went wrong: without `Content-Length` a request below `/mcp`, `/acp` and `/api` held nothing.
#[tokio::test]
async fn a_request_that_does_not_say_its_length_counts_as_it_is() {
    let config = with(|it| it.call.memory = Some(4_000));
    let server = Running::living(&config).await;
    let large = "x".repeat(5_000);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mcp = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {
        "cursor": large, "_meta": meta,
    }});
    let part = json!({ "content_type": "text/plain", "content": large });
    let acp = json!({ "agent_name": "about", "input": [{ "role": "user", "parts": [part] }] });
    let mcp_headers = [
        JSON,
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/list"),
    ];
    for (path, headers, body) in [
        ("/mcp", &mcp_headers[..], mcp),
        ("/acp/runs", &[JSON][..], acp),
        ("/api/memory/query", &[JSON][..], json!({ "query": large })),
    ] {
        let body = chunked(&body.to_string());
        let answer = send(&server, "ada", ("POST", path), headers, body).await;
        assert_eq!(answer.status, 429, "{path}: {answer:?}");
        assert!(
            answer.text.contains("budget.call_memory"),
            "{path}: {answer:?}"
        );
        // What is small passes.
        let small = json!({ "query": "Ada" }).to_string();
        let answer = send(&server, "ada", ("POST", path), headers, chunked(&small)).await;
        assert_ne!(answer.status, 429, "{path}: {answer:?}");
    }
    server.stop().await;
}

/// It went wrong: what a command used counted for no budget.
#[tokio::test]
async fn the_processes_of_a_command_count_for_the_budgets() {
    let home = tempfile::tempdir().unwrap();
    let mut served = living(home.path());
    served.env("MONAS_BUDGET_CALL_CPU", "2s");
    served.env("MONAS_BUDGET_CALL_MEMORY", "64MiB");
    let monas = Monas::start(&mut served).await;
    let caller = client(&monas).await;
    let asked = say(&caller, "run while :; do :; done", None).await;
    assert_eq!(state(&asked), TaskState::InputRequired, "{asked:?}");
    let done = say(&caller, "yes", Some(&asked)).await;
    assert_eq!(state(&done), TaskState::Failed, "{done:?}");
    let why = words(&done);
    assert!(
        why.contains("may use 2s of processor time (budget.call_cpu)"),
        "{why}"
    );
    // The limit on memory of a command is no more than the budget leaves.
    let asked = say(&caller, "run ulimit -d", None).await;
    let done = say(&caller, "yes", Some(&asked)).await;
    let said = words(&done);
    let kilobytes = said
        .lines()
        .find_map(|line| line.trim().parse::<u64>().ok());
    assert!(kilobytes.is_some_and(|it| it <= 64 << 10), "{said}");
    monas.stop().await;
}
