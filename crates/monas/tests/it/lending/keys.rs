//! A team on one server: each member with a role and a key of its own, over every wire, and every key taken back at once.

use std::path::Path;
use std::time::Duration;

use a2a::client::Version;
use a2a::types::{Answer, Task};
use axum::body::Body;
use futures_util::StreamExt as _;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use serde_json::{Value as Json, json};

use super::wires::{follow, get, is_refused, is_unknown, mcp, wires};
use super::{ask, client, endless, served_in};
use crate::support::program::{Ended, command, run};
use crate::support::server::Running;

/// How long anything may take.
const SOON: Duration = Duration::from_secs(60);

/// Runs a command on a data folder, without a server.
async fn on_data(folder: &Path, words: &[&str]) -> Ended {
    let mut command = command(folder);
    command.args(words).arg("--data").arg(folder);
    run(&mut command).await
}

/// A server on the data of a folder in which `root` administers; gives its key, too.
async fn administered(folder: &Path) -> (Running, String) {
    let words = ["user", "add", "root", "--role", "admin", "--key"];
    let made = on_data(folder, &words).await;
    assert_eq!(made.status.code(), Some(0), "{made:?}");
    let key = made.stdout.trim().to_owned();
    assert!(key.starts_with("monas-key-"), "{made:?}");
    assert!(!made.stderr.contains(&key), "{made:?}");
    (served_in(folder).await, key)
}

/// A request of an administrator that succeeds.
async fn done(server: &Running, root: &str, method: &str, path: &str, body: Json) -> Json {
    let (status, said) = ask(server, root, method, path, body).await;
    assert_eq!(status, 200, "{method} {path}: {said}");
    said
}

/// Adds a user with a key; gives the key.
async fn add(server: &Running, root: &str, name: &str, role: &str) -> String {
    let body = json!({ "name": name, "role": role, "key": true });
    let added = done(server, root, "POST", "/api/users", body).await;
    assert_eq!(added["user"]["role"], role);
    added["key"]["secret"].as_str().unwrap().to_owned()
}

/// A task of the caller with this key that does not end by itself.
async fn task_of(server: &Running, key: &str) -> Task {
    let caller = client(server, key, ("jsonrpc", Version::V1_0)).await;
    match caller.send_message(endless()).await.unwrap().payload {
        Answer::Task(task) => task,
        other => panic!("{other:?} is no task"),
    }
}

#[tokio::test]
async fn each_member_of_a_team_may_what_its_role_says_over_every_wire() {
    let home = tempfile::tempdir().unwrap();
    let (server, root) = administered(home.path()).await;
    let guest = add(&server, &root, "guest", "viewer").await;
    let ada = add(&server, &root, "eve", "user").await;
    let chief = add(&server, &root, "chief", "operator").await;
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "team", "version": "1" },
    });
    for (key, name, allowed) in [(&guest, "guest", 1), (&ada, "eve", 6), (&chief, "chief", 7)] {
        let said = done(&server, key, "GET", "/api/session", Json::Null).await;
        assert_eq!(
            (&said["user"], &said["scheme"]),
            (&json!(name), &json!("monas-key"))
        );
        assert_eq!(
            said["permissions"].as_array().unwrap().len(),
            allowed,
            "{said}"
        );
        let own = task_of(&server, key).await;
        for wire in wires() {
            let caller = client(&server, key, wire).await;
            let seen = caller.get_task(get(&own)).await.unwrap();
            assert_eq!(seen.id, own.id, "{name} {wire:?}");
            let forged = client(&server, &format!("{key}A"), wire).await;
            let seen = forged.get_task(get(&own)).await;
            assert!(is_unknown(&seen), "{name} {wire:?}: {seen:?}");
        }
        let (status, _) = mcp(&server, key, "initialize", hello.clone()).await;
        assert_eq!(status, 200, "{name}");
        for path in ["/acp/agents", "/metrics", "/api/keys"] {
            let (status, said) = ask(&server, key, "GET", path, Json::Null).await;
            assert_eq!(status, 200, "{name} {path}: {said}");
        }
        let (status, _) = ask(&server, key, "GET", "/api/audit", Json::Null).await;
        assert_eq!(status == 200, name == "chief", "{name}");
        for (method, path) in [
            ("GET", "/api/users"),
            ("GET", "/api/secrets"),
            ("POST", "/api/users"),
        ] {
            let (status, said) = ask(&server, key, method, path, json!({ "name": "x" })).await;
            assert_eq!(status, 403, "{name} {path}: {said}");
        }
    }
    // The same credential in the header of API keys.
    let mut http = server.client(crate::support::http::Version::One).await;
    let request = http.request("GET", "localhost", "/api/session");
    let request = request.header("x-api-key", &guest);
    let answer = http
        .send(request.body(axum::body::Body::empty()).unwrap())
        .await;
    assert!(
        answer.text.contains("\"user\":\"guest\""),
        "{}",
        answer.text
    );
    // A role that changes counts for the next call.
    done(
        &server,
        &root,
        "PUT",
        "/api/users/guest",
        json!({ "role": "operator" }),
    )
    .await;
    let (status, _) = ask(&server, &guest, "GET", "/api/audit", Json::Null).await;
    assert_eq!(status, 200);
    let listed = done(&server, &root, "GET", "/api/users", Json::Null).await;
    let names: Vec<_> = listed["users"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["chief", "eve", "guest", "root"]);
    server.stop().await;
    // Of no secret there is more than its hash.
    for file in std::fs::read_dir(home.path()).unwrap() {
        let path = file.unwrap().path();
        let Ok(content) = std::fs::read(&path) else {
            continue;
        };
        for key in [&root, &guest, &ada, &chief] {
            let found = content.windows(key.len()).any(|it| it == key.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
    let listed = on_data(home.path(), &["key", "list"]).await;
    assert!(
        listed
            .stdout
            .contains("of chief: everything its user may; used "),
        "{listed:?}"
    );
}

#[tokio::test]
async fn a_key_is_scoped_expires_and_is_taken_back_in_mid_stream() {
    let home = tempfile::tempdir().unwrap();
    let (server, root) = administered(home.path()).await;
    let eve = add(&server, &root, "eve", "user").await;
    let shown = task_of(&server, &eve).await;
    let make = async |by: &str, wanted: Json| -> (String, String) {
        let made = done(&server, by, "POST", "/api/keys", wanted).await;
        let text = |name: &str| made[name].as_str().unwrap().to_owned();
        (text("secret"), text("id"))
    };
    let (reader, _) = make(&eve, json!({ "scopes": ["read-only"], "name": "report" })).await;
    let (brief, _) = make(&root, json!({ "user": "eve", "for": "1s" })).await;
    for wanted in [
        json!({ "scopes": ["read_file"] }),
        json!({ "scope": ["read-only"] }),
        json!({ "for": "9999d" }),
    ] {
        let (status, said) = ask(&server, &eve, "POST", "/api/keys", wanted).await;
        assert_eq!(status, 422, "{said}");
    }
    let (status, _) = ask(
        &server,
        &eve,
        "POST",
        "/api/keys",
        json!({ "user": "root" }),
    )
    .await;
    assert_eq!(status, 403);
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    for wire in wires() {
        let viewer = client(&server, &reader, wire).await;
        assert!(viewer.get_task(get(&shown)).await.is_ok(), "{wire:?}");
        assert!(
            is_refused(&viewer.send_message(endless()).await),
            "{wire:?}"
        );
        let late = client(&server, &brief, wire).await;
        let seen = late.get_task(get(&shown)).await;
        assert!(is_unknown(&seen), "{wire:?}: {seen:?}");

        let (key, id) = make(&eve, json!({})).await;
        let caller = client(&server, &key, wire).await;
        let mut events = follow(&caller, &shown).await.unwrap();
        assert!(events.next().await.unwrap().is_ok(), "{wire:?}");
        done(
            &server,
            &eve,
            "DELETE",
            &format!("/api/keys/{id}"),
            Json::Null,
        )
        .await;
        let mut last = Ok(());
        while let Some(event) = events.next().await {
            last = event.map(drop);
        }
        assert!(is_unknown(&last), "{wire:?}: {last:?}");
        let seen = caller.get_task(get(&shown)).await;
        assert!(is_unknown(&seen), "{wire:?}: {seen:?}");
    }
    // With the user ends everything that it has, at once.
    let caller = client(&server, &eve, ("websocket", Version::V1_0)).await;
    let mut events = follow(&caller, &shown).await.unwrap();
    assert!(events.next().await.unwrap().is_ok());
    done(&server, &root, "DELETE", "/api/users/eve", Json::Null).await;
    let mut last = Ok(());
    while let Some(event) = events.next().await {
        last = event.map(drop);
    }
    assert!(is_unknown(&last), "{last:?}");
    for key in [&eve, &reader] {
        let (status, _) = ask(&server, key, "GET", "/api/session", Json::Null).await;
        assert_eq!(status, 401);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_sign_in_link_becomes_a_token_once() {
    let home = tempfile::tempdir().unwrap();
    let (server, root) = administered(home.path()).await;
    let added = done(
        &server,
        &root,
        "POST",
        "/api/users",
        json!({ "name": "eve" }),
    )
    .await;
    let url = added["link"]["url"].as_str().unwrap();
    let (page, link) = url.split_once("/#link=").unwrap();
    assert_eq!(page, server.url);
    let (status, _) = ask(&server, link, "GET", "/api/session", Json::Null).await;
    assert_eq!(status, 403, "a link redeems itself and does nothing else");
    let redeem = || ask(&server, link, "POST", "/api/session", Json::Null);
    let (first, second) = tokio::join!(redeem(), redeem());
    let mut signed: Vec<_> = [first, second]
        .into_iter()
        .filter(|it| it.0 == 200)
        .collect();
    assert_eq!(signed.len(), 1, "{signed:?}");
    assert_eq!(redeem().await.0, 401);
    let token = signed.remove(0).1;
    assert_eq!(token["user"], "eve");
    let token = token["token"].as_str().unwrap();
    let said = done(&server, token, "GET", "/api/session", Json::Null).await;
    assert_eq!(
        (&said["user"], &said["role"]),
        (&json!("eve"), &json!("user"))
    );
    // A further link is made by an administrator, and ends with the user, as the token does.
    let link = done(&server, &root, "POST", "/api/users/eve/link", Json::Null).await;
    let link = link["url"].as_str().unwrap().split_once("/#link=").unwrap();
    done(&server, &root, "DELETE", "/api/users/eve", Json::Null).await;
    for (method, secret) in [("POST", link.1), ("GET", token)] {
        let (status, _) = ask(&server, secret, method, "/api/session", Json::Null).await;
        assert_eq!(status, 401);
    }
    server.stop().await;
}

/// Opens a stream with this credential, and reads the first piece of it.
async fn stream(server: &Running, token: &str, path: &str, session: &str) -> Incoming {
    let mut client = server.client(crate::support::http::Version::One).await;
    let mut request = client
        .request("GET", "localhost", path)
        .header("accept", "text/event-stream")
        .header("authorization", format!("Bearer {token}"));
    if !session.is_empty() {
        request = request.header("mcp-session-id", session);
        request = request.header("mcp-protocol-version", "2025-06-18");
    }
    let answer = client.open(request.body(Body::empty()).unwrap()).await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    let mut body = answer.into_body();
    assert!(body.frame().await.is_some(), "{path}");
    // The connection is kept as long as its body.
    tokio::spawn(client.ended);
    body
}

/// It went wrong: the trail went on for a reader whose key was revoked, and streams of MCP stayed open.
#[tokio::test]
async fn streams_beside_a2a_end_with_the_key_or_the_user() {
    let home = tempfile::tempdir().unwrap();
    let (server, root) = administered(home.path()).await;
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "team", "version": "1" },
    });
    for whole in [false, true] {
        let key = add(&server, &root, "chief", "operator").await;
        let listed = done(&server, &key, "GET", "/api/keys", Json::Null).await;
        let id = listed["keys"][0]["id"].as_str().unwrap().to_owned();
        let session = session(&server, &key, &hello).await;
        let mut streams = Vec::new();
        for (path, session) in [
            ("/api/audit?follow=true", ""),
            ("/sse", ""),
            ("/mcp", &*session),
        ] {
            streams.push((path, stream(&server, &key, path, session).await));
        }
        let taken = match whole {
            true => "/api/users/chief".to_owned(),
            false => format!("/api/keys/{id}"),
        };
        done(&server, &root, "DELETE", &taken, Json::Null).await;
        for (path, body) in streams {
            let rest = tokio::time::timeout(SOON, body.collect()).await;
            rest.unwrap_or_else(|_| panic!("{path} goes on")).unwrap();
        }
        if !whole {
            done(&server, &root, "DELETE", "/api/users/chief", Json::Null).await;
        }
    }
    server.stop().await;
}

/// Opens a session of MCP; gives its id.
async fn session(server: &Running, key: &str, hello: &Json) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
    let mut client = server.client(crate::support::http::Version::One).await;
    let request = client
        .request("POST", "localhost", "/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("authorization", format!("Bearer {key}"))
        .body(Body::from(body.to_string()));
    let answer = client.send(request.unwrap()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let id = answer.headers["mcp-session-id"].to_str();
    id.unwrap().to_owned()
}

/// It went wrong: a caller that is in no row of the data could not be taken back with one command.
#[tokio::test]
async fn a_caller_that_is_no_user_of_the_data_is_removed_with_one_command() {
    let home = tempfile::tempdir().unwrap();
    let (server, root) = administered(home.path()).await;
    let shown = super::task(&server).await;
    let ada = client(&server, "ada-s3cret", ("websocket", Version::V1_0)).await;
    let mut events = follow(&ada, &shown).await.unwrap();
    assert!(events.next().await.unwrap().is_ok());
    let words = ["user", "remove", "ada", "--bearer", &root];
    let removed = on_data(home.path(), &words).await;
    assert_eq!(removed.stdout, "removed ada\n", "{removed:?}");
    assert!(
        removed.stderr.contains("it was no user of this server"),
        "{removed:?}"
    );
    let mut last = Ok(());
    while let Some(event) = events.next().await {
        last = event.map(drop);
    }
    assert!(is_unknown(&last), "{last:?}");
    let (status, _) = ask(&server, "ada-s3cret", "GET", "/api/session", Json::Null).await;
    assert_eq!(status, 401);
    let again = on_data(home.path(), &words).await;
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    let body = json!({ "name": "ada", "role": "viewer" });
    done(&server, &root, "POST", "/api/users", body).await;
    let said = done(&server, "ada-s3cret", "GET", "/api/session", Json::Null).await;
    assert_eq!(said["role"], "viewer", "{said}");
    server.stop().await;
}
