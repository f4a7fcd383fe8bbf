//! Attacks on a whole server, over every wire of it: pages of other origins, names that are not the server's, requests that can be
//! read in two ways, credentials that are doubled.

use access::{Callers, Hash, Unauthenticated};
use axum::body::Body;
use axum::http::StatusCode;
use monas::config::Config;
use monas::config::access::{Access, Kind, Scheme};

use crate::support::http::{Answer, BOTH, Version, raw};
use crate::support::server::{Running, config};

/// A route of each wire that takes a body.
const POSTS: [&str; 8] = [
    "/a2a/jsonrpc",
    "/a2a/rest/message:send",
    GRPC,
    CAPNWEB,
    "/mcp",
    "/acp/runs",
    "/api/memory/query",
    "/messages",
];

const CAPNWEB: &str = "/a2a/capnweb";

const GRPC: &str = "/lf.a2a.v1.A2AService/SendMessage";

/// A route of each wire that is a WebSocket.
const SOCKETS: [&str; 5] = [
    "/ws/a2a",
    "/ws/chat",
    "/a2a/capnweb",
    "/acp/capnweb",
    "/workspace/capnweb",
];

/// Callers with bearer tokens.
fn closed() -> Config {
    let mut callers = Callers::default();
    for name in ["ada", "bob"] {
        let hash = Hash::of(format!("token-of-{name}"));
        callers.add(name, hash, &[]).unwrap();
    }
    let mut config = config();
    config.access = Access {
        schemes: vec![Scheme {
            name: "tokens".to_owned(),
            description: String::new(),
            kind: Kind::Bearer(callers),
        }],
        unauthenticated: Unauthenticated::Refused,
        ..Access::default()
    };
    config
}

async fn ask(
    server: &Running,
    version: Version,
    (method, host, path): (&str, &str, &str),
    headers: &[(&str, &str)],
) -> Answer {
    let mut client = server.client(version).await;
    let mut request = client.request(method, host, path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if path == GRPC {
        request = request.header("content-type", "application/grpc");
    }
    let body = if method == "POST" { "{}" } else { "" };
    client.send(request.body(Body::from(body)).unwrap()).await
}

const UPGRADE: [(&str, &str); 4] = [
    ("connection", "upgrade"),
    ("upgrade", "websocket"),
    ("sec-websocket-version", "13"),
    ("sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="),
];

#[tokio::test]
async fn a_foreign_page_reaches_no_wire_also_under_a_name_of_its_own() {
    let server = Running::serve(&config()).await;
    let evil = "https://evil.example";
    for version in BOTH {
        for path in POSTS {
            for origin in [evil, "null", "http://localhost.evil.example"] {
                let request = ("POST", "localhost", path);
                let answer = ask(&server, version, request, &[("origin", origin)]).await;
                assert_eq!(answer.status, StatusCode::FORBIDDEN, "{origin} {path}");
            }
            // DNS rebinding: for the browser, the page and the server have the same origin.
            let request = ("POST", "evil.example", path);
            for headers in [&[("origin", "http://evil.example")][..], &[]] {
                let answer = ask(&server, version, request, headers).await;
                assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST, "{path}");
            }
        }
        for path in [
            "/",
            "/.well-known/agent-card.json",
            "/api/agents",
            "/metrics",
        ] {
            // What a proxy adds does not make a name ours.
            let headers = [
                ("x-forwarded-host", "localhost"),
                ("forwarded", "host=localhost"),
            ];
            let answer = ask(&server, version, ("GET", "evil.example", path), &headers).await;
            assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST, "{path}");
        }
    }
    for path in SOCKETS {
        for (host, origin, status) in [
            ("localhost", evil, StatusCode::FORBIDDEN),
            ("localhost", "null", StatusCode::FORBIDDEN),
            (
                "evil.example",
                "http://evil.example",
                StatusCode::MISDIRECTED_REQUEST,
            ),
        ] {
            let headers = [&UPGRADE[..], &[("origin", origin)]].concat();
            let answer = ask(&server, Version::One, ("GET", host, path), &headers).await;
            assert_eq!(answer.status, status, "{origin} {path}");
        }
    }
    server.stop().await;
}

/// The status lines of all answers on a connection that these bytes were sent on.
async fn statuses(server: &Running, bytes: String) -> Vec<String> {
    let answer = raw(server.address, bytes.as_bytes()).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let lines = answer
        .lines()
        .filter_map(|line| line.strip_prefix("HTTP/1.1 "));
    lines.map(|line| line[..3].to_owned()).collect()
}

#[tokio::test]
async fn a_request_that_could_be_read_in_two_ways_is_refused() {
    let server = Running::serve(&config()).await;
    let smuggled = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let close = "connection: close\r\n";
    for (headers, status) in [
        // Two lengths, and codings of which the last is not chunked: nothing behind the head is taken for a request.
        (
            "host: localhost\r\ncontent-length: 0\r\ncontent-length: 5\r\n",
            "400",
        ),
        ("host: localhost\r\ncontent-length: 0, 5\r\n", "400"),
        ("host: localhost\r\ncontent-length: +0\r\n", "400"),
        ("host: localhost\r\ntransfer-encoding: identity\r\n", "400"),
        (
            "host: localhost\r\ntransfer-encoding: chunked, identity\r\n",
            "400",
        ),
        ("host: localhost\r\ntransfer-encoding : chunked\r\n", "400"),
        (" host: localhost\r\n", "400"),
        // Two hosts, and none.
        (
            "host: localhost\r\nhost: evil.example\r\nconnection: close\r\n",
            "421",
        ),
        (
            "host: localhost\r\nhost: localhost\r\nconnection: close\r\n",
            "421",
        ),
        (
            "host: localhost@evil.example\r\nconnection: close\r\n",
            "421",
        ),
        ("connection: close\r\n", "421"),
    ] {
        let bytes = format!("POST /a2a/jsonrpc HTTP/1.1\r\n{headers}\r\n{smuggled}");
        assert_eq!(statuses(&server, bytes).await, [status], "{headers:?}");
    }
    // The target of the first line and the header name two hosts.
    let bytes =
        format!("GET http://evil.example/healthz HTTP/1.1\r\nhost: localhost\r\n{close}\r\n");
    assert_eq!(statuses(&server, bytes).await, ["421"]);
    // A length beside chunks does not count (RFC 9112 6.3): the body ends with its last chunk.
    let chunked = "content-length: 4\r\ntransfer-encoding: chunked\r\n";
    let bytes = format!(
        "POST /a2a/jsonrpc HTTP/1.1\r\nhost: localhost\r\n{chunked}{close}\r\n0\r\n\r\n{smuggled}"
    );
    assert_eq!(statuses(&server, bytes).await.len(), 1);

    // Two versions of the protocol, in headers or in a header and the address.
    for (path, headers) in [
        (
            "/a2a/jsonrpc",
            &[("a2a-version", "1.0"), ("a2a-version", "0.3")][..],
        ),
        ("/a2a/jsonrpc?A2A-Version=0.3", &[("a2a-version", "1.0")]),
    ] {
        let mut client = server.client(Version::One).await;
        let mut request = client.request("POST", "localhost", path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}"#;
        let request = request.header("content-type", "application/json");
        let answer = client.send(request.body(Body::from(call)).unwrap()).await;
        assert!(answer.text.contains("-32009"), "{path}: {}", answer.text);
    }
    server.stop().await;
}

#[tokio::test]
async fn doubled_credentials_are_refused_on_every_wire() {
    let server = Running::serve(&closed()).await;
    let (ada, bob) = ("Bearer token-of-ada", "Bearer token-of-bob");
    for version in BOTH {
        for path in POSTS {
            let request = ("POST", "localhost", path);
            let right = ask(&server, version, request, &[("authorization", ada)]).await;
            let refused = |answer: &Answer| match path == GRPC {
                // gRPC says it in a status of its own.
                true => answer
                    .headers
                    .get("grpc-status")
                    .is_some_and(|it| it == "16"),
                false => answer.status == StatusCode::UNAUTHORIZED,
            };
            assert!(!refused(&right), "{path}: {right:?}");
            for headers in [
                &[("authorization", ada), ("authorization", ada)][..],
                &[("authorization", ada), ("authorization", bob)],
                &[("authorization", bob), ("authorization", "Bearer wrong")],
                &[("authorization", "Bearer token-of-ada, Bearer token-of-bob")],
                &[("authorization", "Bearer  ")],
                &[("x-forwarded-user", "ada"), ("x-remote-user", "ada")],
                &[],
            ] {
                let answer = ask(&server, version, request, headers).await;
                let named = headers.iter().any(|(name, _)| *name == "authorization");
                if path == CAPNWEB && !named {
                    // A session without credentials may begin, to call `authenticate`; this body calls nothing.
                    assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{answer:?}");
                    continue;
                }
                assert!(
                    refused(&answer),
                    "{version:?} {path} {headers:?}: {answer:?}"
                );
            }
        }
    }
    for path in SOCKETS {
        let doubled = [("authorization", ada), ("authorization", bob)];
        let headers = [&UPGRADE[..], &doubled].concat();
        let answer = ask(&server, Version::One, ("GET", "localhost", path), &headers).await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{path}");
    }
    server.stop().await;
}
