//! HTTP by hand, to say what no client library would.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::eventually::soon;

/// What a server answered.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Sends bytes as they are and reads until the server closes; `Connection: close` makes it do so.
pub(crate) async fn exchange(address: SocketAddr, request: &[u8]) -> HttpAnswer {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // A server may answer and close before it has read all, which fails the write.
    let _ = stream.write_all(request).await;
    read_answer(&mut stream).await
}

/// Reads an answer to the end of the connection.
pub(crate) async fn read_answer(stream: &mut TcpStream) -> HttpAnswer {
    let mut answer = Vec::new();
    let reading = async {
        let mut piece = [0; 4096];
        // A reset after the answer is an end like any other.
        while let Ok(count @ 1..) = stream.read(&mut piece).await {
            answer.extend_from_slice(&piece[..count]);
        }
    };
    soon("the answer", reading).await;
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    HttpAnswer {
        status: status.unwrap_or(0),
        head: head.to_owned(),
        body: body.to_owned(),
    }
}

/// Posts a body, with further header lines (each ending in `\r\n`).
pub(crate) async fn post(address: SocketAddr, headers: &str, body: &str) -> HttpAnswer {
    let length = body.len();
    let request = format!(
        "POST /rpc HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    exchange(address, request.as_bytes()).await
}

pub(crate) async fn get(address: SocketAddr, path: &str, headers: &str) -> HttpAnswer {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n");
    exchange(address, request.as_bytes()).await
}
