//! Messages that are too long are refused before they are here.

use capnweb::transport::websocket;
use capnweb::{Capability, Limits, Options, Stub};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::interop_target::InteropTarget;
use crate::support::eventually::soon;
use crate::support::http::{self, exchange, read_answer};
use crate::support::raw_socket::{CALL, RawSocket, assert_serves, frame, header};
use crate::support::serving::InteropServer;

const LIMIT: usize = 1000;

async fn start() -> InteropServer {
    let limits = Limits {
        max_message_bytes: LIMIT,
        ..Limits::default()
    };
    InteropServer::with_options(Options::default().limits(limits), |server| server).await
}

/// A call of `returnNull` that is so many bytes long.
fn call_of(length: usize) -> String {
    let (before, after) = (r#"["push",["pipeline",0,["returnNull"],[""#, r#""]]]"#);
    format!(
        "{before}{}{after}",
        "x".repeat(length - before.len() - after.len())
    )
}

#[tokio::test]
async fn a_message_of_the_very_limit_is_taken_and_one_byte_more_is_not() {
    let server = start().await;
    let mut socket = RawSocket::open(server.address()).await;
    socket.send(&[&call_of(LIMIT), r#"["pull",1]"#]).await;
    assert_eq!(socket.message().await, json!(["resolve", 1, null]));
    socket.send(&[&call_of(LIMIT + 1)]).await;
    socket.assert_aborted("exceeds maximum size").await;
    assert_serves(server.address()).await;
}

#[tokio::test]
async fn a_frame_that_announces_too_much_is_refused_before_it_comes() {
    let server = start().await;
    for length in [LIMIT as u64 + 1, 1 << 32, i64::MAX as u64] {
        let mut socket = RawSocket::open(server.address()).await;
        socket.send_bytes(&header(0x81, length)).await;
        socket.assert_aborted("exceeds maximum size").await;
    }
    assert_serves(server.address()).await;
}

#[tokio::test]
async fn the_fragments_of_a_message_count_together() {
    let server = start().await;
    let mut socket = RawSocket::open(server.address()).await;
    let text = call_of(900);
    let (one, two) = text.as_bytes().split_at(450);
    socket
        .send_bytes(&[frame(0x01, one), frame(0x80, two)].concat())
        .await;
    assert_eq!(
        socket.square_as(2, 3).await,
        json!(["resolve", 2, 9]),
        "fragments that are not too long"
    );
    socket.send_bytes(&frame(0x01, &[b' '; 450])).await;
    socket.send_bytes(&frame(0x00, &[b' '; 450])).await;
    socket.send_bytes(&frame(0x00, &[b' '; 450])).await;
    socket.assert_aborted("exceeds maximum size").await;
    assert_serves(server.address()).await;
}

#[tokio::test]
async fn a_client_has_limits_as_well() {
    let server = InteropServer::start().await;
    let options = Options::default().limits(Limits {
        max_message_bytes: LIMIT,
        ..Limits::default()
    });
    let connection = websocket::connect(&server.url(), Capability::nothing(), &options)
        .await
        .unwrap();
    let api: Stub<InteropTarget> = connection.remote();
    let error = api.greet("x".repeat(2 * LIMIT)).await.unwrap_err();
    assert_eq!(error.message(), "the value is too large to be sent");
    assert_eq!(
        api.list(10_u32).await.unwrap().len(),
        10,
        "which fails that call only"
    );
    let error = api.list(1000_u32).await.unwrap_err();
    assert!(
        error
            .message()
            .contains("exceeds maximum size of 1000 bytes"),
        "{error}"
    );
    assert_eq!(
        soon("the end", connection.closed()).await.message(),
        error.message()
    );
    assert_serves(server.address()).await;
}

#[tokio::test]
async fn a_batch_that_announces_too_much_is_refused_before_it_comes() {
    let server = start().await;
    let address = server.address();
    let request = format!(
        "POST /rpc HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\n\r\n",
        1_u64 << 40
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    assert_eq!(read_answer(&mut stream).await.status, 413);
    assert_serves(address).await;
}

#[tokio::test]
async fn a_batch_that_says_nothing_of_its_length_is_measured() {
    let server = start().await;
    let address = server.address();
    let head = format!("POST /rpc HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    let chunked = |chunks: &[&str]| {
        let chunks: String = chunks
            .iter()
            .map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len()))
            .collect();
        format!("{head}Transfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n")
    };
    let answer = exchange(address, chunked(&[&CALL[..10], &CALL[10..]]).as_bytes()).await;
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, r#"["resolve",1,144]"#)
    );
    let piece = " ".repeat(400);
    let answer = exchange(address, chunked(&[&piece, &piece, &piece]).as_bytes()).await;
    assert_eq!(answer.status, 413);
    // Neither a length nor chunks: there is no body.
    let answer = exchange(address, format!("{head}\r\n{CALL}").as_bytes()).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, ""));
    assert_serves(address).await;
}

#[tokio::test]
async fn a_batch_with_a_wrong_length_harms_no_other_session() {
    let server = start().await;
    let address = server.address();
    let head = format!("POST /rpc HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    let short = format!("{head}Content-Length: 20\r\n\r\n{CALL}");
    assert_eq!(exchange(address, short.as_bytes()).await.status, 400);
    // Promises more than it sends, then leaves.
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream
        .write_all(format!("{head}Content-Length: 500\r\n\r\n{CALL}").as_bytes())
        .await
        .unwrap();
    stream.shutdown().await.unwrap();
    let answer = read_answer(&mut stream).await;
    assert!(answer.status == 400 || answer.status == 0, "{answer:?}");
    let both = format!("{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    assert!(exchange(address, both.as_bytes()).await.status < 500);
    let negative = format!("{head}Content-Length: -1\r\n\r\n{CALL}");
    assert_eq!(exchange(address, negative.as_bytes()).await.status, 400);
    assert_serves(address).await;
}

#[tokio::test]
async fn a_batch_of_the_very_limit_is_taken_and_one_byte_more_is_not() {
    let server = start().await;
    let fill = |length: usize| format!("{CALL}{}", "\n".repeat(length - CALL.len()));
    assert_eq!(
        http::post(server.address(), "", &fill(LIMIT)).await.status,
        200
    );
    assert_eq!(
        http::post(server.address(), "", &fill(LIMIT + 1))
            .await
            .status,
        413
    );
    assert_serves(server.address()).await;
}
