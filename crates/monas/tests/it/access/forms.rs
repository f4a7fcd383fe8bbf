//! Refusals in the form of each binding, and the routes that need no credentials.

use axum::body::Body;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{self, Error as SocketError};

use super::cases::bearer_tokens_are_known_over_every_binding as tokens;
use crate::support::http::{Answer, Version};
use crate::support::server::Running;

/// Posts to an address with these headers.
async fn post(server: &Running, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
    send(
        server,
        Version::One,
        "POST",
        path,
        headers,
        body.to_string(),
    )
    .await
}

async fn send(
    server: &Running,
    version: Version,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Answer {
    let mut client = server.client(version).await;
    let mut request = client.request(method, "localhost", path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    client.send(request.body(body.into()).unwrap()).await
}

const JSON: (&str, &str) = ("content-type", "application/json");
const NEW: (&str, &str) = ("a2a-version", "1.0");
const WRONG: (&str, &str) = ("authorization", "Bearer wrong");
const CHALLENGE: &str = r#"Bearer realm="monas""#;

fn challenge(answer: &Answer) -> &str {
    answer.headers["www-authenticate"].to_str().unwrap()
}

#[tokio::test]
async fn json_rpc_says_401_and_an_error_of_its_own() {
    let server = tokens().start().await;
    for method in ["SendMessage", "message/send", "SendStreamingMessage"] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": {} });
        let answer = post(&server, "/a2a/jsonrpc", &[JSON, NEW], &body).await;
        assert_eq!(
            (answer.status.as_u16(), challenge(&answer)),
            (401, CHALLENGE)
        );
        let error: Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(error["error"]["code"], -31401, "{error}");
        assert_eq!(error["error"]["data"][0]["reason"], "UNAUTHENTICATED");
        let answer = post(&server, "/a2a/jsonrpc", &[JSON, NEW, WRONG], &body).await;
        assert_eq!(answer.status, 401);
        assert!(challenge(&answer).ends_with(r#"error="invalid_token""#));
    }
    server.stop().await;
}

#[tokio::test]
async fn rest_says_401_whatever_is_asked_for() {
    let server = tokens().start().await;
    for (method, path) in [
        ("POST", "/a2a/rest/message:send"),
        ("POST", "/a2a/rest/v1/message:send"),
        ("GET", "/a2a/rest/tasks"),
        ("GET", "/a2a/rest/v1/tasks/1"),
        ("GET", "/a2a/rest/extendedAgentCard"),
        ("GET", "/a2a/rest/nothing"),
    ] {
        let answer = send(&server, Version::One, method, path, &[JSON], "{}").await;
        assert_eq!(
            (answer.status.as_u16(), challenge(&answer)),
            (401, CHALLENGE)
        );
        let said: Value = serde_json::from_str(&answer.text).unwrap();
        let error = if path.contains("/v1/") {
            assert_eq!(said["code"], -31401, "{path}: {said}");
            &said
        } else {
            assert_eq!(said["error"]["status"], "UNAUTHENTICATED", "{path}: {said}");
            &said["error"]
        };
        let message = "not authenticated: no credentials";
        assert_eq!(error["message"], message, "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn grpc_says_unauthenticated_and_its_health_check_is_public() {
    let server = tokens().start().await;
    let grpc = [("content-type", "application/grpc"), ("te", "trailers")];
    for path in [
        "/lf.a2a.v1.A2AService/SendMessage",
        "/a2a.v1.A2AService/SendMessage",
        "/a2a/grpc/lf.a2a.v1.A2AService/GetTask",
    ] {
        let answer = send(&server, Version::Two, "POST", path, &grpc, vec![0; 5]).await;
        assert_eq!(answer.status, 200);
        assert_eq!(answer.headers["grpc-status"], "16", "{path}: {answer:?}");
        assert_eq!(challenge(&answer), CHALLENGE);
    }
    let path = "/grpc.health.v1.Health/Check";
    let answer = send(&server, Version::Two, "POST", path, &grpc, vec![0; 5]).await;
    assert!(!answer.headers.contains_key("grpc-status"), "{answer:?}");
    server.stop().await;
}

#[tokio::test]
async fn a_websocket_is_not_opened() {
    let server = tokens().start().await;
    for wrong in [None, Some("Bearer wrong")] {
        let url = format!("ws://{}/ws/a2a", server.address);
        let mut request = url.into_client_request().unwrap();
        if let Some(wrong) = wrong {
            let value = tungstenite::http::HeaderValue::from_static(wrong);
            request.headers_mut().insert("authorization", value);
        }
        let stream = tokio::net::TcpStream::connect(server.address)
            .await
            .unwrap();
        let opened = tokio_tungstenite::client_async(request, stream).await;
        let Err(SocketError::Http(answer)) = opened else {
            panic!("{opened:?}");
        };
        assert_eq!(answer.status(), 401);
        assert!(answer.headers().contains_key("www-authenticate"));
    }
    server.stop().await;
}

#[tokio::test]
async fn the_card_and_the_health_check_are_public_and_nothing_else_is() {
    let server = tokens().start().await;
    for path in [
        "/",
        "/healthz",
        "/readyz",
        "/.well-known/agent-card.json",
        "/.well-known/agent.json",
    ] {
        assert_eq!(server.get(path).await.status, 200, "{path}");
    }
    for path in ["/metrics", "/sut/store", "/operator/webhooks/dead"] {
        let get = async |token: &str| {
            let value = format!("Bearer {token}");
            let headers = [("authorization", &*value)];
            send(&server, Version::One, "GET", path, &headers, "").await
        };
        assert_eq!(server.get(path).await.status, 401, "{path}");
        assert_eq!(get("wrong").await.status, 401, "{path}");
        assert_eq!(get("token-of-ada").await.status, 200, "{path}");
        // Bob is no operator.
        let answer = get("token-of-bob").await;
        let expected = if path.starts_with("/operator") {
            403
        } else {
            200
        };
        assert_eq!(answer.status.as_u16(), expected, "{path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn credentials_that_are_shown_twice_or_in_another_place_do_not_count() {
    let server = tokens().start().await;
    let right = ("authorization", "Bearer token-of-ada");
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {} });
    let ask = async |path: &str, headers: &[(&str, &str)]| {
        let headers: Vec<_> = [JSON, NEW].iter().chain(headers).copied().collect();
        post(&server, path, &headers, &body).await.status.as_u16()
    };
    let huge = format!("Bearer {}", "x".repeat(20 << 10));
    assert_eq!(ask("/a2a/jsonrpc", &[right]).await, 200);
    assert_eq!(ask("/a2a/jsonrpc", &[right, right]).await, 401);
    assert_eq!(ask("/a2a/jsonrpc", &[("authorization", &huge)]).await, 401);
    assert_eq!(
        ask("/a2a/jsonrpc", &[("x-api-key", "token-of-ada")]).await,
        401
    );
    assert_eq!(
        ask("/a2a/jsonrpc", &[("cookie", "token=token-of-ada")]).await,
        401
    );
    let path = "/a2a/jsonrpc?access_token=token-of-ada";
    assert_eq!(ask(path, &[]).await, 401);
    server.stop().await;
}
