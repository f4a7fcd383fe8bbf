//! How sessions end, and what can go wrong before they begin.

use capnweb::transport::websocket;
use capnweb::{Capability, Connection, Error, Options, Stats, Value};
use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_tungstenite::tungstenite::Message;

use super::{Host, Peer, with_peer};
use crate::interop_target::InteropTarget;
use crate::support::eventually::soon;
use crate::support::node::NpmServer;
use crate::support::serving::InteropServer;

/// Asserts that an ended session holds nothing and lets nothing through.
async fn assert_over(peer: &Peer<'_>, reason: &str) {
    let told = soon("the end of the session", peer.connection.closed()).await;
    assert!(told.message().contains(reason), "{told}");
    assert_eq!(
        soon("the end of the stub", peer.api.capability().closed())
            .await
            .message(),
        told.message()
    );
    assert_eq!(
        peer.api.square(Value::from(2)).await.unwrap_err().message(),
        told.message()
    );
    let fresh = peer.connection.remote::<InteropTarget>();
    assert_eq!(
        fresh.square(Value::from(2)).await.unwrap_err().message(),
        told.message()
    );
    assert_eq!(
        peer.connection.stats(),
        Stats {
            imports: 0,
            exports: 0,
            pending: 0
        }
    );
}

#[tokio::test]
async fn an_abort_by_the_host_fails_all_that_is_pending_and_all_that_follows() {
    with_peer(async |other| {
        let (peer, say) = open_by_hand(other.host).await;
        let counter = peer.api.make_counter(1.0).await.unwrap();
        let hanging = peer.api.hang().into_future();
        let waiting = peer.api.delay(60_000.0, Value::Null).into_future();
        say.send(r#"["frob"]"#.to_owned()).unwrap();
        let reason = "bad RPC message";
        let failed = [hanging.await.unwrap_err(), waiting.await.unwrap_err()];
        for error in failed
            .into_iter()
            .chain([counter.increment(None).await.unwrap_err()])
        {
            assert!(error.message().contains(reason), "{error}");
        }
        assert_over(&peer, reason).await;
        assert_eq!(
            other.api.square(Value::from(2)).await.unwrap(),
            4.0,
            "the host lives on"
        );
    })
    .await;
}

/// A session with frames moved by the test, which can send what a real session never would.
async fn open_by_hand(host: Host<'_>) -> (Peer<'_>, UnboundedSender<String>) {
    let connection = Connection::new(Capability::nothing(), &Options::default());
    let address = host.url().replacen("ws://", "", 1).replace("/rpc", "");
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut socket, _) = tokio_tungstenite::client_async(host.url(), stream)
        .await
        .unwrap();
    let (say, mut said) = unbounded_channel::<String>();
    let session = connection.clone();
    tokio::spawn(async move {
        loop {
            for frame in session.take_outgoing() {
                socket.send(Message::text(frame)).await.unwrap();
            }
            tokio::select! {
                () = session.outgoing() => {}
                Some(frame) = said.recv() => socket.send(Message::text(frame)).await.unwrap(),
                received = socket.next() => match received {
                    Some(Ok(Message::Text(frame))) => session.receive(&frame),
                    _ => return session.end(Error::new("the socket is closed")),
                },
            }
        }
    });
    let api = connection.remote();
    (
        Peer {
            host,
            name: String::new(),
            connection,
            api,
        },
        say,
    )
}

#[tokio::test]
async fn an_end_of_ours_is_final() {
    with_peer(async |other| {
        let peer = other.another().await;
        let hanging = peer.api.hang().into_future();
        peer.connection.abort(Error::new("had enough"));
        assert_eq!(hanging.await.unwrap_err().message(), "had enough");
        assert_over(&peer, "had enough").await;
    })
    .await;
}

#[tokio::test]
async fn a_server_that_dies_ends_its_sessions_and_is_named_when_it_cannot_be_reached_again() {
    let server = NpmServer::start();
    let peer = Peer::open(Host::Npm(&server)).await;
    let hanging = peer.api.hang().into_future();
    assert_eq!(peer.api.square(Value::from(2)).await.unwrap(), 4.0);
    server.kill();
    let error = soon("the pending call", hanging).await.unwrap_err();
    assert_over(&peer, error.message()).await;
    let error = refusal(server.url()).await;
    assert!(
        error.starts_with(&format!("connect to {}", server.address())),
        "{error}"
    );
}

#[tokio::test]
async fn a_server_of_ours_that_stops_says_so() {
    let server = InteropServer::start().await;
    let peer = Peer::open(Host::Ours(&server)).await;
    let hanging = peer.api.hang().into_future();
    assert_eq!(peer.api.square(Value::from(2)).await.unwrap(), 4.0);
    soon("the server stops", server.tasks.stop()).await;
    let error = soon("the pending call", hanging).await.unwrap_err();
    assert_eq!(error.message(), "the server is shutting down");
    assert_over(&peer, error.message()).await;
}

async fn refusal(url: &str) -> String {
    let options = Options::default();
    let connecting = websocket::connect(url, Capability::nothing(), &options);
    soon("the connection", connecting)
        .await
        .unwrap_err()
        .message()
        .to_owned()
}

#[tokio::test]
async fn what_cannot_be_connected_to_is_named() {
    assert!(
        refusal("ws://127.0.0.1:1/rpc")
            .await
            .starts_with("connect to 127.0.0.1:1: ")
    );
    assert!(
        refusal("wss://127.0.0.1:1/rpc")
            .await
            .starts_with("connect to 127.0.0.1:1: ")
    );
    assert!(refusal("http://127.0.0.1:1/rpc").await.contains("ws://"));
    assert!(refusal("ws:///rpc").await.contains("names no host"));
    let server = InteropServer::start().await;
    for address in [NpmServer::shared().address(), server.address()] {
        let nowhere = format!("ws://{address}/nowhere");
        let error = refusal(&nowhere).await;
        assert!(
            error.starts_with(&format!("open a WebSocket to {nowhere}: ")),
            "{error}"
        );
    }
}
