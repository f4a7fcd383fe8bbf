//! A WebSocket without a library: frames of text, and answers to pings.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::bench::address::Address;
use crate::error::{Doing, Error, Result};

const TEXT: u8 = 0x1;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xa;

/// An open connection.
#[derive(Debug)]
pub(super) struct Socket {
    stream: TcpStream,
    /// Bytes that were read and are not taken yet.
    read: Vec<u8>,
}

impl Socket {
    pub(super) async fn open(address: &Address) -> Result<Socket> {
        let lost = || format!("open a WebSocket at {}", address.authority);
        let stream = TcpStream::connect(&address.authority).await.doing(lost)?;
        stream.set_nodelay(true).doing(lost)?;
        let mut socket = Socket {
            stream,
            read: Vec::new(),
        };
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            address.path, address.authority
        );
        let sent = socket.stream.write_all(request.as_bytes()).await;
        sent.doing(lost)?;
        loop {
            if let Some(end) = socket.read.windows(4).position(|it| it == b"\r\n\r\n") {
                let head: Vec<u8> = socket.read.drain(..end + 4).collect();
                if head.starts_with(b"HTTP/1.1 101") {
                    return Ok(socket);
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                return Err(Error::Answer(head));
            }
            socket.fill().await?;
        }
    }

    /// Sends a frame of text.
    pub(super) async fn send(&mut self, text: &str) -> Result<()> {
        self.write(TEXT, text.as_bytes()).await
    }

    /// The next frame of text. It may be dropped and called again: what was read is kept.
    pub(super) async fn next(&mut self) -> Result<String> {
        loop {
            while let Some((opcode, payload)) = self.take() {
                match opcode {
                    TEXT => {
                        let text = String::from_utf8(payload);
                        return text.map_err(|it| Error::Answer(it.to_string()));
                    }
                    PING => self.write(PONG, &payload).await?,
                    CLOSE => {
                        return Err(Error::Answer("the server closed a connection".to_owned()));
                    }
                    _ => {}
                }
            }
            self.fill().await?;
        }
    }

    async fn fill(&mut self) -> Result<()> {
        let read = self.stream.read_buf(&mut self.read).await;
        match read.doing(|| "read from a WebSocket".to_owned())? {
            0 => Err(Error::Answer("the server cut a connection".to_owned())),
            _ => Ok(()),
        }
    }

    /// A whole frame of those that were read. A server masks none, and these servers split none.
    fn take(&mut self) -> Option<(u8, Vec<u8>)> {
        let [first, second, ..] = *self.read.as_slice() else {
            return None;
        };
        let (length, start) = match second & 0x7f {
            126 => (number(self.read.get(2..4)?), 4),
            127 => (number(self.read.get(2..10)?), 10),
            short => (usize::from(short), 2),
        };
        if self.read.len() < start + length {
            return None;
        }
        let payload = self.read.drain(..start + length).skip(start).collect();
        Some((first & 0x0f, payload))
    }

    async fn write(&mut self, opcode: u8, payload: &[u8]) -> Result<()> {
        let mut frame = vec![0x80 | opcode];
        match payload.len() {
            short @ 0..126 => frame.push(0x80 | short as u8),
            length @ 126..65_536 => {
                frame.push(0x80 | 126);
                frame.extend_from_slice(&(length as u16).to_be_bytes());
            }
            length => {
                frame.push(0x80 | 127);
                frame.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
        // A mask of zeros changes nothing.
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(payload);
        let written = self.stream.write_all(&frame).await;
        written.doing(|| "write to a WebSocket".to_owned())
    }
}

fn number(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .fold(0, |sum, byte| sum << 8 | usize::from(*byte))
}
