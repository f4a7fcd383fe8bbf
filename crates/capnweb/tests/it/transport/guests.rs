//! A peer that is not known yet may cost little: small messages, few results, a short time.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use capnweb::{
    Arguments, Capability, GuestLimits, Member, Options, Peer, Reply, Server, Target, Value,
};
use serde_json::json;

use crate::support::http;
use crate::support::raw_socket::{Frame, RawSocket, frame, header};
use crate::support::serving::Serving;

/// Knows its peer after `authenticate("secret")`, and tells the length of a text.
struct Login(Peer);

impl Target for Login {
    fn member(&self, name: &str) -> Member {
        match name {
            "authenticate" | "length" => Member::Method,
            _ => Member::Absent,
        }
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Reply {
        let argument = arguments.rest().into_iter().next();
        let text = argument.as_ref().and_then(Value::as_str).unwrap_or("");
        if method == "authenticate" {
            if text == "secret" {
                self.0.admit();
            }
            return Reply::ready(Value::Bool(text == "secret"));
        }
        Reply::ready(Value::from(text.len() as f64))
    }
}

const LIMITS: GuestLimits = GuestLimits {
    max_message_bytes: 1000,
    max_bytes: 3000,
    max_entries: 8,
    time: Duration::from_secs(30),
};

async fn start(limits: GuestLimits) -> Serving {
    let server = Server::for_peers(move |_, peer| {
        peer.restrict(limits.clone());
        Capability::new(Login(peer.clone()))
    });
    let server = server.options(Options::default());
    Serving::start(Router::new().route("/rpc", server.route())).await
}

const AUTHENTICATE: &str = r#"["push",["pipeline",0,["authenticate"],["secret"]]]"#;

fn length_of(length: usize) -> String {
    let text = "x".repeat(length);
    format!(r#"["push",["pipeline",0,["length"],["{text}"]]]"#)
}

#[tokio::test]
async fn a_large_message_is_taken_right_behind_the_one_that_authenticates() {
    let server = start(LIMITS).await;
    let mut socket = RawSocket::open(server.address).await;
    // In one write: the frames arrive together.
    let large = length_of(500_000);
    let pulls = [r#"["pull",1]"#, r#"["pull",2]"#];
    socket
        .send(&[AUTHENTICATE, &large, pulls[0], pulls[1]])
        .await;
    assert_eq!(socket.message().await, json!(["resolve", 1, true]));
    assert_eq!(socket.message().await, json!(["resolve", 2, 500_000]));
}

#[tokio::test]
async fn a_message_of_a_guest_is_refused_by_its_header() {
    let server = start(LIMITS).await;
    for length in [1001, 70_000, 1 << 40] {
        let mut socket = RawSocket::open(server.address).await;
        socket.send_bytes(&header(0x81, length)).await;
        socket.assert_aborted("maximum size of 1000 bytes").await;
    }
    // Fragments count together, also with a ping between them.
    let mut socket = RawSocket::open(server.address).await;
    let parts = [
        frame(0x01, &[b' '; 600]),
        frame(0x89, b""),
        header(0x80, 600),
    ];
    socket.send_bytes(&parts.concat()).await;
    assert_eq!(socket.next().await, Frame::Pong);
    socket.assert_aborted("maximum size of 1000 bytes").await;
    let mut socket = RawSocket::open(server.address).await;
    socket.send(&[&length_of(900), r#"["pull",1]"#]).await;
    assert_eq!(socket.message().await, json!(["resolve", 1, 900]));
}

#[tokio::test]
async fn a_guest_sends_few_bytes_and_has_few_results() {
    let server = start(LIMITS).await;
    let mut socket = RawSocket::open(server.address).await;
    let some = length_of(800);
    socket.send(&[&some, &some, &some, &some]).await;
    socket.assert_aborted("at most 3000 bytes until").await;
    let mut socket = RawSocket::open(server.address).await;
    socket.send(&[r#"["push",1]"#; 9]).await;
    socket.assert_aborted("too many unreleased results").await;
    let mut socket = RawSocket::open(server.address).await;
    socket.send(&[AUTHENTICATE]).await;
    socket.send(&[r#"["push",1]"#; 50]).await;
    socket.send(&[r#"["pull",51]"#]).await;
    assert_eq!(socket.message().await, json!(["resolve", 51, 1]));
}

#[tokio::test]
async fn a_session_that_is_not_authenticated_in_time_ends() {
    let limits = GuestLimits {
        time: Duration::from_millis(300),
        ..LIMITS
    };
    let server = start(limits).await;
    let mut known = RawSocket::open(server.address).await;
    known.send(&[AUTHENTICATE, r#"["pull",1]"#]).await;
    assert_eq!(known.message().await, json!(["resolve", 1, true]));
    let mut silent = RawSocket::open(server.address).await;
    silent.assert_aborted("not authenticated in time").await;
    // Pings keep no guest.
    let mut busy = RawSocket::open(server.address).await;
    let ended = async {
        loop {
            let ping = frame(0x89, b"");
            let _ = tokio::io::AsyncWriteExt::write_all(&mut busy.stream, &ping).await;
            if let Frame::Text(text) = busy.next().await {
                return text;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(10), ended).await;
    assert!(ended.unwrap().contains("not authenticated in time"));
    known.send(&[&length_of(5), r#"["pull",2]"#]).await;
    assert_eq!(known.message().await, json!(["resolve", 2, 5]));
}

#[tokio::test]
async fn a_batch_of_a_guest_is_small_and_comes_soon() {
    let server = start(LIMITS).await;
    let batch = format!("{AUTHENTICATE}\n[\"pull\",1]");
    let answer = http::post(server.address, "", &batch).await;
    assert_eq!(
        (answer.status, &*answer.body),
        (200, r#"["resolve",1,true]"#)
    );
    let answer = http::post(server.address, "", &length_of(1000)).await;
    assert_eq!(answer.status, 413);
    let server = start(GuestLimits {
        time: Duration::from_millis(100),
        ..LIMITS
    })
    .await;
    let mut stream = tokio::net::TcpStream::connect(server.address)
        .await
        .unwrap();
    let head = "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n[";
    tokio::io::AsyncWriteExt::write_all(&mut stream, head.as_bytes())
        .await
        .unwrap();
    assert_eq!(http::read_answer(&mut stream).await.status, 408);
}

/// 31 MB of empty objects made 2.5 GB of memory.
#[tokio::test]
async fn many_values_in_a_large_message_are_refused_before_they_are_parsed() {
    let server = Server::for_peers(|_, peer| Capability::new(Login(peer.clone())));
    let server = Serving::start(Router::new().route("/rpc", server.route())).await;
    for item in ["{},", r#"{"":1},"#, "[[]],", "1,"] {
        let many = item.repeat((8 << 20) / item.len());
        let bomb = format!(r#"["push",[[{many}1]]]"#);
        let mut socket = RawSocket::open(server.address).await;
        socket.send(&[&bomb]).await;
        socket.assert_aborted("take too much memory").await;
        let answer = http::post(server.address, "", &bomb).await;
        assert_eq!(answer.status, 400);
        assert!(
            answer.body.contains("take too much memory"),
            "{}",
            answer.body
        );
    }
    let mut socket = RawSocket::open(server.address).await;
    let pull = r#"["pull",1]"#;
    socket.send(&[&length_of(8 << 20), pull]).await;
    assert_eq!(socket.message().await, json!(["resolve", 1, 8 << 20]));
}
