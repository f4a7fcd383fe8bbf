//! What an agent remembers: over the API of the running program, from the command line, and after a restart.

use std::path::Path;

use axum::body::Body;
use serde_json::{Value, json};

use crate::support::http::{Client, Version};
use crate::support::program::{Ended, Monas, command, run};

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

#[tokio::test]
async fn what_was_added_is_found_in_other_words_after_a_restart_with_its_reason() {
    let home = tempfile::tempdir().unwrap();
    // Nobody serves: the command opens the data itself.
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
            .contains("source is missing; confidence is missing; context is missing"),
        "{refused:?}"
    );

    // Somebody serves: the command asks them.
    let monas = Monas::start(&mut command(home.path())).await;
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
    assert_eq!(
        (status, &refused["error"]["code"]),
        (422, &json!("reason_missing"))
    );
    monas.stop().await;

    // And again nobody does.
    let found = memory(
        home.path(),
        &["query", "Where is Bob living?", "-o", "json"],
    )
    .await;
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(found["sources"][0]["id"], stored["node_id"]);
    let audit = memory(home.path(), &["audit"]).await;
    assert!(audit.stdout.starts_with("default: clean"), "{audit:?}");
}

#[tokio::test]
async fn an_export_is_imported_for_another_agent() {
    let home = tempfile::tempdir().unwrap();
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
    let nothing = memory(home.path(), &["query", "Lisbon", "--for", "nobody"]).await;
    assert_eq!(nothing.stdout, "nothing is known about that\n");
}
