//! The audit trail: every call on every wire is in it, no secret is, and the command reads and checks it.

use std::collections::BTreeSet;
use std::time::Duration;

use a2a::client::{Client, Settings, Version};
use a2a::types::{ListTasksRequest, Message};
use monas::config::Data;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::{parsed, requests, send, with_callers};
use crate::support::program::{Monas, command, run};
use crate::support::server::Running;

/// The lines of the trail, once one of them is as expected: it is written within a second.
async fn trail(server: &Running, query: &str, expected: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    for _ in 0..100 {
        let path = format!("/api/audit?{query}");
        let answer = send(server, "ada", ("GET", &path), &[], "").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(!answer.text.contains("token-of-"), "{}", answer.text);
        let records = parsed(&answer)["records"].as_array().unwrap().clone();
        if expected(&records) {
            return records;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the trail has not what was expected");
}

#[tokio::test]
async fn every_call_on_every_wire_is_recorded_with_its_caller() {
    let server = Running::serve(&with_callers()).await;
    let mut wires: BTreeSet<&str> = BTreeSet::new();
    for (wire, place, mut headers, body) in requests() {
        headers.push(("x-request-id", "r-17"));
        send(&server, "bob", place, &headers, body).await;
        wires.insert(wire);
    }
    for binding in ["websocket", "capnweb"] {
        for version in [Version::V1_0, Version::V0_3] {
            let mut settings = Settings::default().bearer("token-of-bob").unwrap();
            settings.bindings = vec![binding.to_owned()];
            settings.version = Some(version);
            let client = Client::discover(&server.url, settings).await.unwrap();
            client
                .list_tasks(ListTasksRequest::default())
                .await
                .unwrap();
            let id = uuid::Uuid::new_v4().to_string();
            client
                .send_message(Message::user(id, "hello").into())
                .await
                .unwrap();
        }
        wires.insert(if binding == "websocket" {
            "a2a/websocket"
        } else {
            "a2a/capnweb"
        });
    }
    let records = trail(&server, "user=bob", |records| {
        let seen: BTreeSet<&str> = records
            .iter()
            .filter_map(|it| it["wire"].as_str())
            .collect();
        wires.is_subset(&seen) && records.len() >= 12
    })
    .await;
    for record in &records {
        assert_eq!(record["caller"], "bob", "{record}");
        assert_eq!(record["scheme"], "tokens", "{record}");
        assert_eq!(record["outcome"], "ok", "{record}");
        assert_eq!(record["address"], "127.0.0.1", "{record}");
        assert!(
            record["micros"].is_u64() && record["at"].is_string(),
            "{record}"
        );
    }
    let of = |wire: &'static str| records.iter().filter(move |it| it["wire"] == wire);
    assert!(of("a2a/rest").any(|it| it["request"] == "r-17" && it["operation"] == "ListTasks"));
    let versions: BTreeSet<&str> = of("a2a/capnweb")
        .filter_map(|it| it["version"].as_str())
        .collect();
    assert_eq!(versions, BTreeSet::from(["0.3", "1.0"]));
    assert!(of("mcp/http").any(|it| it["operation"] == "tools/list"));
    assert!(of("api").any(|it| it["operation"] == "GET /api/agents"));
    server.stop().await;
}

#[tokio::test]
async fn refusals_are_recorded_and_bob_may_not_read_them() {
    let server = Running::serve(&with_callers()).await;
    let answer = send(&server, "bob", ("GET", "/api/audit"), &[], "").await;
    assert_eq!(answer.status, 403, "{answer:?}");
    let wrong = [
        ("authorization", "Bearer secret-that-is-wrong"),
        ("a2a-version", "1.0"),
    ];
    let answer = send(&server, "", ("GET", "/a2a/rest/tasks"), &wrong, "").await;
    assert_eq!(answer.status, 401);
    let records = trail(&server, "limit=1000", |records| {
        records
            .iter()
            .any(|it| it["outcome"] == "unauthenticated" && it["wire"] == "a2a/rest")
    })
    .await;
    assert!(
        records
            .iter()
            .any(|it| it["outcome"] == "denied" && it["wire"] == "api"),
        "{records:?}"
    );
    assert!(!json!(records).to_string().contains("secret-that-is-wrong"));
    server.stop().await;
}

#[tokio::test]
async fn the_newest_and_those_since_a_time_are_found() {
    let server = Running::serve(&with_callers()).await;
    for number in 0..12 {
        let id = format!("r-{number}");
        let headers = [("x-request-id", &*id)];
        send(&server, "bob", ("GET", "/api/agents"), &headers, "").await;
    }
    trail(&server, "user=bob", |records| records.len() == 12).await;
    let newest = trail(&server, "user=bob&limit=2", |_| true).await;
    let ids: Vec<&str> = newest
        .iter()
        .filter_map(|it| it["request"].as_str())
        .collect();
    assert_eq!(ids, ["r-10", "r-11"]);
    assert_eq!(
        trail(&server, "user=bob&since=1h", |_| true).await.len(),
        12
    );
    let future = trail(&server, "user=bob&since=2999-01-01T00:00:00Z", |_| true).await;
    assert_eq!(future.len(), 0);
    server.stop().await;
}

#[tokio::test]
async fn the_command_lists_follows_and_checks_the_trail() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut command(home.path())).await;
    let run_it = async |arguments: &[&str]| run(command(home.path()).args(arguments)).await;
    let sent = run_it(&["send", "echo hello"]).await;
    assert!(sent.status.success(), "{sent:?}");
    let mut following = command(home.path());
    let following = following.args(["audit", "--follow", "-o", "json"]);
    let following = following.stdout(std::process::Stdio::piped());
    let mut following = following
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines();
    let mut seen = Vec::new();
    while !seen.iter().any(|it: &String| it.contains("Message")) {
        seen.push(lines.next_line().await.unwrap().expect("it goes on"));
    }
    let status = run_it(&["status"]).await;
    assert!(status.status.success(), "{status:?}");
    while !seen.iter().any(|it| it.contains("GET /api/agent")) {
        seen.push(lines.next_line().await.unwrap().expect("it goes on"));
    }
    following.kill().await.unwrap();
    let listed = run_it(&["audit", "--since", "1h"]).await;
    assert!(listed.stdout.contains("SendMessage"), "{listed:?}");
    let json = run_it(&["audit", "--limit", "2", "-o", "json"]).await;
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["records"].as_array().unwrap().len(), 2);
    let checked = run_it(&["audit", "--verify"]).await;
    assert!(
        checked.stdout.starts_with("the trail is whole"),
        "{checked:?}"
    );
    monas.stop().await;
    // Without a server the command opens the data itself; there the last calls are, too.
    let checked = run_it(&["audit", "--verify", "-o", "json"]).await;
    assert!(checked.stdout.contains(r#""whole":true"#), "{checked:?}");
}

#[tokio::test]
async fn a_trail_that_was_changed_in_the_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = with_callers();
    config.data = Data::Folder(folder.path().to_owned());
    let server = Running::serve(&config).await;
    for _ in 0..3 {
        send(&server, "bob", ("GET", "/api/agents"), &[], "").await;
    }
    trail(&server, "user=bob", |records| records.len() == 3).await;
    server.stop().await;
    // One byte of a name, as an editor of the database would change it.
    let path = folder.path().join("monas.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let name = br#""caller":"bob""#;
    let at = bytes
        .windows(name.len())
        .rposition(|it| it == name)
        .unwrap();
    bytes[at + 12] = b'd';
    std::fs::write(&path, bytes).unwrap();
    let data = folder.path().to_str().unwrap();
    let checked = run(command(folder.path()).args(["audit", "--verify", "--data", data])).await;
    assert_eq!(checked.status.code(), Some(1), "{checked:?}");
    assert!(checked.stderr.contains("altered"), "{checked:?}");
}
