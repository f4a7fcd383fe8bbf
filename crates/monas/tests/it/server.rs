//! A whole server: what is there, what is not, and what the card and the page say about it.

use a2a::binding::{BINDINGS, Binding, BindingUse};
use axum::body::Body;
use axum::http::StatusCode;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::agent::{Sent, call, stream, texts};
use crate::support::http::{BOTH, Client, Version};
use crate::support::server::{Running, config};

/// The names of the bindings that the card lists for 1.0, in its order.
async fn listed(server: &Running) -> Vec<String> {
    let card: Value =
        serde_json::from_str(&server.get("/.well-known/agent-card.json").await.text).unwrap();
    let interfaces = card["supportedInterfaces"].as_array().unwrap().iter();
    let new = interfaces.filter(|interface| interface["protocolVersion"] == "1.0");
    let name = |interface: &Value| interface["protocolBinding"].as_str().unwrap().to_owned();
    new.map(name).collect()
}

/// Asks gRPC's health service whether the server lives: the status, and the bytes of the answer.
async fn check_health(client: &mut Client) -> (StatusCode, String) {
    let request = client
        .request("POST", "localhost", "/grpc.health.v1.Health/Check")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        // A message of no bytes.
        .body(Body::from(vec![0; 5]));
    let answer = client.send(request.unwrap()).await;
    (answer.status, answer.text)
}

#[tokio::test]
async fn two_servers_run_in_one_process() {
    let (one, other) = (
        Running::serve(&config()).await,
        Running::serve(&config()).await,
    );
    for server in [&one, &other] {
        let mut client = server.client(Version::One).await;
        let sent = Sent {
            id: "1",
            text: "task hello",
            ..Sent::default()
        };
        let answer = call(&mut client, "SendMessage", sent.request()).await;
        assert_eq!(
            answer["result"]["task"]["status"]["state"],
            "TASK_STATE_COMPLETED"
        );
        let list = call(&mut client, "ListTasks", json!({})).await;
        assert_eq!(
            list["result"]["totalSize"], 1,
            "each has a store of its own"
        );
    }
    one.stop().await;
    other.stop().await;
}

#[tokio::test]
async fn the_agent_is_reached_over_every_binding_and_both_versions_of_http() {
    let server = Running::serve(&config()).await;
    assert_eq!(
        listed(&server).await,
        [
            "JSONRPC",
            "HTTP+JSON",
            "GRPC",
            "urn:monas:a2a:binding:capnweb:1",
            "urn:monas:a2a:binding:websocket:1"
        ]
    );
    for version in BOTH {
        let mut client = server.client(version).await;
        let id = format!("{version:?}");
        let sent = Sent {
            id: &id,
            text: "echo hello",
            ..Sent::default()
        };
        let answer = call(&mut client, "SendMessage", sent.request()).await;
        assert_eq!(texts(&answer["result"]["message"]["parts"]), "echo hello");

        let request = client
            .request("GET", "localhost", "/a2a/rest/tasks")
            .header("a2a-version", "1.0")
            .body(Body::empty());
        assert_eq!(client.send(request.unwrap()).await.status, StatusCode::OK);
    }
    let mut client = server.client(Version::Two).await;
    // Five bytes of frame, then status = SERVING.
    assert_eq!(
        check_health(&mut client).await,
        (StatusCode::OK, "\0\0\0\0\u{2}\u{8}\u{1}".to_owned())
    );
    server.stop().await;
}

/// Clients that join a base address and an empty path write a slash at the end, and were told that there is nothing.
#[tokio::test]
async fn a_slash_at_the_end_is_the_same_address() {
    let server = Running::serve(&config()).await;
    for version in BOTH {
        let mut client = server.client(version).await;
        for path in [
            "/a2a/jsonrpc",
            "/a2a/rest/message:send",
            "/agents/default/a2a/jsonrpc",
            "/mcp",
            "/acp/runs",
            "/api/memory/query",
        ] {
            let mut post = async |path: &str| {
                let request = client
                    .request("POST", "localhost", path)
                    .header("content-type", "application/json")
                    .header("accept", "application/json, text/event-stream")
                    .header("a2a-version", "1.0")
                    .body(Body::from("{}"));
                let answer = client.send(request.unwrap()).await;
                (answer.status, answer.text)
            };
            let (plain, slashed) = (post(path).await, post(&format!("{path}/")).await);
            assert_ne!(plain.0, StatusCode::NOT_FOUND, "{path}: {}", plain.1);
            assert_eq!(slashed, plain, "{path}");
        }
        for path in [
            "/.well-known/agent-card.json",
            "/a2a/rest/tasks",
            "/acp/agents",
            "/api/agent/status",
            "/healthz",
            "/agents/default/.well-known/agent-card.json",
        ] {
            let query = "?A2A-Version=1.0";
            let plain = server.get(&format!("{path}{query}")).await;
            let slashed = server.get(&format!("{path}/{query}")).await;
            assert_eq!(plain.status, StatusCode::OK, "{path}");
            assert_eq!(slashed.status, StatusCode::OK, "{path}");
            assert_eq!(slashed.text, plain.text, "{path}");
        }
    }
    // Handshakes of WebSockets, too.
    for path in ["/ws/a2a", "/a2a/capnweb", "/acp/capnweb"] {
        for path in [path.to_owned(), format!("{path}/")] {
            let mut client = server.client(Version::One).await;
            let request = client
                .request("GET", "localhost", &path)
                .header("connection", "upgrade")
                .header("upgrade", "websocket")
                .header("sec-websocket-version", "13")
                .header("sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA==")
                .body(Body::empty());
            let answer = client.open(request.unwrap()).await.unwrap();
            assert_eq!(answer.status(), StatusCode::SWITCHING_PROTOCOLS, "{path}");
        }
    }
    // The slash of the root is its path, and two slashes are another address.
    assert_eq!(server.get("/").await.status, StatusCode::OK);
    assert_eq!(server.get("/healthz//").await.status, StatusCode::NOT_FOUND);
    server.stop().await;
}

#[tokio::test]
async fn json_rpc_is_also_at_the_root_of_each_agent() {
    let server = Running::serve(&config()).await;
    for version in BOTH {
        let mut client = server.client(version).await;
        for path in ["/", "/agents/default", "/agents/default/"] {
            let body = json!({
                "jsonrpc": "2.0", "id": 1, "method": "SendMessage",
                "params": Sent { id: path, text: "echo hello", ..Sent::default() }.request(),
            });
            let request = client
                .request("POST", "localhost", path)
                .header("content-type", "application/json")
                .header("a2a-version", "1.0")
                .body(Body::from(body.to_string()));
            let answer = client.send(request.unwrap()).await;
            let answer: Value = serde_json::from_str(&answer.text).unwrap();
            assert_eq!(texts(&answer["result"]["message"]["parts"]), "echo hello");
        }
    }
    let page = server.get("/").await;
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    server.stop().await;

    let mut config = config();
    config.bindings.set("jsonrpc", BindingUse::Off).unwrap();
    let server = Running::serve(&config).await;
    let mut client = server.client(Version::One).await;
    let request = client.request("POST", "localhost", "/").body(Body::empty());
    let answer = client.send(request.unwrap()).await;
    assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
    server.stop().await;
}

#[tokio::test]
async fn the_agent_says_what_it_understands() {
    let server = Running::serve(&config()).await;
    let mut client = server.client(Version::One).await;
    let sent = Sent {
        id: "1",
        text: "what is this?",
        ..Sent::default()
    };
    let answer = call(&mut client, "SendMessage", sent.request()).await;
    assert!(
        texts(&answer["result"]["message"]["parts"]).contains("`echo hello`"),
        "{answer}"
    );

    let sent = Sent {
        id: "2",
        text: "burst 3 1ms",
        ..Sent::default()
    };
    let events = stream(&mut client, "SendStreamingMessage", sent.request()).await;
    let pieces: Vec<_> = events
        .iter()
        .map(|event| texts(&event["artifactUpdate"]["artifact"]["parts"]))
        .collect();
    assert_eq!(pieces, ["", "", "c0 ", "c1 ", "c2 ", ""]);
    server.stop().await;
}

/// What a manifest took away could still be asked for in words.
#[tokio::test]
async fn what_the_manifest_takes_away_is_not_done_in_words_either() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("echo.toml");
    std::fs::write(&path, "name = 'Echo'\nskills = ['echo']\n").unwrap();
    let mut config = config();
    config.manifest = Some(path);
    let server = Running::serve(&config).await;
    let mut client = server.client(Version::One).await;
    let mut said = Vec::new();
    for text in ["task hello", "burst 3", "echo hello"] {
        let sent = Sent {
            id: text,
            text,
            ..Sent::default()
        };
        let answer = call(&mut client, "SendMessage", sent.request()).await;
        said.push(texts(&answer["result"]["message"]["parts"]));
    }
    let help = "I am a small agent to try the protocol with. Say `echo hello` for a message.";
    assert_eq!(said, [help, help, "echo hello"]);
    server.stop().await;
}

/// Below `/acp` and `/mcp` these were plain text.
#[tokio::test]
async fn a_request_from_a_wrong_origin_is_refused_in_the_form_of_the_protocol() {
    let server = Running::serve(&config()).await;
    for version in BOTH {
        for (path, kind, place) in [
            ("/acp/runs", "application/json", "/code"),
            ("/acp/capnweb", "application/json", "/code"),
            ("/mcp", "application/json", "/error/code"),
            ("/a2a/jsonrpc", "text/plain; charset=utf-8", ""),
        ] {
            for (host, origin, status) in [
                ("evil.example", None, StatusCode::MISDIRECTED_REQUEST),
                (
                    "localhost",
                    Some("http://evil.example"),
                    StatusCode::FORBIDDEN,
                ),
            ] {
                let mut client = server.client(version).await;
                let mut request = client.request("POST", host, path);
                if let Some(origin) = origin {
                    request = request.header("origin", origin);
                }
                let answer = client.send(request.body(Body::empty()).unwrap()).await;
                assert_eq!(answer.status, status, "{path}");
                assert_eq!(answer.headers["content-type"], kind, "{path}");
                if !place.is_empty() {
                    let error: Value = serde_json::from_str(&answer.text).unwrap();
                    assert!(error.pointer(place).is_some(), "{path}: {error}");
                }
            }
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn a_binding_that_is_off_is_nowhere() {
    for binding in BINDINGS {
        let Binding {
            key, name, title, ..
        } = *binding;
        let mut config = config();
        config.bindings.set(key, BindingUse::Off).unwrap();
        let server = Running::serve(&config).await;
        let listed = listed(&server).await;
        assert_eq!(listed.len(), 4);
        assert!(!listed.contains(&name.to_owned()), "{listed:?}");
        let page = server.get("/connect").await.text;
        let title = title.replace('\'', "&#39;");
        assert!(!page.contains(&format!("<h2>{title}</h2>")), "{title}");

        let mut client = server.client(Version::Two).await;
        let request = client
            .request("POST", "localhost", "/a2a/jsonrpc")
            .body(Body::empty());
        let jsonrpc = client.send(request.unwrap()).await.status;
        assert_eq!(jsonrpc == StatusCode::NOT_FOUND, key == "jsonrpc");
        let rest = server.get("/a2a/rest/tasks?A2A-Version=1.0").await.status;
        assert_eq!(rest == StatusCode::NOT_FOUND, key == "rest");
        let (grpc, _) = check_health(&mut client).await;
        assert_eq!(grpc == StatusCode::NOT_FOUND, key == "grpc");
        for (own, path) in [("capnweb", "/a2a/capnweb"), ("websocket", "/ws/a2a")] {
            let status = server.get(path).await.status;
            assert_eq!(status == StatusCode::NOT_FOUND, key == own, "{path}");
        }
        server.stop().await;
    }
}

#[tokio::test]
async fn a_deprecated_binding_is_served_listed_last_and_marked() {
    let mut config = config();
    config
        .bindings
        .set("jsonrpc", BindingUse::Deprecated)
        .unwrap();
    let server = Running::serve(&config).await;
    assert_eq!(
        listed(&server).await,
        [
            "HTTP+JSON",
            "GRPC",
            "urn:monas:a2a:binding:capnweb:1",
            "urn:monas:a2a:binding:websocket:1",
            "JSONRPC"
        ]
    );
    let page = server.get("/connect").await.text;
    assert_eq!(page.matches("deprecated</span>").count(), 1);

    let mut client = server.client(Version::One).await;
    let sent = Sent {
        id: "1",
        text: "echo",
        ..Sent::default()
    };
    let answer = call(&mut client, "SendMessage", sent.request()).await;
    assert_eq!(texts(&answer["result"]["message"]["parts"]), "echo");
    server.stop().await;
}

#[tokio::test]
async fn behind_a_proxy_clients_are_told_its_address() {
    let mut config = config();
    config.public_url = Some("https://agents.example".parse().unwrap());
    let server = Running::serve(&config).await;
    assert_eq!(server.url, "https://agents.example");
    let mut client = server.client(Version::One).await;
    let request = client
        .request("GET", "agents.example", "/.well-known/agent.json")
        .body(Body::empty());
    let card: Value = serde_json::from_str(&client.send(request.unwrap()).await.text).unwrap();
    let interfaces = card["supportedInterfaces"].as_array().unwrap();
    let urls: Vec<_> = interfaces
        .iter()
        .filter(|it| it["protocolVersion"] == "1.0")
        .map(|it| it["url"].as_str().unwrap())
        .collect();
    assert_eq!(
        urls,
        [
            "https://agents.example/a2a/jsonrpc",
            "https://agents.example/a2a/rest",
            "agents.example",
            "https://agents.example/a2a/capnweb",
            "wss://agents.example/ws/a2a"
        ]
    );
    let page = server.get("/connect").await.text;
    assert!(page.contains("grpcurl -H"), "over TLS it is not -plaintext");
    server.stop().await;
}

#[tokio::test]
async fn the_page_names_the_agent_and_lets_nothing_else_in() {
    let mut config = config();
    config.agent.name = "Ada <script>".to_owned();
    let server = Running::serve(&config).await;
    let page = server.get("/connect").await;
    assert_eq!(page.status, StatusCode::OK);
    assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(page.text.contains("<h1>Ada &lt;script&gt;</h1>"));
    for title in ["JSON-RPC", "HTTP+JSON (REST)", "gRPC", "MCP", "ACP"] {
        assert!(page.text.contains(&format!("<h2>{title}</h2>")), "{title}");
    }
    server.stop().await;
}

#[tokio::test]
async fn says_that_it_lives_and_what_is_not_there() {
    let server = Running::serve(&config()).await;
    let health = server.get("/healthz").await;
    assert_eq!(health.status, StatusCode::OK);
    assert_eq!(health.text, r#"{"status":"ok"}"#);

    for (method, path, status) in [
        ("GET", "/nothing", StatusCode::NOT_FOUND),
        ("POST", "/healthz", StatusCode::METHOD_NOT_ALLOWED),
        ("DELETE", "/", StatusCode::METHOD_NOT_ALLOWED),
    ] {
        let mut client = server.client(Version::One).await;
        let request = client
            .request(method, "localhost", path)
            .body(Body::empty());
        let answer = client.send(request.unwrap()).await;
        assert_eq!(answer.status, status, "{method} {path}");
        let body: Value = serde_json::from_str(&answer.text).unwrap();
        assert_eq!(body["error"]["code"], status.as_u16(), "{method} {path}");
        assert!(body["error"]["message"].as_str().unwrap().contains(path));
        let allow = status == StatusCode::METHOD_NOT_ALLOWED;
        assert_eq!(
            answer.headers.contains_key("allow"),
            allow,
            "{method} {path}"
        );
    }
    server.stop().await;
}

#[tokio::test]
async fn streams_end_in_good_order_when_the_server_stops() {
    for version in BOTH {
        let server = Running::serve(&config()).await;
        let mut client = server.client(version).await;
        let sent = Sent {
            id: "1",
            text: "burst 2 1h",
            ..Sent::default()
        };
        let request = client
            .request("POST", "localhost", "/a2a/rest/message:stream")
            .header("content-type", "application/json")
            .header("a2a-version", "1.0")
            .body(Body::from(sent.request().to_string()));
        let mut body = client.open(request.unwrap()).await.unwrap().into_body();
        let mut seen = String::new();
        while !seen.contains("\"c0 \"") {
            let frame = body.frame().await.unwrap().unwrap();
            seen += std::str::from_utf8(&frame.into_data().unwrap()).unwrap();
        }
        server.stop().await;
        // It says so and ends; were it cut off there would be a failure.
        let rest = body.collect().await.unwrap().to_bytes();
        let rest = std::str::from_utf8(&rest).unwrap();
        assert!(
            rest.contains("the server is stopping"),
            "{version:?}: {rest}"
        );
    }
}

/// It ended without a close frame.
#[tokio::test]
async fn a_frame_that_cannot_be_read_closes_the_socket_with_the_reason() {
    let server = Running::serve(&config()).await;
    let too_long = [&[0x81, 0xff][..], &(1_u64 << 30).to_be_bytes(), &[0; 4]].concat();
    for (frame, code) in [
        (vec![0xf1, 0x80, 0, 0, 0, 0], 1002_u16),
        (vec![0x81, 0x82, 0, 0, 0, 0, 0xff, 0xff], 1007),
        (too_long, 1009),
    ] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let request = "GET /ws/a2a HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        stream.write_all(&frame).await.unwrap();
        let first = loop {
            let (first, length) = (
                stream.read_u8().await.unwrap(),
                stream.read_u8().await.unwrap(),
            );
            let mut content = vec![0; usize::from(length)];
            stream.read_exact(&mut content).await.unwrap();
            if first == 0x88 {
                break content;
            }
        };
        assert_eq!(first[..2], code.to_be_bytes());
    }
    server.stop().await;
}

/// The body was waited for.
#[tokio::test]
async fn a_length_beyond_the_limit_is_refused_without_the_body() {
    let server = Running::serve(&config()).await;
    for path in [
        "/a2a/jsonrpc",
        "/a2a/rest/message:send",
        "/mcp",
        "/acp/runs",
    ] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: 99000000000\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut status = [0; 12];
        // The limits on a body that stalls are longer.
        let answered = tokio::time::timeout(
            std::time::Duration::from_secs(20),
            stream.read_exact(&mut status),
        );
        answered.await.unwrap().unwrap();
        assert_eq!(&status, b"HTTP/1.1 413", "{path}");
    }
    server.stop().await;
}
