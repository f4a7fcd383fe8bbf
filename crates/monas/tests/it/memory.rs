//! The memory of an agent: over the API of the running program, from the command line, and after a restart.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use model::scripted::{Scripted, Server, Turn};
use serde_json::{Value, json};

use crate::support::http::{Client, Version};
use crate::support::program::{Ended, Monas, command, living, run};

async fn ask(monas: &Monas, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let mut client = Client::connect(monas.authority().parse().unwrap(), Version::One).await;
    let request = client.request(method, monas.authority(), &format!("/api/memory/{path}"));
    let request = request.header("content-type", "application/json");
    let answer = client
        .send(request.body(Body::from(body.to_string())).unwrap())
        .await;
    (
        answer.status.as_u16(),
        serde_json::from_str(&answer.text).unwrap(),
    )
}

async fn memory(home: &Path, arguments: &[&str]) -> Ended {
    run(command(home).arg("memory").args(arguments)).await
}

/// Data in which the default agent and the agent `scout` have lived.
async fn lived_in() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let agents = home.path().join("agents");
    std::fs::create_dir(&agents).unwrap();
    let scout = "name = 'Scout'\nobjectives = ['look around']\n";
    std::fs::write(agents.join("scout.toml"), scout).unwrap();
    let monas = Monas::start(living(home.path()).arg("--agents").arg(&agents)).await;
    monas.stop().await;
    home
}

#[tokio::test]
async fn what_was_added_is_found_in_other_words_after_a_restart_with_its_reason() {
    let home = lived_in().await;
    // Without a server the command opens the data itself.
    let added = memory(
        home.path(),
        &[
            "add",
            "Ada likes coffee.",
            "--source",
            "user:ada",
            "--confidence",
            "0.9",
            "--context",
            "what does Ada drink?",
            "--why",
            "she said so herself",
        ],
    )
    .await;
    assert!(added.stdout.starts_with("kept as belief: "), "{added:?}");
    let refused = memory(
        home.path(),
        &["add", "Bob is tall.", "--why", "it was asked"],
    )
    .await;
    assert!(!refused.status.success());
    assert!(
        refused
            .stderr
            .contains("add --source, --confidence, --context"),
        "{refused:?}"
    );

    // With a running server the command asks it.
    let monas = Monas::start(&mut living(home.path())).await;
    let said = json!({ "type": "conversation", "content": "Bob lives in Lisbon.", "metadata": { "speaker": "Ada" } });
    let (status, stored) = ask(&monas, "POST", "store", &said).await;
    assert_eq!((status, &stored["success"]), (200, &json!(true)));
    let found = memory(
        home.path(),
        &["query", "Which drink would please Ada? Coffee?"],
    )
    .await;
    for expected in [
        "Ada likes coffee.",
        "source user:ada",
        "confidence 0.90",
        "kept because she said so herself",
        "found by words",
    ] {
        assert!(
            found.stdout.contains(expected),
            "{expected} is not in {found:?}"
        );
    }
    let (_, answer) = ask(
        &monas,
        "POST",
        "query",
        &json!({ "query": "Is there coffee for Ada?" }),
    )
    .await;
    assert_eq!(
        answer["sources"][0]["reason"]["context"],
        "what does Ada drink?"
    );
    assert_eq!(answer["retriever"], "words");
    let (status, refused) = ask(
        &monas,
        "POST",
        "store",
        &json!({ "content": "x", "layer": "belief" }),
    )
    .await;
    assert_eq!((status, &refused["code"]), (422, &json!("reason_missing")));
    monas.stop().await;

    // And again without a server.
    let found = memory(
        home.path(),
        &["query", "Where is Bob living?", "-o", "json"],
    )
    .await;
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(found["sources"][0]["id"], stored["node_id"]);
    let audit = memory(home.path(), &["audit"]).await;
    assert!(audit.stdout.starts_with("default: clean"), "{audit:?}");

    // What is named by its id is forgotten.
    let id = stored["node_id"].as_str().unwrap();
    let forgotten = memory(home.path(), &["forget", id, "--why", "he moved"]).await;
    assert_eq!(forgotten.stdout, "1 record is forgotten\n", "{forgotten:?}");
    let again = memory(home.path(), &["forget", id]).await;
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    let found = memory(home.path(), &["query", "Where is Bob living?"]).await;
    assert!(!found.stdout.contains("Lisbon"), "{found:?}");
}

#[tokio::test]
async fn an_export_is_imported_for_another_agent() {
    let home = lived_in().await;
    memory(home.path(), &["add", "Bob lives in Lisbon."]).await;
    let exported = memory(home.path(), &["export"]).await;
    let file = home.path().join("memory.jsonl");
    std::fs::write(&file, &exported.stdout).unwrap();
    let file = file.to_str().unwrap();
    let imported = memory(home.path(), &["import", file, "--for", "scout"]).await;
    assert_eq!(
        imported.stdout, "1 imported, 0 known already\n",
        "{imported:?}"
    );
    let again = memory(home.path(), &["import", file, "--for", "scout"]).await;
    assert_eq!(again.stdout, "0 imported, 1 known already\n");
    let found = memory(home.path(), &["query", "Lisbon", "--for", "scout"]).await;
    assert!(found.stdout.contains("Bob lives in Lisbon."), "{found:?}");
    let cypher = memory(home.path(), &["export", "--format", "cypher"]).await;
    assert!(
        cypher.stdout.contains("MERGE (e:Entity {name: 'Lisbon'})"),
        "{cypher:?}"
    );
    let nothing = memory(home.path(), &["query", "harbour", "--for", "scout"]).await;
    assert_eq!(nothing.stdout, "nothing is known about that\n");

    // It went wrong: a misspelt agent or folder was made.
    for arguments in [
        &["query", "Lisbon", "--for", "scuot"][..],
        &["add", "Bob is tall.", "--for", "scuot"],
        &["import", file, "--for", "scuot"],
        &["add", "Bob is tall.", "--for", " "],
    ] {
        let refused = memory(home.path(), arguments).await;
        assert!(!refused.status.success(), "{arguments:?}: {refused:?}");
        assert!(refused.stderr.contains("there is no agent"), "{refused:?}");
    }
    let typo = home.path().join("dtaa");
    let refused = memory(
        home.path(),
        &["add", "Bob is tall.", "--data", typo.to_str().unwrap()],
    )
    .await;
    assert!(refused.stderr.contains("no such folder"), "{refused:?}");
    assert!(!typo.exists());
}

#[tokio::test]
async fn a_configured_model_reads_what_is_remembered_and_a_configured_embedder_finds_it() {
    let found = json!({ "notes": [{
        "note": 1,
        "entities": [{ "name": "mosses", "kind": "term" }, { "name": "light", "kind": "term" }],
        "relations": [{ "from": "mosses", "to": "light", "relation": "need little" }],
    }] });
    let script = Scripted::new([Turn::text(found.to_string())]);
    let models = Server::start(script).await.unwrap();
    let url = format!("{}/v1", models.url());
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(
        command(home.path())
            .args(["--model", "openai:small", "--embedder", "openai:words"])
            .env("MONAS_MODEL_URL", &url)
            .env("MONAS_EMBEDDER_URL", &url),
    )
    .await;
    let said =
        json!({ "type": "conversation", "content": "mosses live where there is little light" });
    let (status, _) = ask(&monas, "POST", "store", &said).await;
    assert_eq!(status, 200);
    // Both are done in the background; they have happened once the answers show it.
    let edge = loop {
        let (_, graph) = ask(&monas, "GET", "graph?topic=light", &json!({})).await;
        if let Some(edge) = graph["edges"].get(0) {
            break edge.clone();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(edge["from"], "mosses", "{edge}");
    let query = json!({ "query": "mosses", "limit": 1 });
    loop {
        let (_, answer) = ask(&monas, "POST", "query", &query).await;
        let retriever = answer["retriever"].as_str().unwrap();
        if retriever == "words+vectors (openai:words)" {
            break;
        }
        assert_eq!(retriever, "words", "until there are vectors");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    monas.stop().await;
}

/// Stores sentence after sentence until the server is gone; gives the ids that were acknowledged.
async fn store_on(
    address: SocketAddr,
    authority: String,
    writer: usize,
    total: Arc<AtomicUsize>,
) -> Vec<String> {
    let mut acknowledged = Vec::new();
    let Some(mut client) = Client::try_connect(address, Version::One).await else {
        return acknowledged;
    };
    for number in 0.. {
        let mut said =
            json!({ "type": "note", "content": format!("writer{writer} counts item{number}") });
        if number % 2 == 0 {
            said["layer"] = "belief".into();
            said["reason"] = json!({
                "source": format!("user:{writer}"), "confidence": 0.8,
                "context": "what is counted?", "why": "it is to be found again",
            });
        }
        let request = client.request("POST", &authority, "/api/memory/store");
        let request = request.header("content-type", "application/json");
        let request = request.body(Body::from(said.to_string())).unwrap();
        let Ok(answer) = client.try_send(request).await else {
            break;
        };
        let answer: Value = serde_json::from_str(&answer.text).unwrap();
        acknowledged.push(answer["node_id"].as_str().unwrap().to_owned());
        total.fetch_add(1, Ordering::Relaxed);
    }
    acknowledged
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_a_kill() {
    let home = tempfile::tempdir().unwrap();
    let mut acknowledged = Vec::new();
    for round in 1..=3 {
        let monas = Monas::start(&mut living(home.path())).await;
        let total = Arc::new(AtomicUsize::new(0));
        let writers: Vec<_> = (0..8)
            .map(|writer| {
                let (address, authority) = (
                    monas.authority().parse().unwrap(),
                    monas.authority().to_owned(),
                );
                tokio::spawn(store_on(
                    address,
                    authority,
                    round * 8 + writer,
                    Arc::clone(&total),
                ))
            })
            .collect();
        while total.load(Ordering::Relaxed) < round * 50 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        monas.signal("KILL").await;
        monas.ended().await;
        for writer in writers {
            acknowledged.extend(writer.await.unwrap());
        }
    }
    let exported = memory(home.path(), &["export"]).await;
    let ids: HashSet<String> = exported
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    let lost: Vec<_> = acknowledged
        .iter()
        .filter(|id| !ids.contains(*id))
        .collect();
    assert!(
        lost.is_empty(),
        "{lost:?} of {} are lost",
        acknowledged.len()
    );
    let audit = memory(home.path(), &["audit"]).await;
    assert!(audit.stdout.starts_with("default: clean"), "{audit:?}");
}
