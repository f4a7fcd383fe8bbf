//! Names and pages that are let in, on both versions of HTTP.

use axum::body::Body;
use axum::http::StatusCode;
use monas::listen::{Guard, Options};

use super::Running;
use crate::support::http::{Answer, BOTH, Client, Version};

async fn start() -> Running {
    Running::start(Options {
        guard: Guard {
            hosts: vec!["agents.example".to_owned()],
            origins: vec!["https://listed.example".parse().unwrap()],
            ..Guard::default()
        },
        ..Options::default()
    })
    .await
}

async fn send(
    server: &Running,
    version: Version,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
) -> Answer {
    let mut client = Client::connect(server.address, version).await;
    let mut request = client.request(method, &server.authority(), path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    client.send(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn answers_to_its_own_names_only() {
    let server = start().await;
    for version in BOTH {
        for (host, status) in [
            ("localhost", StatusCode::OK),
            ("127.0.0.1:8080", StatusCode::OK),
            ("[::1]:8080", StatusCode::OK),
            ("agents.example", StatusCode::OK),
            ("evil.example", StatusCode::MISDIRECTED_REQUEST),
            ("localhost.evil.example", StatusCode::MISDIRECTED_REQUEST),
            ("10.0.0.1", StatusCode::MISDIRECTED_REQUEST),
        ] {
            let mut client = Client::connect(server.address, version).await;
            let request = client.request("GET", host, "/").body(Body::empty());
            let answer = client.send(request.unwrap()).await;
            assert_eq!(answer.status, status, "{version:?} {host}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn pages_of_foreign_origins_may_not_change_anything() {
    let server = start().await;
    let own = format!("http://{}", server.address);
    for version in BOTH {
        for (origin, status) in [
            (own.as_str(), StatusCode::OK),
            ("https://listed.example", StatusCode::OK),
            ("https://evil.example", StatusCode::FORBIDDEN),
            ("null", StatusCode::FORBIDDEN),
        ] {
            let answer = send(&server, version, "POST", "/echo", &[("origin", origin)]).await;
            assert_eq!(answer.status, status, "{version:?} {origin}");
        }
        let twice = [("origin", own.as_str()), ("origin", own.as_str())];
        let answer = send(&server, version, "POST", "/echo", &twice).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{version:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_foreign_page_can_open_no_socket() {
    let server = start().await;
    let headers = [
        ("origin", "https://evil.example"),
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
    ];
    let answer = send(&server, Version::One, "GET", "/", &headers).await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    server.stop().await;
}

#[tokio::test]
async fn only_listed_pages_see_answers_and_never_with_credentials() {
    let server = start().await;
    for version in BOTH {
        let ask = |origin, method| {
            let headers = [
                ("origin", origin),
                ("access-control-request-method", "POST"),
            ];
            let server = &server;
            async move { send(server, version, method, "/", &headers).await }
        };
        for method in ["OPTIONS", "GET"] {
            let listed = ask("https://listed.example", method).await;
            assert!(listed.status.is_success());
            assert_eq!(
                listed.headers["access-control-allow-origin"],
                "https://listed.example"
            );
            assert_eq!(listed.headers["vary"], "origin");
            assert!(
                !listed
                    .headers
                    .contains_key("access-control-allow-credentials")
            );

            let foreign = ask("https://evil.example", method).await;
            let shown = foreign.headers.keys();
            assert!(
                !shown
                    .map(|name| name.as_str())
                    .any(|name| name.starts_with("access-control")),
                "{:?}",
                foreign.headers
            );
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn every_answer_tells_browsers_to_guess_nothing() {
    let server = start().await;
    for (path, status) in [("/", StatusCode::OK), ("/nothing", StatusCode::NOT_FOUND)] {
        let answer = send(&server, Version::One, "GET", path, &[]).await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
        assert_eq!(answer.headers["referrer-policy"], "no-referrer");
        assert_eq!(
            answer.headers["cross-origin-resource-policy"],
            "same-origin"
        );
    }
    server.stop().await;
}
