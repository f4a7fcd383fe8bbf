//! Vectors over the wire.

use model::provider::{Embedder, Kind};
use model::scripted::{Scripted, Server, Words};
use model::{Embed as _, cosine};

use crate::{client, endpoint};

#[tokio::test]
async fn vectors_come_in_the_order_of_the_texts() {
    let server = Server::start_with(Scripted::default(), None).await.unwrap();
    // More than are sent at once.
    let texts: Vec<String> = (0..150).map(|n| format!("text number {n}")).collect();
    let expected = Words::new(64).embed(texts.clone()).await.unwrap();
    for kind in [Kind::OpenAi, Kind::Gemini, Kind::Ollama] {
        let embedder = Embedder::new(endpoint(kind, &server), client()).unwrap();
        assert_eq!(embedder.name(), format!("{}:scripted", kind.name()));
        let vectors = embedder.embed(texts.clone()).await.unwrap();
        assert_eq!(vectors.len(), texts.len());
        for (vector, expected) in vectors.iter().zip(&expected) {
            assert!((cosine(vector, expected) - 1.0).abs() < 1e-5, "{kind:?}");
        }
        assert_eq!(embedder.embed(Vec::new()).await, Ok(Vec::new()));
    }
}

#[tokio::test]
async fn a_provider_without_embedders_is_refused() {
    let server = Server::start(Scripted::default()).await.unwrap();
    let refused = Embedder::new(endpoint(Kind::Anthropic, &server), client()).unwrap_err();
    assert_eq!(refused.code(), "unsupported");
}

#[tokio::test]
async fn a_wrong_key_is_refused() {
    let server = Server::start_with(Scripted::default(), Some("other"))
        .await
        .unwrap();
    let embedder = Embedder::new(endpoint(Kind::OpenAi, &server), client()).unwrap();
    let error = embedder.embed(vec!["a".to_owned()]).await.unwrap_err();
    assert_eq!(error.code(), "auth");
}
