//! Peers that fall silent, and peers that do not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use capnweb::transport::websocket::{self, Settings};
use capnweb::{Callback, Capability, Limits, Options, Server, target};
use futures_util::future::join;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::support::eventually::{eventually, soon};
use crate::support::raw_socket::{Frame, RawSocket, frame};
use crate::support::serving::{InteropServer, Serving};

fn impatient() -> Settings {
    Settings {
        ping_after: Duration::from_millis(100),
        idle_limit: Duration::from_secs(1),
        ..Settings::default()
    }
}

#[tokio::test]
async fn a_silent_peer_is_pinged_and_then_given_up() {
    let server = InteropServer::configured(|server| server.websocket(impatient())).await;
    let mut socket = RawSocket::open(server.address()).await;
    let mut pings = 0;
    loop {
        match socket.next().await {
            Frame::Ping => pings += 1,
            Frame::Close(code, reason) => {
                assert_eq!(
                    (code, reason.as_str()),
                    (3000, "the peer was silent for too long")
                );
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(pings > 0, "nobody asked whether it was there");
    eventually("handlers", 0, async || server.tasks.len()).await;
}

#[tokio::test]
async fn a_peer_that_answers_pings_is_kept() {
    let server = InteropServer::configured(|server| server.websocket(impatient())).await;
    let mut socket = RawSocket::open(server.address()).await;
    let started = Instant::now();
    while started.elapsed() < 2 * impatient().idle_limit {
        assert_eq!(socket.next().await, Frame::Ping);
        socket.send_bytes(&frame(0x8a, b"")).await;
    }
    assert_eq!(socket.square(3).await, json!(["resolve", 1, 9]));
}

#[tokio::test]
async fn a_silent_server_is_pinged_and_then_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = async {
        let (stream, _) = listener.accept().await.unwrap();
        // From here on it is there and says nothing.
        tokio_tungstenite::accept_async(stream)
            .await
            .unwrap()
            .into_inner()
    };
    let url = format!("ws://{address}/rpc");
    let stream = TcpStream::connect(address).await.unwrap();
    let options = Options::default();
    let opening = websocket::over(stream, &url, Capability::nothing(), &options, impatient());
    let (connection, mut silent) = join(opening, server).await;
    let reason = soon("the end", connection.unwrap().closed()).await;
    assert_eq!(reason.message(), "the peer was silent for too long");
    // An empty ping, masked as a client must.
    assert_eq!(
        &soon("a ping", silent.read_u16())
            .await
            .unwrap()
            .to_be_bytes(),
        &[0x89, 0x80]
    );
}

const PAGE: usize = 64 << 10;

/// Gives a lot for little, and counts how often it was asked.
struct Library {
    asked: Arc<AtomicUsize>,
    open: Arc<AtomicUsize>,
}

#[target(pub(crate))]
impl Library {
    pub fn page(&self) -> String {
        self.asked.fetch_add(1, Ordering::SeqCst);
        "x".repeat(PAGE)
    }

    /// Sends pages unasked, and waits for no answer.
    pub fn send(&self, reader: Callback<(String,), ()>, pages: usize) {
        for _ in 0..pages {
            drop(reader.call((self.page(),)));
        }
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Libraries {
    serving: Serving,
    asked: Arc<AtomicUsize>,
    /// How many sessions have not ended.
    open: Arc<AtomicUsize>,
}

async fn libraries(limits: Limits, settings: Settings) -> Libraries {
    let (asked, open) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counters = (asked.clone(), open.clone());
    let server = Server::new(move |_headers| {
        let (asked, open) = counters.clone();
        open.fetch_add(1, Ordering::SeqCst);
        Library { asked, open }
    });
    let server = server
        .options(Options::default().limits(limits))
        .websocket(settings);
    let serving = Serving::start(Router::new().route("/rpc", server.route())).await;
    Libraries {
        serving,
        asked,
        open,
    }
}

/// So many calls of `page`, all pulled, as one piece of bytes.
fn asking(calls: usize) -> Vec<u8> {
    let ask = |id| {
        let pull = format!(r#"["pull",{id}]"#);
        [
            frame(0x81, br#"["push",["pipeline",0,["page"],[]]]"#),
            frame(0x81, pull.as_bytes()),
        ]
        .concat()
    };
    (1..=calls).flat_map(ask).collect()
}

/// Libraries that soon lose patience with a slow reader.
async fn strict_libraries() -> Libraries {
    let limits = Limits {
        max_queued_bytes: 4 << 20,
        ..Limits::default()
    };
    let settings = Settings {
        write_limit: Duration::from_millis(300),
        ..Settings::default()
    };
    libraries(limits, settings).await
}

#[tokio::test]
async fn a_peer_that_asks_for_much_and_reads_nothing_is_given_up() {
    let libraries = strict_libraries().await;
    let mut socket = RawSocket::open(libraries.serving.address).await;
    let (mut read, mut write) = socket.stream.split();
    // Half a gigabyte of pages. The sending fails when the connection is closed at the other end.
    let calls = asking(8000);
    let sending = async { drop(write.write_all(&calls).await) };
    let given_up = eventually("open sessions", 0, async || {
        libraries.open.load(Ordering::SeqCst)
    });
    soon("all is over", join(given_up, sending)).await;
    // What fits in the buffers of the sockets was asked for as well, but not all.
    let made = libraries.asked.load(Ordering::SeqCst) * PAGE;
    assert!(
        made < 32 << 20,
        "{made} bytes were made for a peer that read none"
    );
    let mut rest = Vec::new();
    // Ends with a reset, as what was asked is still unread at the other end.
    let _ = soon("the end of the connection", read.read_to_end(&mut rest)).await;
    assert!(rest.len() < 32 << 20);
}

#[tokio::test]
async fn a_peer_that_is_called_much_and_reads_nothing_is_given_up() {
    let libraries = strict_libraries().await;
    let mut socket = RawSocket::open(libraries.serving.address).await;
    let call = r#"["push",["pipeline",0,["send"],[["export",-1],1000]]]"#;
    socket.send(&[call]).await;
    let open = async || libraries.open.load(Ordering::SeqCst);
    eventually("open sessions", 0, open).await;
    // The session ended when its queue was full: the other pages were never sent.
    let mut rest = Vec::new();
    let _ = soon("the end", socket.stream.read_to_end(&mut rest)).await;
    assert!(rest.len() < 8 << 20, "{} bytes were sent", rest.len());
}

/// Regression: all that had arrived was answered before anything was written, and a peer that had not
/// been given anything to read was told that it read too slowly.
#[tokio::test]
async fn a_peer_that_asks_for_much_and_reads_it_is_served() {
    let limits = Limits {
        max_queued_bytes: 1 << 20,
        ..Limits::default()
    };
    let libraries = libraries(limits, Settings::default()).await;
    let mut socket = RawSocket::open(libraries.serving.address).await;
    let calls = 200;
    socket.send_bytes(&asking(calls)).await;
    for id in 1..=calls {
        let answer = socket.message().await;
        assert_eq!((&answer[0], &answer[1]), (&json!("resolve"), &json!(id)));
    }
}
