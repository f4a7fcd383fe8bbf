//! The model that answers, chosen while the server runs.

use access::Role;
use model::scripted::{Scripted, Server, Turn};
use serde_json::{Value as Json, json};

use super::{Session, Workspace, code, command, kind};
use crate::rights::{closed, token};
use crate::support::program::Monas;

/// The workspace of an administrator.
async fn administrator(monas: &Monas) -> Workspace {
    let shown = json!({ "token": token("root", Role::Admin) });
    Session::open(monas)
        .await
        .authenticate(shown)
        .await
        .unwrap()
}

/// What the agent answers.
async fn answer(open: &Workspace, session: &str, words: &str) -> String {
    let (window, mut told) = open.follow("followChat", json!({})).await.unwrap();
    let envelope = a2a::binding::capnweb::value::from_json(command(session, words));
    window.call("send", (envelope,)).await.unwrap();
    let said = told.until(|it| kind(it) == "response").await;
    said["payload"]["content"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_model_is_tried_before_it_answers_and_kept_over_a_restart() {
    let script = Scripted::new([
        Turn::text("yes"),
        Turn::text("From the model."),
        Turn::text("Again from the model."),
    ]);
    let provider = Server::start(script).await.unwrap();
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut closed(home.path())).await;
    let open = administrator(&monas).await;
    let shown = open.call("getModel", json!({})).await.unwrap();
    assert_eq!(
        (&shown["from"], &shown["name"]),
        (&json!("rules"), &Json::Null)
    );

    let unreachable =
        json!({ "provider": "openai", "name": "small", "url": "http://127.0.0.1:1/v1" });
    let refused = open.call("putModel", unreachable).await.unwrap_err();
    assert_eq!(
        code(&refused),
        ("model_failed".to_owned(), 422),
        "{refused:?}"
    );
    let wrong = json!({ "provider": "nobody", "name": "small" });
    let refused = open.call("putModel", wrong).await.unwrap_err();
    assert_eq!(code(&refused), ("invalid".to_owned(), 422));
    let shown = open.call("getModel", json!({})).await.unwrap();
    assert_eq!(shown["from"], "rules", "what failed is not kept");

    let chosen = json!({ "provider": "openai", "name": "small", "url": format!("{}/v1", provider.url()), "key": "sk-of-a-test" });
    let shown = open.call("putModel", chosen).await.unwrap();
    assert_eq!(
        (&shown["from"], &shown["has_key"]),
        (&json!("kept"), &json!(true))
    );
    assert!(!shown.to_string().contains("sk-of-a-test"), "{shown}");
    let status = open.call("getStatus", json!({})).await.unwrap();
    assert_eq!(status["models"][0]["model"], "openai:small", "{status}");
    assert_eq!(
        answer(&open, "s1", "say something").await,
        "From the model."
    );
    monas.stop().await;

    let monas = Monas::start(&mut closed(home.path())).await;
    let open = administrator(&monas).await;
    assert_eq!(
        answer(&open, "s1", "and once more").await,
        "Again from the model."
    );
    let shown = open.call("deleteModel", json!({})).await.unwrap();
    assert_eq!(shown["from"], "rules");
    let status = open.call("getStatus", json!({})).await.unwrap();
    assert_eq!(status["models"][0]["model"], Json::Null);
    monas.stop().await;
}
