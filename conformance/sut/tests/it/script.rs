//! The agent that conformance suites drive, by both conventions; and that the demo agent has none of it.

use std::time::Duration;

use axum::http::StatusCode;
use serde_json::{Value, json};
use sut::Sut;

use crate::support::agent::{Sent, call, stream, texts};
use crate::support::http::{Client, Version};
use crate::support::server::Running;

/// Every prefix that ends without further ado, and what comes of it: how the task stands, what its
/// status says, what its artifact holds.
const ENDS: &[(&str, &str, &str, &str)] = &[
    ("tck-complete-task", "COMPLETED", "Hello from TCK", "null"),
    (
        "tck-artifact-text",
        "COMPLETED",
        "",
        r#"{"text":"Generated text content"}"#,
    ),
    (
        "tck-artifact-file",
        "COMPLETED",
        "",
        r#"{"filename":"output.txt","mediaType":"text/plain","raw":"R2VuZXJhdGVkIGZpbGUgY29udGVudA=="}"#,
    ),
    (
        "tck-artifact-file-url",
        "COMPLETED",
        "",
        r#"{"filename":"output.txt","mediaType":"text/plain","url":"https://example.com/output.txt"}"#,
    ),
    (
        "tck-artifact-data",
        "COMPLETED",
        "",
        r#"{"data":{"count":42,"key":"value"}}"#,
    ),
    (
        "tck-input-required",
        "INPUT_REQUIRED",
        "Please say more.",
        "null",
    ),
    (
        "tck-multi-turn",
        "INPUT_REQUIRED",
        "Please say more.",
        "null",
    ),
    ("tck-reject-task", "REJECTED", "rejected", "null"),
    ("tck-task-failure", "FAILED", "failed as asked", "null"),
    (
        "tck-stream-001",
        "COMPLETED",
        "",
        r#"{"text":"Stream hello from TCK"}"#,
    ),
    ("tck-stream-002", "COMPLETED", "", "null"),
    (
        "tck-stream-003",
        "COMPLETED",
        "",
        r#"{"text":"Stream task lifecycle"}"#,
    ),
    (
        "tck-stream-ordering-001",
        "COMPLETED",
        "",
        r#"{"text":"Ordered output"}"#,
    ),
    (
        "tck-stream-basic",
        "COMPLETED",
        "",
        r#"{"text":"Stream hello from TCK"}"#,
    ),
    (
        "tck-stream-artifact-text",
        "COMPLETED",
        "",
        r#"{"text":"Streamed text content"}"#,
    ),
    (
        "tck-stream-artifact-file",
        "COMPLETED",
        "",
        r#"{"filename":"output.txt","mediaType":"text/plain","raw":"R2VuZXJhdGVkIGZpbGUgY29udGVudA=="}"#,
    ),
    (
        "tck-stream-artifact-chunked",
        "COMPLETED",
        "",
        r#"{"text":"chunk-1 "}"#,
    ),
    (
        "tck-stream-chunked",
        "COMPLETED",
        "",
        r#"{"text":"chunk-1 "}"#,
    ),
    ("test-resubscribe-message-id", "COMPLETED", "", "null"),
];

/// An agent with a very short time limit.
fn hasty() -> Sut {
    Sut {
        timeout: Duration::from_millis(10),
        ..Sut::default()
    }
}

/// A message that begins so, by its id and by its text.
fn conventions(prefix: &str) -> [(String, String); 2] {
    [
        (format!("{prefix}-1"), "task".to_owned()),
        (format!("by text {prefix}"), format!("{prefix} please")),
    ]
}

async fn send(client: &mut Client, id: &str, text: &str, task: &str) -> Value {
    let answer = call(client, "SendMessage", Sent { id, text, task }.request()).await;
    answer["result"].clone()
}

#[tokio::test]
async fn the_beginning_of_a_message_decides() {
    let server = Running::sut(hasty()).await;
    let mut client = server.client(Version::One).await;
    for (prefix, state, said, made) in ENDS {
        for (id, text) in conventions(prefix) {
            let task = &send(&mut client, &id, &text, "").await["task"];
            assert_eq!(
                task["status"]["state"],
                format!("TASK_STATE_{state}"),
                "{id}: {task}"
            );
            assert_eq!(texts(&task["status"]["message"]["parts"]), *said, "{id}");
            assert_eq!(task["artifacts"][0]["parts"][0].to_string(), *made, "{id}");
        }
    }
    for (id, text) in conventions("tck-message-response") {
        let answer = send(&mut client, &id, &text, "").await;
        assert_eq!(
            texts(&answer["message"]["parts"]),
            "Direct message response"
        );
    }
    let task = send(&mut client, "anything", "at all", "").await;
    assert_eq!(task["task"]["status"]["state"], "TASK_STATE_COMPLETED");
    server.stop().await;
}

#[tokio::test]
async fn pieces_are_appended_and_the_last_one_says_so() {
    let server = Running::sut(hasty()).await;
    let mut client = server.client(Version::One).await;
    for prefix in ["tck-stream-artifact-chunked", "tck-stream-chunked"] {
        let sent = Sent {
            id: prefix,
            text: "task",
            ..Sent::default()
        };
        let events = stream(&mut client, "SendStreamingMessage", sent.request()).await;
        let told: Vec<_> = events
            .iter()
            .map(|event| {
                let update = &event["artifactUpdate"];
                let state = event["statusUpdate"]["status"]["state"]
                    .as_str()
                    .unwrap_or_default();
                format!(
                    "{state}{} {} {}",
                    texts(&update["artifact"]["parts"]),
                    update["append"],
                    update["lastChunk"]
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                " null null",
                "TASK_STATE_WORKING null null",
                "chunk-1  null null",
                "chunk-2 true true",
                "TASK_STATE_COMPLETED null null",
            ]
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn a_message_that_continues_the_task_completes_it() {
    let server = Running::sut(hasty()).await;
    let mut client = server.client(Version::One).await;
    for prefix in ["tck-input-required", "tck-multi-turn"] {
        for (turn, (id, text)) in conventions(prefix).into_iter().enumerate() {
            let asked = send(&mut client, &id, &text, "").await;
            let task = asked["task"]["id"].as_str().unwrap();
            // The same prefix again, or none.
            let (id, text) = match turn {
                0 => (format!("{id} again"), text),
                _ => (format!("{id} more"), "more".to_owned()),
            };
            let answer = send(&mut client, &id, &text, task).await;
            assert_eq!(
                answer["task"]["status"]["state"], "TASK_STATE_COMPLETED",
                "{id}"
            );
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn work_ends_when_it_is_cancelled() {
    let server = Running::sut(hasty()).await;
    let mut client = server.client(Version::One).await;
    for prefix in ["tck-cancel", "tck-long-running"] {
        let mut request = Sent {
            id: prefix,
            text: "task",
            ..Sent::default()
        }
        .request();
        request["configuration"] = json!({ "returnImmediately": true });
        let answer = call(&mut client, "SendMessage", request).await;
        let id = &answer["result"]["task"]["id"];
        let answer = call(&mut client, "CancelTask", json!({ "id": id })).await;
        assert_eq!(
            answer["result"]["status"]["state"], "TASK_STATE_CANCELED",
            "{answer}"
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn tells_what_its_journal_has_done() {
    let server = Running::sut(hasty()).await;
    let mut client = server.client(Version::One).await;
    send(&mut client, "1", "task", "").await;
    let counters: Value = serde_json::from_str(&server.get("/sut/store").await.text).unwrap();
    for counter in ["commits", "batches", "events"] {
        assert!(counters[counter].as_u64().unwrap() > 0, "{counters}");
    }
    server.stop().await;
}

#[tokio::test]
async fn the_agent_that_is_served_knows_none_of_it() {
    let server = Running::demo().await;
    let mut client = server.client(Version::One).await;
    let others = [
        "tck-message-response",
        "tck-cancel",
        "tck-long-running",
        "tck-",
        "test-",
    ];
    let prefixes = ENDS.iter().map(|(prefix, ..)| *prefix).chain(others);
    for prefix in prefixes {
        // By its id: the text decides.
        let answer = send(&mut client, &format!("{prefix}-1"), "echo hello", "").await;
        assert_eq!(texts(&answer["message"]["parts"]), "echo hello", "{prefix}");
        // By its text: it is not understood.
        let answer = send(&mut client, &format!("by text {prefix}"), prefix, "").await;
        let said = texts(&answer["message"]["parts"]);
        assert!(said.starts_with("I am a small agent"), "{prefix}: {answer}");
    }
    assert_eq!(server.get("/sut/store").await.status, StatusCode::NOT_FOUND);
    server.stop().await;
}
