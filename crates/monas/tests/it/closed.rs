//! The server as users get it: every call needs a credential, and the person at the machine has one without doing anything.
//!
//! - `tokens`: tokens that other programs signed, and those that the program makes
//! - `owner`: the link, and commands without flags

mod owner;
mod tokens;

use a2a::binding::BINDINGS;
use a2a::client::{Client, Error, Settings};
use axum::body::Body;
use axum::http::StatusCode;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_ORIGIN, WWW_AUTHENTICATE,
};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::http::{self, Answer, Version};
use crate::support::program::{Monas, closed, command, living, run};

/// An answer of the server to a request with these headers.
async fn ask(monas: &Monas, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let address = monas.authority().parse().unwrap();
    let mut client = http::Client::connect(address, Version::One).await;
    let mut request = client.request(method, monas.authority(), path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    client.send(request.body(Body::empty()).unwrap()).await
}

/// The status of a WebSocket's handshake.
async fn handshake(monas: &Monas, path: &str) -> StatusCode {
    let address = monas.authority().parse().unwrap();
    let mut client = http::Client::connect(address, Version::One).await;
    let request = client
        .request("GET", monas.authority(), path)
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-protocol", "a2a.v1")
        .header("sec-websocket-key", "AQIDBAUGBwgJCgsMDQ4PEA==");
    let opened = client.open(request.body(Body::empty()).unwrap()).await;
    opened.unwrap().status()
}

/// What the agent calls the caller, over each binding, or how it was refused.
async fn over_every_binding(monas: &Monas, settings: &Settings) -> Vec<Result<String, Error>> {
    let mut answers = Vec::new();
    for binding in BINDINGS {
        let mut settings = settings.clone();
        settings.bindings = vec![binding.key.to_owned()];
        settings.attempts = 1;
        let client = Client::discover(&monas.url, settings).await.unwrap();
        answers.push(crate::access::asked(&client).await);
    }
    answers
}

/// A token as the program prints it.
pub(crate) async fn made(command: &mut Command, words: &[&str]) -> String {
    let ended = run(command.arg("token").args(words)).await;
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
    ended.stdout.trim_end().to_owned()
}

#[tokio::test]
async fn without_a_credential_there_is_nothing_but_what_leads_to_one() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut closed(home.path())).await;
    for path in [
        "/",
        "/healthz",
        "/readyz",
        "/.well-known/agent-card.json",
        "/agents/default/.well-known/agent-card.json",
        "/openapi.json",
        "/docs",
    ] {
        let answer = ask(&monas, "GET", path, &[]).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }
    for (method, path) in [
        ("GET", "/api/agents"),
        ("GET", "/api/no-such-route"),
        ("DELETE", "/api/agents"),
        ("GET", "/api/sessions"),
        ("PUT", "/api/files/content"),
        ("POST", "/openapi.json"),
        ("GET", "/metrics"),
        ("GET", "/operator/backup"),
        ("POST", "/a2a/jsonrpc"),
        ("GET", "/a2a/rest/tasks"),
        ("GET", "/acp/agents"),
        ("POST", "/mcp"),
        ("GET", "/sse"),
        ("GET", "/no/such/address"),
        ("GET", "/agents/nobody/a2a/rest/tasks"),
        ("PUT", "/healthz"),
        // A token in an address is one on handshakes alone, and a wrong one is no credential at all.
        ("GET", "/api/agents?token=wrong"),
    ] {
        let answer = ask(&monas, method, path, &[]).await;
        assert_eq!(answer.status, 401, "{method} {path}: {answer:?}");
        let challenge = &answer.headers[WWW_AUTHENTICATE];
        assert_eq!(challenge, r#"Bearer realm="monas""#, "{method} {path}");
        if path.starts_with("/api") {
            let said: Value = serde_json::from_str(&answer.text).unwrap();
            let expected = json!({ "error": "unauthorized", "code": "unauthorized" });
            assert_eq!(said, expected, "{path}");
        }
        let wrong = [("authorization", "Bearer wrong")];
        let answer = ask(&monas, method, path, &wrong).await;
        assert_eq!(answer.status, 401, "{method} {path}: {answer:?}");
        assert!(!answer.text.contains("wrong"), "{answer:?}");
    }
    for path in ["/ws/a2a", "/ws/chat"] {
        assert_eq!(handshake(&monas, path).await, 401, "{path}");
    }
    for answer in over_every_binding(&monas, &Settings::default()).await {
        assert!(crate::access::is_401(&answer), "{answer:?}");
    }
    // With a credential the same addresses are there, or are not.
    let token = format!("Bearer {}", made(&mut command(home.path()), &[]).await);
    let known = [("authorization", &*token)];
    for (path, status) in [
        ("/api/agents", 200),
        ("/metrics", 200),
        ("/a2a/rest/tasks?A2A-Version=1.0", 200),
        ("/no/such/address", 404),
        ("/api/no-such-route", 404),
    ] {
        let answer = ask(&monas, "GET", path, &known).await;
        assert_eq!(answer.status, status, "{path}: {answer:?}");
    }
    monas.stop().await;
}

#[tokio::test]
async fn pages_of_all_origins_may_call_with_a_token_and_never_with_what_browsers_add() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut closed(home.path())).await;
    let token = format!("Bearer {}", made(&mut command(home.path()), &[]).await);
    let page = ("origin", "https://page.example");
    let asked = ("access-control-request-method", "POST");
    let preflight = ask(&monas, "OPTIONS", "/a2a/jsonrpc", &[page, asked]).await;
    assert_eq!(preflight.status, 204);
    let answer = ask(
        &monas,
        "GET",
        "/api/agents",
        &[page, ("authorization", &token)],
    )
    .await;
    assert_eq!(answer.status, 200);
    let refused = ask(&monas, "GET", "/api/agents", &[page, ("cookie", "token=1")]).await;
    assert_eq!(refused.status, 401);
    for answer in [&preflight, &answer, &refused] {
        assert_eq!(answer.headers[ACCESS_CONTROL_ALLOW_ORIGIN], page.1);
        let credentials = answer.headers.get(ACCESS_CONTROL_ALLOW_CREDENTIALS);
        assert_eq!(credentials, None, "{answer:?}");
    }
    // A name that leads to this machine is not one of the server, whatever it shows.
    let rebound = [("host", "page.example"), ("authorization", &*token)];
    let address = monas.authority().parse().unwrap();
    let mut client = http::Client::connect(address, Version::One).await;
    let request = client.request("GET", rebound[0].1, "/api/agents");
    let request = request.header("authorization", &*token);
    let answer = client.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, 421);
    monas.stop().await;

    // An open server answers the origins of its configuration alone.
    let mut open = command(home.path());
    open.args(["--allow-origin", "https://friend.example"]);
    let monas = Monas::start(&mut open).await;
    let read = ask(&monas, "GET", "/api/agents", &[page]).await;
    assert_eq!(read.headers.get(ACCESS_CONTROL_ALLOW_ORIGIN), None);
    assert_eq!(
        ask(&monas, "POST", "/a2a/jsonrpc", &[page]).await.status,
        403
    );
    let friend = [("origin", "https://friend.example")];
    let read = ask(&monas, "GET", "/api/agents", &friend).await;
    assert_eq!(read.headers[ACCESS_CONTROL_ALLOW_ORIGIN], friend[0].1);
    monas.stop().await;
}

#[tokio::test]
async fn an_open_server_has_an_operator_without_a_name_and_stays_on_this_machine() {
    let home = tempfile::tempdir().unwrap();
    let monas = Monas::start(&mut living(home.path())).await;
    for path in [
        "/api/agents",
        "/metrics",
        "/operator/webhooks/dead",
        "/api/audit",
    ] {
        let answer = ask(&monas, "GET", path, &[]).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }
    assert_eq!(ask(&monas, "GET", "/nowhere", &[]).await.status, 404);
    let wrong = [("authorization", "Bearer wrong")];
    assert_eq!(ask(&monas, "GET", "/api/agents", &wrong).await.status, 401);
    monas.stop().await;

    let arguments = [
        "--listen",
        "0.0.0.0:0",
        "--public-url",
        "https://agents.example",
    ];
    let ended = run(living(home.path()).args(arguments).arg("--open")).await;
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    let expected =
        "only loopback addresses are allowed; others need open = false and a public_url of https";
    assert!(ended.stderr.contains(expected), "{ended:?}");
}
