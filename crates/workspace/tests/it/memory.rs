//! `/api/memory`.

use ::memory::{Memory, Options, TABLES};
use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;

struct Api(Router);

impl Api {
    fn new() -> Self {
        let store = store::Store::memory(&[TABLES, agent::TABLES].concat());
        let memory = Memory::open(store.clone(), Options::default());
        let population = agent::Population::new(agent::Parts::new(store).memory(memory));
        for id in ["scout", "other", "copy"] {
            population.plain(id, id);
        }
        Self(workspace::api::memory::routes(
            population,
            workspace::api::Rights::unrestricted("scout"),
            None,
        ))
    }

    async fn send(&self, method: Method, path: &str, body: String) -> (StatusCode, String) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .body(Body::from(body))
            .unwrap();
        let response = self.0.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        let (status, text) = self
            .send(
                Method::POST,
                &format!("/api/memory/{path}"),
                body.to_string(),
            )
            .await;
        (status, serde_json::from_str(&text).unwrap())
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        let (status, text) = self
            .send(Method::GET, &format!("/api/memory/{path}"), String::new())
            .await;
        (status, serde_json::from_str(&text).unwrap())
    }

    async fn ok(&self, path: &str, body: Value) -> Value {
        let (status, answer) = self.post(path, body).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
        answer
    }
}

fn belief(content: &str) -> Value {
    json!({
        "type": "concept", "content": content, "layer": "belief",
        "reason": { "source": "user:ada", "confidence": 0.9, "context": "what is it?", "why": "she said so" },
    })
}

#[tokio::test]
async fn what_is_stored_is_found_with_where_it_comes_from() {
    let api = Api::new();
    let stored = api
        .ok("store", json!({
            "type": "conversation", "content": "Bob lives in Lisbon. [[D1:3]]",
            "metadata": {
                "session_id": "s1", "speaker": "Ada", "occurred_at": "2024-06-09T19:30:00Z", "task_id": "task-1", "mood": "good",
            },
        }))
        .await;
    assert_eq!(
        (&stored["success"], &stored["outcome"]),
        (&json!(true), &json!("observed"))
    );
    for mode in ["local", "global", "hybrid"] {
        let found = api
            .ok(
                "query",
                json!({ "query": "Where does Bob live?", "mode": mode }),
            )
            .await;
        let source = &found["sources"][0];
        assert_eq!(source["id"], stored["node_id"], "{found}");
        assert_eq!(source["content"], "Bob lives in Lisbon. [[D1:3]]");
        assert_eq!(source["relevance"], 1.0);
        assert_eq!(source["occurred_at"], "2024-06-09T19:30:00Z");
        assert_eq!(source["metadata"]["mood"], "good");
        assert!(
            found["entities"]
                .as_array()
                .unwrap()
                .contains(&json!("Lisbon"))
        );
        let lives = json!({ "from": "Bob", "to": "Lisbon", "type": "LIVE_IN", "weight": 1, "sources": [stored["node_id"]] });
        assert!(
            found["relationships"].as_array().unwrap().contains(&lives),
            "{found}"
        );
        assert_eq!(found["retriever"], "words");
    }
    let found = api
        .ok("vector-search", json!({ "query": "Lisbon", "top_k": 3 }))
        .await;
    assert_eq!(found["results"].as_array().unwrap().len(), 1);
    assert!(found["results"][0]["similarity"].is_number());
    // Another agent's memory is another one.
    let other = api
        .ok("query", json!({ "query": "Lisbon", "agent": "other" }))
        .await;
    assert_eq!(other["sources"], json!([]));
    let (_, context) = api.get("context?task_id=task-1").await;
    assert_eq!(
        context["previous_conversations"][0]["id"],
        stored["node_id"]
    );
    assert!(
        context["related_concepts"]
            .as_array()
            .unwrap()
            .contains(&json!("Bob"))
    );
    let (_, graph) = api.get("graph?topic=Lisbon").await;
    assert!(
        graph["nodes"].as_array().unwrap().len() >= 2
            && !graph["edges"].as_array().unwrap().is_empty()
    );
}

#[tokio::test]
async fn a_lasting_record_needs_a_whole_reason_and_the_refusal_names_what_is_missing() {
    let api = Api::new();
    let (status, refused) = api
        .post(
            "store",
            json!({ "content": "Bob is tall.", "layer": "belief" }),
        )
        .await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(refused["code"], "reason_missing");
    assert_eq!(refused["missing"], json!(["confidence", "context", "why"]));
    let mut half = belief("Bob is tall.");
    half["reason"]["why"] = json!(" ");
    half["reason"]["confidence"] = json!(2);
    let (status, refused) = api.post("store", half).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(refused["missing"], json!(["confidence", "why"]));
    let (_, audit) = api.get("audit").await;
    assert_eq!(
        (&audit["records"], &audit["clean"]),
        (&json!(0), &json!(true))
    );
}

#[tokio::test]
async fn beliefs_say_their_reason_confirm_each_other_and_doubt() {
    let api = Api::new();
    let kept = api
        .ok("store", belief("The API listens on port 8080."))
        .await;
    assert_eq!(kept["outcome"], "kept");
    let again = api
        .ok("store", belief("Note that the API listens on port 8080."))
        .await;
    assert_eq!(
        (&again["outcome"], &again["node_id"]),
        (&json!("known"), &kept["node_id"])
    );
    let other = api
        .ok("store", belief("The API listens on port 9090."))
        .await;
    assert_eq!(other["outcome"], "kept");
    let found = api
        .ok(
            "query",
            json!({ "query": "API port", "layers": ["belief"] }),
        )
        .await;
    assert_eq!(found["sources"][0]["id"], other["node_id"]);
    assert_eq!(found["sources"][0]["reason"]["why"], "she said so");
    assert_eq!(found["sources"][1]["contradicted_by"]["because"], "value");
    assert_eq!(found["sources"][1]["certain"], false);
    let forgotten = api
        .ok(
            "forget",
            json!({ "id": other["node_id"], "why": "it was a typing error" }),
        )
        .await;
    assert_eq!(forgotten["forgotten"], 1);
    let (status, _) = api
        .post("forget", json!({ "id": other["node_id"], "why": "again" }))
        .await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (_, audit) = api.get("audit").await;
    assert_eq!(
        (&audit["uncertain"], &audit["forgotten"]),
        (&json!(0), &json!(1))
    );
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_with_the_field() {
    let api = Api::new();
    let (status, _) = api
        .send(Method::POST, "/api/memory/store", "{".into())
        .await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    for (path, body, field) in [
        ("store", json!({ "content": 3 }), "content"),
        (
            "store",
            json!({ "content": "x", "metadata": { "occurred_at": "soon" } }),
            "metadata.occurred_at",
        ),
        (
            "store",
            json!({ "content": "x", "layer": "working" }),
            "layer",
        ),
        ("query", json!({ "query": "x", "mode": "sideways" }), "mode"),
        ("query", json!({ "query": "x", "since": "once" }), "since"),
    ] {
        let (status, refused) = api.post(path, body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{refused}");
        assert_eq!(refused["field"], field);
    }
    for (path, body) in [
        ("query", json!({ "query": "" })),
        ("query", json!({ "query": "x", "top_k": 0 })),
        ("store", json!({ "content": " " })),
    ] {
        let (status, refused) = api.post(path, body).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{refused}");
    }
    // It went wrong: a blank name of an agent was an error of the server.
    for agent in ["a/b", " ", "nobody"] {
        let body = json!({ "query": "x", "content": "x", "agent": agent });
        for path in ["query", "store"] {
            let (status, refused) = api.post(path, body.clone()).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{agent:?}: {refused}");
        }
    }
    let (status, _) = api.get("context").await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    // Axioms are not for those who come this way.
    let mut axiom = belief("The agent does no harm.");
    axiom["layer"] = json!("axiom");
    assert_eq!(api.post("store", axiom).await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn an_export_can_be_imported_elsewhere() {
    let api = Api::new();
    api.ok("store", belief("Bob lives in Lisbon.")).await;
    api.ok("store", json!({ "content": "Bob was here." })).await;
    let (status, lines) = api
        .send(Method::GET, "/api/memory/export", String::new())
        .await;
    assert_eq!((status, lines.lines().count()), (StatusCode::OK, 2));
    let import = |text: String| api.send(Method::POST, "/api/memory/import?agent=copy", text);
    let (_, imported) = import(lines.clone()).await;
    assert_eq!(
        serde_json::from_str::<Value>(&imported).unwrap()["imported"],
        2
    );
    let (_, again) = import(lines).await;
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap()["known"], 2);
    let found = api
        .ok("query", json!({ "query": "Lisbon", "agent": "copy" }))
        .await;
    assert_eq!(found["sources"][0]["reason"]["source"], "user:ada");
    let (status, _) = import("nonsense".into()).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let (_, cypher) = api
        .send(
            Method::GET,
            "/api/memory/export?format=cypher",
            String::new(),
        )
        .await;
    assert!(
        cypher.contains("MERGE (e:Entity {name: 'Lisbon'})"),
        "{cypher}"
    );
}
