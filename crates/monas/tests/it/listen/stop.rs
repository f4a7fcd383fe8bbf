//! Places for connections, and the end of them.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::routing::get;
use http_body_util::BodyExt;
use monas::listen::{CallerCheck, Limits, Options};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::{Running, hasty, limited};
use crate::support::http::{BOTH, Client, Version};

#[tokio::test]
async fn a_request_under_way_is_answered_and_no_new_one_is_taken() {
    for version in BOTH {
        let (entered, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let routes = Router::new().route("/slow", {
            let (entered, go_on) = (entered.clone(), go_on.clone());
            get(async move || {
                entered.notify_one();
                go_on.notified().await;
                "done"
            })
        });
        let server = Running::serve(Options::default(), routes).await;
        let mut client = Client::connect(server.address, version).await;
        let request = client.request("GET", &server.authority(), "/slow");
        let address = server.address;
        let answer = tokio::spawn(async move {
            let answer = client.send(request.body(Body::empty()).unwrap()).await;
            (answer, client)
        });
        entered.notified().await;
        let stopping = tokio::spawn(server.stop());
        // The address is free again as soon as the server begins to stop.
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        go_on.notify_one();
        let (answer, client) = answer.await.unwrap();
        assert_eq!(answer.text, "done", "{version:?}");
        stopping.await.unwrap();
        client.ended.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn what_does_not_finish_is_cut_off() {
    for version in BOTH {
        let server = Running::start(limited(hasty())).await;
        let mut client = Client::connect(server.address, version).await;
        let request = client.request("GET", &server.authority(), "/endless");
        let mut body = client
            .open(request.body(Body::empty()).unwrap())
            .await
            .unwrap()
            .into_body();
        body.frame().await.unwrap().unwrap();
        server.stop().await;
        assert!(body.frame().await.unwrap().is_err(), "{version:?}");
    }
}

#[tokio::test]
async fn a_silent_socket_does_not_delay_the_end() {
    let limits = Limits {
        drain: Duration::from_secs(3600),
        ..Limits::default()
    };
    let server = Running::start(limited(limits)).await;
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    // A second connection that is served proves that the first was accepted.
    let mut client = Client::connect(server.address, Version::One).await;
    let request = client.request("GET", &server.authority(), "/");
    client.send(request.body(Body::empty()).unwrap()).await;
    server.stop().await;
    assert_eq!(silent.read(&mut [0]).await.unwrap_or(0), 0);
}

#[tokio::test]
async fn a_connection_beyond_the_limit_waits_for_a_place() {
    let limits = Limits {
        connections: 1,
        ..Limits::default()
    };
    let server = Running::start(limited(limits)).await;
    let mut first = Client::connect(server.address, Version::One).await;
    let request = |client: &Client| {
        client
            .request("GET", "localhost", "/")
            .body(Body::empty())
            .unwrap()
    };
    let ask = request(&first);
    assert_eq!(first.send(ask).await.text, "hello");

    // The system accepts the connection; the server does not.
    let mut second = Client::connect(server.address, Version::One).await;
    let ask = request(&second);
    let answer = second.send(ask);
    tokio::pin!(answer);
    let early = tokio::time::timeout(Duration::from_millis(200), &mut answer).await;
    assert!(early.is_err(), "there was no place yet");
    drop(first);
    assert_eq!(answer.await.text, "hello");
    server.stop().await;
}

#[tokio::test]
async fn a_socket_taken_over_keeps_its_place_until_it_closes() {
    let take_over = async |mut request: Request| {
        let upgrade = hyper::upgrade::on(&mut request);
        tokio::spawn(async move {
            let stream = upgrade.await.unwrap();
            let mut stream = hyper_util::rt::TokioIo::new(stream);
            stream.write_all(b"other").await.unwrap();
            // Until the client leaves.
            let _ = stream.read(&mut [0]).await;
        });
        let headers = [("connection", "upgrade"), ("upgrade", "other")];
        (StatusCode::SWITCHING_PROTOCOLS, headers)
    };
    let routes = Router::new()
        .route("/", get(async || "hello"))
        .route("/other", get(take_over));
    let limits = Limits {
        connections: 1,
        ..Limits::default()
    };
    let server = Running::serve(limited(limits), routes).await;
    let mut taken = TcpStream::connect(server.address).await.unwrap();
    taken
        .write_all(b"GET /other HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n")
        .await
        .unwrap();
    let mut received = Vec::new();
    while !received.ends_with(b"\r\n\r\nother") {
        received.push(taken.read_u8().await.unwrap());
    }

    let mut second = Client::connect(server.address, Version::One).await;
    let request = second.request("GET", "localhost", "/");
    let answer = second.send(request.body(Body::empty()).unwrap());
    tokio::pin!(answer);
    let early = tokio::time::timeout(Duration::from_millis(200), &mut answer).await;
    assert!(early.is_err(), "there was no place yet");
    drop(taken);
    assert_eq!(answer.await.text, "hello");
    server.stop().await;
}

#[tokio::test]
async fn the_last_places_are_for_requests_of_known_callers() {
    let limits = Limits {
        connections: 3,
        kept: 1,
        ..Limits::default()
    };
    let options = Options {
        known: CallerCheck::new(|request| request.headers.contains_key("authorization")),
        ..limited(limits)
    };
    let server = Running::start(options).await;
    let ask = async |client: &mut Client, known: bool| {
        let request = client.request("GET", "localhost", "/");
        let request = match known {
            true => request.header("authorization", "Bearer x"),
            false => request,
        };
        client.send(request.body(Body::empty()).unwrap()).await
    };
    // Connections that never say anything take the open places.
    let _silent = [
        TcpStream::connect(server.address).await.unwrap(),
        TcpStream::connect(server.address).await.unwrap(),
    ];
    for version in [Version::One, Version::Two] {
        let mut stranger = Client::connect(server.address, version).await;
        let refused = ask(&mut stranger, false).await;
        assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(refused.text.contains("all connections are in use"));
        // The place is free again, without the stranger's doing.
        let mut known = Client::connect(server.address, version).await;
        assert_eq!(ask(&mut known, true).await.text, "hello");
        assert_eq!(ask(&mut known, true).await.text, "hello");
    }
    server.stop().await;
}
