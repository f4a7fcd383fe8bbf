//! A2A 3.6: the extensions a caller announces, and those the server answers with.

use axum::body::Body;
use serde_json::{Value, json};

use super::caller::{BINDINGS, Binding};
use crate::support::sut::Sut;

#[tokio::test]
async fn unknown_extensions_are_ignored() {
    let sut = Sut::in_memory().await;
    for binding in BINDINGS {
        let mut caller = sut.caller(binding).await;
        for list in [
            "https://example.com/unknown/v1",
            "a, b,,c ,",
            ",",
            "not a uri at all",
        ] {
            caller.set("a2a-extensions", list);
            assert!(
                caller.call("ListTasks", json!({})).await.is_ok(),
                "{binding:?} {list}"
            );
        }
    }
}

#[tokio::test]
async fn the_answer_names_the_extensions_in_use() {
    let sut = Sut::in_memory().await;
    let mut caller = sut.caller(Binding::Rest).await;
    let card = caller.builder("GET", "/.well-known/agent-card.json");
    let card = caller.raw(card.body(Body::empty()).unwrap()).await;
    let card: Value = serde_json::from_str(&card.text).unwrap();
    let offered = card["capabilities"]["extensions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    for extension in &offered {
        let uri = extension["uri"].as_str().unwrap();
        caller.set(
            "a2a-extensions",
            &format!("https://example.com/unknown/v1, {uri}"),
        );
        let request = caller.builder("GET", "/a2a/rest/tasks");
        let answer = caller.raw(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.headers["a2a-extensions"], uri);
    }
    caller.set("a2a-extensions", "https://example.com/unknown/v1");
    let request = caller.builder("GET", "/a2a/rest/tasks");
    let answer = caller.raw(request.body(Body::empty()).unwrap()).await;
    assert!(!answer.headers.contains_key("a2a-extensions"), "{answer:?}");
}
