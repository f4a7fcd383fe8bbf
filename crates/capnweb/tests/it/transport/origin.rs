//! Which web pages may talk to a server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use capnweb::{OriginPolicy, Server};

use crate::interop_target::InteropTarget;
use crate::support::http;
use crate::support::raw_socket::{CALL, RawSocket};
use crate::support::serving::Serving;

/// The status of a WebSocket's opening and of a batch, from a page of that origin.
async fn statuses(address: SocketAddr, origin: Option<&str>) -> (u16, u16) {
    let headers = origin
        .map(|origin| format!("Origin: {origin}\r\n"))
        .unwrap_or_default();
    let opened = RawSocket::open_with(address, &headers).await;
    let websocket = match opened {
        Ok(_) => 101,
        Err(answer) => answer.status,
    };
    (websocket, http::post(address, &headers, CALL).await.status)
}

/// A server with this policy, and how many sessions it has begun.
async fn start(policy: OriginPolicy) -> (Serving, Arc<AtomicU32>) {
    let sessions = Arc::new(AtomicU32::new(0));
    let begun = sessions.clone();
    let server = Server::new(move |_headers| {
        begun.fetch_add(1, Ordering::SeqCst);
        InteropTarget::new(Default::default())
    });
    let router = Router::new().route("/rpc", server.origins(policy).route());
    (Serving::start(router).await, sessions)
}

const WELCOME: (u16, u16) = (101, 200);
const REFUSED: (u16, u16) = (403, 403);

#[tokio::test]
async fn pages_of_other_origins_are_refused_before_a_session_begins() {
    let (server, sessions) = start(OriginPolicy::default()).await;
    let address = server.address;
    assert_eq!(statuses(address, None).await, WELCOME, "no browser");
    assert_eq!(
        statuses(address, Some(&format!("http://{address}"))).await,
        WELCOME,
        "the same origin"
    );
    assert_eq!(sessions.load(Ordering::SeqCst), 4);
    let other_port = format!("http://127.0.0.1:{}", address.port() ^ 1);
    let prefixed = format!("http://{address}.example.com");
    for foreign in [
        "https://example.com",
        "null",
        "",
        "http://127.0.0.1",
        &other_port,
        &prefixed,
    ] {
        assert_eq!(statuses(address, Some(foreign)).await, REFUSED, "{foreign}");
    }
    assert_eq!(sessions.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn pages_of_listed_origins_are_welcome() {
    let (server, _) = start(OriginPolicy::Listed(vec!["https://example.com".to_owned()])).await;
    assert_eq!(
        statuses(server.address, Some("https://example.com")).await,
        WELCOME
    );
    assert_eq!(
        statuses(server.address, Some(&format!("http://{}", server.address))).await,
        WELCOME
    );
    for foreign in [
        "http://example.com",
        "https://example.com.evil.test",
        "https://example.com:8443",
        "null",
    ] {
        assert_eq!(
            statuses(server.address, Some(foreign)).await,
            REFUSED,
            "{foreign}"
        );
    }
}

#[tokio::test]
async fn all_pages_are_welcome_where_the_policy_says_so() {
    let (server, _) = start(OriginPolicy::Any).await;
    assert_eq!(
        statuses(server.address, Some("https://example.com")).await,
        WELCOME
    );
    assert_eq!(statuses(server.address, Some("null")).await, WELCOME);
}
