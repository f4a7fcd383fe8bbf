//! Credentials at the door, the methods behind it, and when a session ends.

use access::Role;
use serde_json::{Value as Json, json};
use tokio::time::timeout;

use super::{SOON, Session, code, rest, serve};
use crate::closed::made;
use crate::rights::token;
use crate::support::program::{Monas, command};

/// The names of the methods that the declarations have.
fn methods() -> Vec<String> {
    let rows: Vec<_> = monas::serve::rules::all().copied().collect();
    let text = workspace::door::declarations::typescript(&rows);
    let lines = text.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("  ")?.split_once('(')?;
        rest.starts_with("fields").then(|| name.to_owned())
    });
    lines.collect()
}

#[tokio::test]
async fn a_caller_signs_in_and_every_route_is_a_method_with_the_same_rule() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut crate::rights::closed(home.path())).await;
    let session = Session::open(&monas).await;
    let hello = session.root.call("hello", ()).await.unwrap();
    assert!(matches!(
        hello.field("open"),
        Some(capnweb::Value::Bool(false))
    ));
    assert!(
        hello
            .field("build")
            .unwrap()
            .as_str()
            .is_some_and(|it| it.len() == 16)
    );
    let refused = session.authenticate(json!({})).await.err().unwrap();
    assert_eq!(code(&refused), ("unauthorized".to_owned(), 401));
    let wrong = json!({ "token": "wrong" });
    let refused = session.authenticate(wrong).await.err().unwrap();
    assert_eq!(code(&refused), ("invalid_token".to_owned(), 401));

    let shown = token("vera", Role::Viewer);
    let viewer = session
        .authenticate(json!({ "token": shown }))
        .await
        .unwrap();
    let signed_in = viewer.call("signedIn", json!({})).await.unwrap();
    assert_eq!(signed_in["caller"], "vera");
    assert!(signed_in["expires"].is_string(), "{signed_in}");
    let methods = methods();
    assert!(methods.len() > 80, "{}", methods.len());
    for row in monas::serve::rules::all() {
        let principal = crate::rights::principal(Role::Viewer);
        let mut name = row.verb.to_lowercase();
        for segment in row
            .path
            .split('/')
            .filter(|it| !it.is_empty() && *it != "api")
        {
            let by = if segment.starts_with('{') { "By" } else { "" };
            let words = segment.trim_matches(['{', '}']).split(['-', '_']);
            let words = words.map(|it| format!("{}{}", it[..1].to_uppercase(), &it[1..]));
            name += by;
            name.extend(words);
        }
        if !methods.contains(&name) {
            assert!(
                ["/ws/chat", "/ag-ui", "/operator/backup"].contains(&row.path),
                "{name}"
            );
            continue;
        }
        let fields = json!({ "id": "x", "name": "x", "event": 1 });
        let answer = viewer.call(&name, fields).await;
        let refused = answer.as_ref().err().map(code);
        match row.rule.check(&principal) {
            Ok(()) => {
                let status = refused.as_ref().map_or(200, |it| it.1);
                assert!(
                    ![0, 401, 403, 405, 500].contains(&status),
                    "{name}: {answer:?}"
                );
            }
            Err(_) => assert_eq!(refused, Some(("denied".to_owned(), 403)), "{name}"),
        }
    }
    let absent = viewer.call("getNothing", json!({})).await.unwrap_err();
    assert!(absent.message().contains("getNothing"), "{absent:?}");
    monas.stop().await;
}

#[tokio::test]
async fn an_answer_and_a_refusal_are_those_of_the_rest_api() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut serve(home.path())).await;
    let session = Session::open(&monas).await;
    let open = session.authenticate(json!({})).await.unwrap();
    for (method, path) in [
        ("getAgents", "/api/agents"),
        ("getApprovals", "/api/approvals"),
        ("getSessions", "/api/sessions"),
        ("getFilesTree", "/api/files/tree"),
        ("getStatus", "/api/status"),
        ("getSession", "/api/session"),
    ] {
        let (status, over_rest) = rest(&monas, None, "GET", path, Json::Null).await;
        assert_eq!(status, 200, "{path}: {over_rest}");
        assert_eq!(
            open.call(method, json!({})).await.unwrap(),
            over_rest,
            "{method}"
        );
    }
    let wrong = json!({ "depth": 99 });
    let error = open.call("getFilesTree", wrong).await.unwrap_err();
    let (_, over_rest) = rest(&monas, None, "GET", "/api/files/tree?depth=99", Json::Null).await;
    assert_eq!(error.message(), over_rest["error"]);
    assert_eq!(code(&error), ("invalid".to_owned(), 422));
    assert_eq!(
        error
            .prop("field")
            .and_then(|it| it.as_str().map(str::to_owned))
            .as_deref(),
        Some("depth")
    );
    let error = open.call("getSessionsById", json!({})).await.unwrap_err();
    assert_eq!(error.message(), "id is missing");
    // Calls of the door are in the audit trail under its own wire.
    let (_, metrics) = (0, open.call("getMetrics", json!({})).await.unwrap());
    let metrics = metrics.as_str().unwrap().to_owned();
    assert!(metrics.contains("wire=\"workspace\""), "{metrics}");
    monas.stop().await;
}

#[tokio::test]
async fn a_link_becomes_a_token_and_a_revoked_key_ends_the_session() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(serve(home.path()).env_remove("MONAS_OPEN")).await;
    let owner = made(&mut command(home.path()), &["--role", "admin"]).await;
    let body = json!({ "name": "ada", "role": "user" });
    let (status, added) = rest(&monas, Some(&owner), "POST", "/api/users", body).await;
    assert_eq!(status, 200, "{added}");
    let link = added["link"]["url"].as_str().unwrap();
    let session = Session::open(&monas).await;
    let ada = session.authenticate(json!({ "link": link })).await.unwrap();
    let signed_in = ada.call("signedIn", json!({})).await.unwrap();
    assert_eq!(
        (&signed_in["caller"], &signed_in["role"]),
        (&json!("ada"), &json!("user"))
    );
    let again = session.authenticate(json!({ "link": link })).await;
    assert_eq!(code(&again.err().unwrap()).1, 401, "a link counts once");
    let token = json!({ "token": signed_in["token"] });
    let ada = Session::open(&monas)
        .await
        .authenticate(token)
        .await
        .unwrap();
    assert_eq!(
        ada.call("signedIn", json!({})).await.unwrap()["caller"],
        "ada"
    );

    let key = json!({ "name": "page" });
    let made = ada.call("postKeys", key).await.unwrap();
    let session = Session::open(&monas).await;
    let with_key = session
        .authenticate(json!({ "token": made["secret"] }))
        .await
        .unwrap();
    let (_subscription, _told) = with_key.follow("followQuestions", json!({})).await.unwrap();
    ada.call("deleteKeysById", json!({ "id": made["id"] }))
        .await
        .unwrap();
    let ended = timeout(SOON, session.connection.closed()).await.unwrap();
    assert_eq!(code(&ended).0, "invalid_token", "{ended:?}");
    monas.stop().await;
}
