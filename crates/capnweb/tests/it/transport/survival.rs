//! Peers that leave without a word, and many of them.

use capnweb::transport::websocket;
use capnweb::{Capability, Connection, Options, Stub, Value};
use futures_util::future::join_all;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::interop_target::InteropTarget;
use crate::support::eventually::{assert_at_rest, eventually};
use crate::support::raw_socket::{Frame, RawSocket, assert_serves, frame, header};
use crate::support::serving::InteropServer;

async fn connect(server: &InteropServer) -> (Connection, Stub<InteropTarget>) {
    let connection = websocket::connect(&server.url(), Capability::nothing(), &Options::default())
        .await
        .unwrap();
    let api = connection.remote();
    (connection, api)
}

#[tokio::test]
async fn disconnects_at_every_point_of_a_frame_leave_nothing_behind() {
    let server = InteropServer::start().await;
    let making = frame(0x81, br#"["push",["pipeline",0,["makeTracked"],[]]]"#);
    let call = frame(0x81, br#"["push",["pipeline",0,["delay"],[1,5]]]"#);
    for cut in 0..call.len() {
        let mut socket = RawSocket::open(server.address()).await;
        socket.send_bytes(&[&making, &call[..cut]].concat()).await;
    }
    let mut socket = RawSocket::open(server.address()).await;
    socket.send_bytes(&frame(0x01, b"[\"push\",")).await;
    drop(socket);
    eventually("handlers", 0, async || server.tasks.len()).await;
    let (connection, api) = connect(&server).await;
    eventually("live objects", 0, async || {
        api.live_tracked().await.unwrap()
    })
    .await;
    assert_at_rest(&connection).await;
    assert_serves(server.address()).await;
}

#[tokio::test]
async fn a_request_that_is_no_websocket_harms_no_other_session() {
    let server = InteropServer::start().await;
    let openings: [&[u8]; 4] = [
        b"",
        b"GET /rpc HT",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET /rpc HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 12\r\n\r\n",
    ];
    for opening in openings {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(opening).await.unwrap();
    }
    // Frames that a client must not send: unmasked, of an unknown kind, with reserved bits.
    for wrong in [
        [0x81, 0x02, b'[', b']'],
        [0x83, 0x80, 0, 0],
        [0xf1, 0x80, 0, 0],
    ] {
        let mut socket = RawSocket::open(server.address()).await;
        socket.send_bytes(&wrong).await;
    }
    eventually("handlers", 0, async || server.tasks.len()).await;
    assert_serves(server.address()).await;
}

#[tokio::test]
async fn text_that_is_not_utf8_aborts() {
    let server = InteropServer::start().await;
    let mut socket = RawSocket::open(server.address()).await;
    socket
        .send_bytes(&frame(0x81, b"[\"push\",\"\xff\"]"))
        .await;
    socket.assert_aborted("UTF-8").await;
    assert_serves(server.address()).await;
}

#[tokio::test]
async fn a_frame_in_many_pieces_is_one_message() {
    let server = InteropServer::start().await;
    let mut socket = RawSocket::open(server.address()).await;
    let bytes = [
        frame(0x81, br#"["push",["pipeline",0,["square"],[5]]]"#),
        frame(0x81, br#"["pull",1]"#),
    ]
    .concat();
    for byte in bytes {
        socket.send_bytes(&[byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(socket.message().await, json!(["resolve", 1, 25]));
    socket.send_bytes(&header(0x89, 0)).await;
    assert_eq!(socket.square_as(2, 6).await, json!(["resolve", 2, 36]));
}

#[tokio::test]
async fn a_hundred_sessions_opened_and_dropped_leave_nothing_running() {
    let server = InteropServer::start().await;
    let sessions = join_all((0..100).map(|_| connect(&server))).await;
    let calls = sessions.iter().enumerate().map(|(i, (_, api))| async move {
        assert_eq!(api.square(Value::from(i)).await.unwrap(), (i * i) as f64);
        let counter = api.make_counter(1.0).await.unwrap();
        assert_eq!(counter.increment(None).await.unwrap(), 2.0);
        counter
    });
    let counters = join_all(calls).await;
    assert!(server.tasks.len() >= 100, "sessions count among the tasks");
    drop((sessions, counters));
    eventually("running", 0, async || server.tasks.len()).await;
    assert_serves(server.address()).await;
}

#[tokio::test]
async fn two_servers_in_one_process_know_nothing_of_each_other() {
    let (one, two) = (InteropServer::start().await, InteropServer::start().await);
    let (first, api) = connect(&one).await;
    let (second, other) = connect(&two).await;
    let counter = other.make_counter(1.0).await.unwrap();
    api.keep("mine", counter.capability().clone())
        .await
        .unwrap();
    assert!(!other.drop_kept("mine").await.unwrap());
    // The first server calls the second through us.
    let kept = api.kept("mine").property("stub");
    assert_eq!(
        kept.call("increment", (2,)).cast::<f64>().await.unwrap(),
        3.0
    );
    assert_eq!(counter.value().await.unwrap(), 3.0);
    assert!(api.drop_kept("mine").await.unwrap());
    drop((kept, counter));
    assert_at_rest(&first).await;
    assert_at_rest(&second).await;
    one.tasks.stop().await;
    first.closed().await;
    assert_eq!(other.square(Value::from(2)).await.unwrap(), 4.0);
    assert_at_rest(&second).await;
}

/// Regression: the answer to a close stayed in the write buffer, and the peer saw the connection break.
#[tokio::test]
async fn a_peer_that_closes_is_answered() {
    let server = InteropServer::start().await;
    let mut socket = RawSocket::open(server.address()).await;
    socket.send_bytes(&frame(0x88, b"\x03\xe8good-bye")).await;
    let answer = Frame::Close(1000, "good-bye".to_owned());
    assert_eq!(socket.next().await, answer);
    assert_eq!(socket.next().await, Frame::End);
    server.tasks.stop().await;
}
