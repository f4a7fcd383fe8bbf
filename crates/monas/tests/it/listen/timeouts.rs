//! Clients that keep the server waiting.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use a2a::binding::{self, BindingUses, Wire};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::routing::get;
use http_body_util::BodyExt;
use monas::listen::Limits;
use tokio::sync::mpsc;

use super::{Running, hasty, limited};
use crate::support::http::{BOTH, Client, Version, raw};

#[tokio::test]
async fn a_socket_that_says_nothing_is_closed() {
    let server = Running::start(limited(hasty())).await;
    assert_eq!(raw(server.address, b"").await, b"");
    server.stop().await;
}

#[tokio::test]
async fn half_a_head_is_waited_for_and_given_up_on() {
    let server = Running::start(limited(hasty())).await;
    for head in [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n".as_slice(),
        b"GET".as_slice(),
        b"PRI * HTTP/2.0\r\n".as_slice(),
    ] {
        let answer = raw(server.address, head).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{answer:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn an_http2_client_that_gives_no_sign_of_life_is_closed() {
    let server = Running::start(limited(hasty())).await;
    // The preface, empty settings, and the start of a header block that does not go on.
    let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    bytes.extend([0, 0, 0, 4, 0, 0, 0, 0, 0]);
    bytes.extend([0, 0, 1, 1, 0, 0, 0, 0, 1, 0x82]);
    // Ends, because the server closes the connection.
    raw(server.address, &bytes).await;
    server.stop().await;
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let server = Running::start(limited(hasty())).await;
    let mut client = Client::connect(server.address, Version::One).await;
    let request = client.request("GET", &server.authority(), "/");
    let answer = client.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.text, "hello");
    client.ended.await.unwrap().unwrap();
    server.stop().await;
}

/// A body that stops after its first piece.
fn unfinished() -> Body {
    let first = Ok::<_, Infallible>(Bytes::from_static(b"half"));
    let stream = futures_util::stream::StreamExt::chain(
        futures_util::stream::iter([first]),
        futures_util::stream::pending(),
    );
    Body::from_stream(stream)
}

#[tokio::test]
async fn a_body_that_stops_halfway_is_answered_with_a_time_out() {
    let server = Running::start(limited(hasty())).await;
    for version in BOTH {
        let mut client = Client::connect(server.address, version).await;
        let request = client.request("POST", &server.authority(), "/echo");
        let answer = client.send(request.body(unfinished()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::REQUEST_TIMEOUT, "{version:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_binding_says_in_its_own_form_that_it_took_too_long() {
    let config = monas::Config::new(monas::config::Data::Memory);
    let agent = monas::serve::demo::app().agent(&config).await.unwrap();
    let tasks = a2a::server::Config::new(agent.card());
    let store = store::Store::memory(a2a::server::TABLES);
    let tasks = a2a::Server::start(tasks, Arc::new(agent), store)
        .await
        .unwrap();
    let wire = Wire::new(Arc::new(tasks.clone()), tasks.limits().clone());
    let routes = binding::routes(&wire, &BindingUses::default());
    let server = Running::serve(limited(hasty()), routes).await;
    for path in ["/a2a/jsonrpc", "/a2a/rest/message:send"] {
        let mut client = Client::connect(server.address, Version::One).await;
        let request = client
            .request("POST", "localhost", path)
            .header("content-type", "application/json")
            .header("a2a-version", "1.0");
        let answer = client.send(request.body(unfinished()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::REQUEST_TIMEOUT, "{path}");
        assert!(answer.text.starts_with(r#"{"#), "{path}: {}", answer.text);
    }
    server.stop().await;
    tasks.stop().await;
}

#[tokio::test]
async fn a_body_that_drips_is_given_up_on_in_the_end() {
    let limits = Limits {
        body: Duration::from_secs(60),
        body_total: Duration::from_millis(300),
        ..Limits::default()
    };
    let server = Running::start(limited(limits)).await;
    for version in BOTH {
        let mut client = Client::connect(server.address, version).await;
        let drip = futures_util::stream::unfold((), async |()| {
            tokio::time::sleep(Duration::from_millis(10)).await;
            Some((Ok::<_, Infallible>(Bytes::from_static(b".")), ()))
        });
        let request = client.request("POST", &server.authority(), "/echo");
        let answer = client
            .send(request.body(Body::from_stream(drip)).unwrap())
            .await;
        assert_eq!(answer.status, StatusCode::REQUEST_TIMEOUT, "{version:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_slow_body_that_arrives_in_time_is_taken() {
    let server = Running::start(limited(Limits::default())).await;
    for version in BOTH {
        let mut client = Client::connect(server.address, version).await;
        let pieces = futures_util::stream::unfold(0, async |n| {
            tokio::task::yield_now().await;
            (n < 100).then(|| (Ok::<_, Infallible>(Bytes::from_static(b"piece ")), n + 1))
        });
        let request = client.request("POST", &server.authority(), "/echo");
        let answer = client
            .send(request.body(Body::from_stream(pieces)).unwrap())
            .await;
        assert_eq!(answer.text, "piece ".repeat(100), "{version:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_response_that_streams_outlives_every_limit() {
    let limits = Limits {
        // A third of it is how long a client may take for a sign of life.
        head: hasty().head * 3,
        ..hasty()
    };
    let server = Running::start(limited(limits.clone())).await;
    for version in BOTH {
        let mut client = Client::connect(server.address, version).await;
        let request = client.request("GET", &server.authority(), "/endless");
        let mut body = client
            .open(request.body(Body::empty()).unwrap())
            .await
            .unwrap()
            .into_body();
        let first = body.frame().await.unwrap().unwrap();
        assert_eq!(first.into_data().unwrap(), "first");
        let more = tokio::time::timeout(limits.head * 2, body.frame()).await;
        assert!(more.is_err(), "it is still open: {more:?}");
    }
    server.stop().await;
}

/// A route that answers without end, and what learns when the server drops the answer.
fn flood() -> (Router, mpsc::Receiver<Infallible>) {
    let (held, dropped) = mpsc::channel(1);
    let held = Arc::new(Mutex::new(Some(held)));
    let flood = async move || {
        let held = held.lock().unwrap().take();
        let piece = Bytes::from(vec![b'.'; 1 << 16]);
        let pieces = futures_util::stream::repeat_with(move || {
            assert!(held.is_some(), "there is one request");
            Ok::<_, Infallible>(piece.clone())
        });
        Body::from_stream(pieces)
    };
    (Router::new().route("/flood", get(flood)), dropped)
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_cut_off() {
    for version in BOTH {
        let (routes, mut dropped) = flood();
        let server = Running::serve(limited(hasty()), routes).await;
        let mut client = Client::connect(server.address, version).await;
        let request = client.request("GET", "localhost", "/flood");
        let answer = client
            .open(request.body(Body::empty()).unwrap())
            .await
            .unwrap();
        assert!(dropped.recv().await.is_none(), "{version:?}");
        drop(answer);
        server.stop().await;
    }
}

#[tokio::test]
async fn a_client_that_holds_back_one_response_gets_others() {
    let (routes, mut dropped) = flood();
    let routes = routes.route("/", get(async || "hello"));
    let server = Running::serve(limited(hasty()), routes).await;
    let mut client = Client::connect(server.address, Version::Two).await;
    let request = client.request("GET", "localhost", "/flood");
    let held_back = client
        .open(request.body(Body::empty()).unwrap())
        .await
        .unwrap();
    assert!(dropped.recv().await.is_none());
    let request = client.request("GET", "localhost", "/");
    assert_eq!(
        client.send(request.body(Body::empty()).unwrap()).await.text,
        "hello"
    );

    // What was on its way still arrives; then it is plain that there is no more.
    let mut body = held_back.into_body();
    let end = loop {
        match body.frame().await {
            Some(Ok(_)) => {}
            end => break end,
        }
    };
    assert!(end.unwrap().is_err());
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_reads_slowly_gets_everything() {
    let pieces = || {
        futures_util::stream::iter(
            (0..64).map(|_| Ok::<_, Infallible>(Bytes::from(vec![b'.'; 1 << 16]))),
        )
    };
    let routes = Router::new().route("/", get(async move || Body::from_stream(pieces())));
    let limits = Limits {
        write: Duration::from_secs(1),
        ..Limits::default()
    };
    let server = Running::serve(limited(limits.clone()), routes).await;
    for version in BOTH {
        let mut client = Client::connect(server.address, version).await;
        let request = client.request("GET", "localhost", "/");
        let mut body = client
            .open(request.body(Body::empty()).unwrap())
            .await
            .unwrap()
            .into_body();
        let mut length = 0;
        while let Some(frame) = body.frame().await {
            length += frame.unwrap().into_data().unwrap().len();
            // With a pause after each piece, but never a long one.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(length, 64 << 16, "{version:?}");
    }
    server.stop().await;
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let server = Running::start(limited(Limits::default())).await;
    let head = format!(
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: {}",
        "x".repeat(1 << 20)
    );
    let answer = raw(server.address, head.as_bytes()).await;
    assert!(
        answer.is_empty() || answer.starts_with(b"HTTP/1.1 431"),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    server.stop().await;
}
