//! A kept HTTP/1.1 connection, one request after the other: as little of it as servers need.

use std::ops::Range;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::address::Address;
use crate::error::{Doing, Error, Result};

/// How long a server may be silent before we give a request up.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a connection may lie idle and still be used. Servers close it after some seconds, and
/// a request that crosses that would fail by no fault of the server.
const IDLE: Duration = Duration::from_secs(1);

/// How much is read at once at most.
const READ_CHUNK: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Connection {
    address: Address,
    stream: TcpStream,
    /// What has arrived and not been used: the part from `start` on.
    buffer: Vec<u8>,
    start: usize,
    /// When the last answer was read to its end, if the server keeps the connection.
    free_since: Option<Instant>,
}

/// The head of an answer is read; its body is read from here, without what HTTP puts around it.
#[derive(Debug)]
pub(super) struct HttpResponse<'a> {
    connection: &'a mut Connection,
    pub(super) status: u16,
    /// In lower case, with its parameters.
    pub(super) content_type: String,
    /// The session of MCP that it opens.
    pub(super) session: Option<String>,
    keep: bool,
    rest: Rest,
}

/// How much of a body is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Known(usize),
    /// The rest of the current chunk; its end and the next size line follow.
    Chunk(usize),
    /// No chunk has begun yet.
    Chunked,
    Done,
}

impl Connection {
    pub(super) fn open(address: &Address) -> Result<Connection> {
        Ok(Connection {
            address: address.clone(),
            stream: connect(address)?,
            buffer: Vec::with_capacity(READ_CHUNK),
            start: 0,
            free_since: Some(Instant::now()),
        })
    }

    /// Sends a whole request and waits for the head of its answer.
    pub(super) async fn send(&mut self, request: &[u8]) -> Result<HttpResponse<'_>> {
        let free_since = self.free_since.take();
        if free_since.is_none_or(|since| since.elapsed() > IDLE) {
            self.stream = connect(&self.address)?;
            self.buffer.clear();
            self.start = 0;
        }
        let sent = self.stream.write_all(request).await;
        sent.doing(|| "send a request".to_owned())?;
        self.head().await
    }

    async fn head(&mut self) -> Result<HttpResponse<'_>> {
        let line = self.line().await?;
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.ok_or_else(|| Error::Answer(format!("no status in {line:?}")))?;
        let (mut rest, mut keep) = (None, true);
        let (mut content_type, mut session) = (String::new(), None);
        loop {
            let line = self.line().await?.to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            match (name, value.trim()) {
                // Ids of sessions are UUIDs, which have no case.
                ("mcp-session-id", value) => session = Some(value.to_owned()),
                ("content-length", value) => rest = Some(Rest::Known(length(value, 10)?)),
                ("transfer-encoding", "chunked") => rest = Some(Rest::Chunked),
                ("connection", value) => keep = value != "close",
                ("content-type", value) => value.clone_into(&mut content_type),
                _ => {}
            }
        }
        Ok(HttpResponse {
            rest: rest.ok_or_else(|| Error::Answer("an answer without a length".to_owned()))?,
            connection: self,
            status,
            content_type,
            session,
            keep,
        })
    }

    /// One line of a head, without its end.
    async fn line(&mut self) -> Result<&str> {
        let mut seen = 0;
        let end = loop {
            let unseen = &self.buffer[self.start + seen..];
            if let Some(place) = unseen.iter().position(|byte| *byte == b'\n') {
                break self.start + seen + place;
            }
            seen += unseen.len();
            self.fill().await?;
        };
        let line = &self.buffer[self.start..end];
        self.start = end + 1;
        let line = str::from_utf8(line).map_err(|_| Error::Answer("a strange head".to_owned()))?;
        Ok(line.trim_end())
    }

    /// What has arrived, at most so many bytes; waits if nothing has.
    async fn take(&mut self, most: usize) -> Result<Range<usize>> {
        if self.start == self.buffer.len() {
            self.fill().await?;
        }
        let taken = self.start..self.buffer.len().min(self.start + most);
        self.start = taken.end;
        Ok(taken)
    }

    /// Waits for more input. What is not used yet moves to the front.
    async fn fill(&mut self) -> Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.reserve(READ_CHUNK);
        let read = timeout(PATIENCE, self.stream.read_buf(&mut self.buffer)).await;
        let read = read.map_err(|_| Error::Answer("the server is silent".to_owned()))?;
        match read.doing(|| "read an answer".to_owned())? {
            0 => Err(Error::Answer("the server hung up".to_owned())),
            _ => Ok(()),
        }
    }
}

impl HttpResponse<'_> {
    /// What comes next of the body; nothing at its end.
    pub(super) async fn next(&mut self) -> Result<Option<&[u8]>> {
        if matches!(self.rest, Rest::Chunked | Rest::Chunk(0)) {
            self.next_chunk().await?;
        }
        let left = match self.rest {
            Rest::Known(0) => {
                self.end();
                return Ok(None);
            }
            Rest::Known(left) | Rest::Chunk(left) => left,
            Rest::Chunked | Rest::Done => return Ok(None),
        };
        let taken = self.connection.take(left).await?;
        match &mut self.rest {
            Rest::Known(rest) | Rest::Chunk(rest) => *rest -= taken.len(),
            Rest::Chunked | Rest::Done => {}
        }
        Ok(Some(&self.connection.buffer[taken]))
    }

    pub(super) async fn body(mut self) -> Result<Vec<u8>> {
        let mut body = Vec::new();
        while let Some(piece) = self.next().await? {
            body.extend_from_slice(piece);
        }
        Ok(body)
    }

    /// Reads on to the first byte of the next chunk, or to the end of the body.
    async fn next_chunk(&mut self) -> Result<()> {
        if self.rest == Rest::Chunk(0) {
            self.connection.line().await?;
        }
        let line = self.connection.line().await?;
        let size = line.split(';').next().unwrap_or_default();
        match length(size.trim(), 16)? {
            0 => {
                // None of the servers sends trailers.
                self.connection.line().await?;
                self.end();
            }
            size => self.rest = Rest::Chunk(size),
        }
        Ok(())
    }

    fn end(&mut self) {
        self.rest = Rest::Done;
        self.connection.free_since = self.keep.then(Instant::now);
    }
}

fn connect(address: &Address) -> Result<TcpStream> {
    let stream = address.connect()?;
    let stream = stream
        .set_nonblocking(true)
        .and_then(|()| TcpStream::from_std(stream));
    stream.doing(|| format!("connect to {}", address.authority))
}

fn length(text: &str, radix: u32) -> Result<usize> {
    usize::from_str_radix(text, radix)
        .map_err(|_| Error::Answer(format!("a body of length {text:?}")))
}
