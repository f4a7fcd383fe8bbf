//! Background work: vectors, and entities found by a model.

use std::sync::Arc;

use memory::{Content, Memory, Options, Recall, TABLES};
use model::scripted::{Failure, Scripted, Turn, Words};
use store::Store;

/// The scripted reply about the first note.
fn found(entities: &[&str], relations: &[[&str; 3]]) -> Turn {
    let named = |name| serde_json::json!({ "name": name, "kind": "term" });
    let related = |[from, relation, to]: &[&str; 3]| serde_json::json!({ "from": from, "relation": relation, "to": to });
    let note = serde_json::json!({
        "note": 1,
        "entities": entities.iter().map(named).collect::<Vec<_>>(),
        "relations": relations.iter().map(related).collect::<Vec<_>>(),
    });
    Turn::text(serde_json::json!({ "notes": [note] }).to_string())
}

fn read_by(model: &Scripted, store: &Store) -> Memory {
    let options = Options {
        reader: Some(Arc::new(model.clone())),
        ..Options::default()
    };
    Memory::open(store.clone(), options)
}

const SAID: &str = "the photosynthesis of mosses needs little light";

fn turn() -> Turn {
    found(
        &["photosynthesis of mosses", "light", "chlorophyll"],
        &[
            ["photosynthesis of mosses", "needs", "light"],
            ["chlorophyll", "absorbs", "light"],
        ],
    )
}

#[tokio::test]
async fn what_a_model_finds_is_in_the_graph_with_the_record_that_says_it() {
    let (model, store) = (Scripted::new([turn()]), Store::memory(TABLES));
    let memory = read_by(&model, &store);
    let space = memory.space("scout").unwrap();
    let id = space.observe(Content::text(SAID)).await.unwrap();
    memory.settled().await;

    let request = &model.requests()[0];
    assert!(request.output.is_some(), "it is asked for JSON of a schema");
    let picture = space.graph(Some("light"), 10).await.unwrap();
    let names: Vec<_> = picture.nodes.iter().map(|node| &*node.name).collect();
    assert!(names.contains(&"photosynthesis of mosses"), "{names:?}");
    assert!(!names.contains(&"chlorophyll"), "nothing says it");
    let [edge] = &picture.edges[..] else {
        panic!("one relation is said: {:?}", picture.edges)
    };
    assert_eq!((&*edge.kind, &*edge.to), ("NEEDS", "light"));
    assert_eq!(edge.sources, std::slice::from_ref(&id));

    space.forget(&id, "it was a test").await.unwrap();
    let picture = space.graph(Some("light"), 10).await.unwrap();
    assert!(picture.nodes.is_empty() && picture.edges.is_empty());
    memory.close().await;
}

#[tokio::test]
async fn a_yes_a_question_and_the_json_of_a_tool_cost_no_call() {
    let (model, store) = (Scripted::new([turn()]), Store::memory(TABLES));
    let memory = read_by(&model, &store);
    let space = memory.space("scout").unwrap();
    for said in [
        "yes",
        "what do mosses need?",
        r#"{"matches":[],"files_searched":3}"#,
    ] {
        space.observe(Content::text(said)).await.unwrap();
        memory.settled().await;
    }
    assert_eq!(model.requests().len(), 0);
    space.observe(Content::text(SAID)).await.unwrap();
    memory.settled().await;
    assert_eq!(model.requests().len(), 1);
    memory.close().await;
}

#[tokio::test]
async fn what_was_read_is_not_read_again_after_a_restart() {
    let (model, store) = (Scripted::new([turn()]), Store::memory(TABLES));
    let memory = read_by(&model, &store);
    let space = memory.space("scout").unwrap();
    space.observe(Content::text(SAID)).await.unwrap();
    memory.settled().await;
    memory.close().await;

    let memory = read_by(&model, &store);
    let space = memory.space("scout").unwrap();
    let picture = space.graph(Some("light"), 10).await.unwrap();
    assert_eq!(picture.edges.len(), 1);
    memory.settled().await;
    assert_eq!(model.requests().len(), 1);
    memory.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_model_that_fails_is_asked_again_and_one_that_babbles_is_not() {
    let turns = [
        Turn::fails(Failure::Server),
        Turn::text("Mosses! I love mosses."),
        turn(),
    ];
    let (model, store) = (Scripted::new(turns), Store::memory(TABLES));
    let memory = read_by(&model, &store);
    let space = memory.space("scout").unwrap();
    space.observe(Content::text(SAID)).await.unwrap();
    memory.settled().await;
    assert_eq!(model.requests().len(), 1);
    // The runtime's paused clock jumps over the pause when all tasks wait.
    while model.requests().len() < 2 {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    memory.settled().await;
    space.observe(Content::text(SAID)).await.unwrap();
    memory.settled().await;
    assert_eq!(model.left(), 0, "the record that came later is read");
    let picture = space.graph(Some("light"), 10).await.unwrap();
    assert_eq!(picture.edges.len(), 1);
    memory.close().await;
}

#[tokio::test]
async fn records_get_their_vectors_when_the_embedder_comes_later() {
    let store = Store::memory(TABLES);
    let memory = Memory::open(store.clone(), Options::default());
    let space = memory.space("scout").unwrap();
    space.observe(Content::text(SAID)).await.unwrap();
    memory.close().await;

    let options = Options {
        embedder: Some(Arc::new(Words::new(64))),
        ..Options::default()
    };
    let memory = Memory::open(store, options);
    let space = memory.space("scout").unwrap();
    space.audit().await.unwrap();
    memory.settled().await;
    let answer = space.recall(Recall::new("mosses")).await.unwrap();
    assert_eq!(answer.retriever, "words+vectors (scripted:words)");
    assert!(answer.hits[0].similarity.is_some());
    memory.close().await;
}
