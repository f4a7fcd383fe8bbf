//! A WebSocket by hand: it says what no library would, answers no ping, and reads only when told to.

use std::net::SocketAddr;

use serde_json::Value as Json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::eventually::soon;
use super::http::{self, HttpAnswer};

/// The client's end of a connection that has been upgraded.
pub(crate) struct RawSocket {
    pub(crate) stream: TcpStream,
}

/// What the server sends.
#[derive(Debug, PartialEq)]
pub(crate) enum Frame {
    Text(String),
    Ping,
    Pong,
    Close(u16, String),
    /// The connection is over.
    End,
}

impl RawSocket {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self::open_with(address, "").await.unwrap()
    }

    /// With further header lines, each ending in `\r\n`. A refusal is the server's answer.
    pub(crate) async fn open_with(address: SocketAddr, headers: &str) -> Result<Self, HttpAnswer> {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = format!(
            "GET /rpc HTTP/1.1\r\nHost: {address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(soon("the handshake", stream.read_u8()).await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        if head.starts_with("HTTP/1.1 101") {
            return Ok(Self { stream });
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Err(HttpAnswer {
            status,
            head,
            body: String::new(),
        })
    }

    /// Sends each text in a frame of its own.
    pub(crate) async fn send(&mut self, texts: &[&str]) {
        let bytes: Vec<u8> = texts
            .iter()
            .flat_map(|text| frame(0x81, text.as_bytes()))
            .collect();
        self.stream.write_all(&bytes).await.unwrap();
    }

    /// Sends bytes as they are.
    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn next(&mut self) -> Frame {
        soon("a frame", self.read()).await.unwrap_or(Frame::End)
    }

    async fn read(&mut self) -> std::io::Result<Frame> {
        let stream = &mut self.stream;
        let (first, second) = (stream.read_u8().await?, stream.read_u8().await?);
        let length = match second {
            127 => stream.read_u64().await? as usize,
            126 => usize::from(stream.read_u16().await?),
            length => usize::from(length),
        };
        let mut payload = vec![0; length];
        stream.read_exact(&mut payload).await?;
        Ok(match first {
            0x81 => Frame::Text(String::from_utf8(payload).unwrap()),
            0x89 => Frame::Ping,
            0x8a => Frame::Pong,
            0x88 => {
                let code = u16::from_be_bytes([payload[0], payload[1]]);
                Frame::Close(code, String::from_utf8(payload.split_off(2)).unwrap())
            }
            other => panic!("a frame that begins with {other:#x}"),
        })
    }

    /// The next text, as JSON.
    pub(crate) async fn message(&mut self) -> Json {
        match self.next().await {
            Frame::Text(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("expected a message, got {other:?}"),
        }
    }

    /// Makes the first call of the session and gives its answer.
    pub(crate) async fn square(&mut self, n: u32) -> Json {
        self.square_as(1, n).await
    }

    /// Makes a call that is number `id` of the session.
    pub(crate) async fn square_as(&mut self, id: u32, n: u32) -> Json {
        let call = format!(r#"["push",["pipeline",0,["square"],[{n}]]]"#);
        self.send(&[&call, &format!(r#"["pull",{id}]"#)]).await;
        match self.next().await {
            // The answer to a ping of ours.
            Frame::Pong => self.message().await,
            Frame::Text(text) => serde_json::from_str(&text).unwrap(),
            other => panic!("expected an answer, got {other:?}"),
        }
    }

    /// Asserts that the server aborts now, saying this: the message, then close 3000.
    pub(crate) async fn assert_aborted(&mut self, because: &str) {
        let message = self.message().await;
        let reason = message[1][2].as_str().unwrap_or_default();
        assert!(
            message[0] == "abort" && reason.contains(because),
            "{message}"
        );
        match self.next().await {
            Frame::Close(3000, text) => assert_eq!(text, reason),
            other => panic!("expected close 3000, got {other:?}"),
        }
    }
}

/// A frame of the client's: masked, with zeroes.
pub(crate) fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = header(first, payload.len() as u64);
    frame.extend_from_slice(payload);
    frame
}

/// The beginning of a frame that announces so many bytes.
pub(crate) fn header(first: u8, length: u64) -> Vec<u8> {
    let mut header = vec![first];
    match length {
        0..126 => header.push(0x80 | length as u8),
        126..0x1_0000 => {
            header.push(0x80 | 126);
            header.extend_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            header.push(0x80 | 127);
            header.extend_from_slice(&length.to_be_bytes());
        }
    }
    header.extend_from_slice(&[0; 4]);
    header
}

/// Asserts that a server answers a new session and a batch as if nothing had happened.
pub(crate) async fn assert_serves(address: SocketAddr) {
    let answer = RawSocket::open(address).await.square(12).await;
    assert_eq!(answer, serde_json::json!(["resolve", 1, 144]));
    let answer = http::post(address, "", CALL).await;
    assert_eq!(
        (answer.status, answer.body.as_str()),
        (200, r#"["resolve",1,144]"#)
    );
}

/// A batch of one call.
pub(crate) const CALL: &str = "[\"push\",[\"pipeline\",0,[\"square\"],[12]]]\n[\"pull\",1]";
