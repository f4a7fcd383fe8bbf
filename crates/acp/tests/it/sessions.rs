//! Sessions and their resources.

use serde_json::{Value, json};

use crate::support::{Bench, Heard, request};

const SESSION: &str = "6f1c2a9e-3c3e-4f5e-9b1e-0a2b3c4d5e6f";

async fn ask(bench: &Bench, agent: &str, text: &str, session: Value) -> Heard {
    let mut request = request(agent, text, "sync");
    let fields = session.as_object().unwrap().clone();
    request.as_object_mut().unwrap().extend(fields);
    bench.post("/runs", &request).await
}

#[tokio::test]
async fn a_session_has_what_was_said_in_it_in_order() {
    let bench = Bench::start().await;
    let described = json!({ "session": { "id": SESSION, "history": [], "state": null } });
    let run = ask(&bench, "echo", "one", described).await.ok();
    assert_eq!(run["session_id"], SESSION);
    ask(&bench, "make", "two", json!({ "session_id": SESSION }))
        .await
        .ok();
    // A run that failed is not in the history.
    ask(&bench, "boom", "three", json!({ "session_id": SESSION }))
        .await
        .ok();
    for path in ["session", "sessions"] {
        let session = bench.get(&format!("/{path}/{SESSION}")).await.ok();
        assert_eq!(session["id"], SESSION);
        let urls = session["history"].as_array().unwrap();
        let mut said = Vec::new();
        for url in urls {
            let authority = format!("http://{}/acp", bench.authority);
            let path = url.as_str().unwrap().strip_prefix(&authority).unwrap();
            let message = bench.get(path).await.ok();
            let content = message["parts"][0]["content"].as_str().unwrap().to_owned();
            said.push((message["role"].as_str().unwrap().to_owned(), content));
        }
        let said: Vec<_> = said.iter().map(|(role, text)| (&**role, &**text)).collect();
        assert_eq!(
            said,
            [
                ("user", "one"),
                ("agent/echo", "one"),
                ("user", "two"),
                ("agent/make", "Once "),
                ("agent/make", r#"{"true":true}"#),
                ("agent/make", "iVBORw=="),
                ("agent/make", r#"{"letters":3}"#),
            ]
        );
    }
}

#[tokio::test]
async fn a_session_without_a_run_is_not_found() {
    let bench = Bench::start().await;
    for id in [SESSION, "x", &"x".repeat(300)] {
        let refused = bench.get(&format!("/sessions/{id}")).await.refused();
        assert_eq!(refused, (404, "not_found".to_owned()));
    }
}

#[tokio::test]
async fn an_id_is_the_same_however_it_is_written() {
    let bench = Bench::start().await;
    let large = SESSION.to_uppercase();
    let run = ask(&bench, "echo", "one", json!({ "session_id": large }))
        .await
        .ok();
    assert_eq!(run["session_id"], SESSION);
    let session = bench.get(&format!("/sessions/{large}")).await.ok();
    assert_eq!(session["id"], SESSION);
}

#[tokio::test]
async fn sessions_that_contradict_each_other_are_refused() {
    let bench = Bench::start().await;
    let other = "00000000-0000-4000-8000-000000000000";
    let two = json!({ "session_id": SESSION, "session": { "id": other } });
    let refused = ask(&bench, "echo", "one", two).await.refused();
    assert_eq!(refused, (400, "invalid_input".to_owned()));
    let none = json!({ "session_id": "mine" });
    let refused = ask(&bench, "echo", "one", none).await;
    assert_eq!(refused.refused(), (422, "invalid_input".to_owned()));
    assert_eq!(refused.json()["message"], "session_id: is not a UUID");
}

#[tokio::test]
async fn a_resource_that_is_none_is_not_found() {
    let bench = Bench::start().await;
    let run = bench.ask("echo", "one", "sync").await.ok();
    let run = run["run_id"].as_str().unwrap();
    for id in [
        "x".to_owned(),
        "x.input".to_owned(),
        run.to_owned(),
        format!("{run}.output-1"),
        format!("{run}.output--1"),
        format!("{run}.output"),
        format!("{run}.input-0"),
        "x".repeat(300) + ".input",
    ] {
        let refused = bench.get(&format!("/resources/{id}")).await.refused();
        assert_eq!(refused, (404, "not_found".to_owned()), "{id}");
    }
    bench.get(&format!("/resources/{run}.input")).await.ok();
    bench.get(&format!("/resources/{run}.output-0")).await.ok();
}
