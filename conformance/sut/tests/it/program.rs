//! The program: its flags, and what it keeps.

use crate::support::http::{Client, Version};
use crate::support::sut::{Sut, command};

#[tokio::test]
async fn help_lists_the_flags_but_those_of_measurements() {
    let home = tempfile::tempdir().unwrap();
    let shown = command(home.path()).arg("--help").output().await.unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("--store <memory|DIR>"), "{shown}");
    assert!(!shown.contains("--commit-delay"), "{shown}");
}

/// Kits with a closed list of transports stop at a card that lists others.
#[tokio::test]
async fn it_offers_the_bindings_that_it_is_told_to_and_no_others() {
    let home = tempfile::tempdir().unwrap();
    let sut = Sut::spawn(command(home.path()).args(["--bindings", "jsonrpc,grpc"])).await;
    let mut client = Client::connect(sut.address, Version::One).await;
    let request = client.request("GET", "localhost", "/.well-known/agent-card.json");
    let card = client
        .send(request.body(axum::body::Body::empty()).unwrap())
        .await;
    let card: serde_json::Value = serde_json::from_str(&card.text).unwrap();
    let listed = card["supportedInterfaces"].as_array().unwrap().iter();
    let listed: Vec<_> = listed
        .map(|it| it["protocolBinding"].as_str().unwrap())
        .collect();
    assert_eq!(listed, ["JSONRPC", "GRPC", "JSONRPC", "GRPC"]);
    drop(client);
    sut.stop().await;

    let wrong = command(home.path())
        .args(["--bindings", "jsonrpc,smtp"])
        .output();
    let wrong = wrong.await.unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(
        said.contains("'smtp'") && said.contains("websocket"),
        "{said}"
    );
}

#[tokio::test]
async fn it_keeps_tasks_where_it_is_told_to_and_nowhere_else() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("kept");
    for store in ["memory", folder.to_str().unwrap()] {
        let sut = Sut::spawn(command(home.path()).args(["--store", store])).await;
        let mut client = Client::connect(sut.address, Version::One).await;
        let request = client.request("GET", "localhost", "/.well-known/agent-card.json");
        let card = client
            .send(request.body(axum::body::Body::empty()).unwrap())
            .await;
        assert!(card.text.contains("Monas under test"), "{card:?}");
        assert_eq!(folder.exists(), store != "memory");
        drop(client);
        sut.stop().await;
    }
    // It keeps out of the user's folders.
    assert!(!home.path().join(".local").exists());
}
