//! A kept HTTP/1.1 connection, one request after the other.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::bench::address::Address;
use crate::error::{Doing, Error, Result};

/// How long a server may be silent before we give a request up.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a connection may lie idle and still be used. Servers close it after some seconds, and
/// a request that crosses that would fail by no fault of the server.
const IDLE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Connection {
    address: Address,
    stream: BufReader<TcpStream>,
    /// When the last answer was read to its end, if the server keeps the connection.
    free_since: Option<Instant>,
}

/// The head of an answer is read; its body is read from here, without what HTTP puts around it.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    connection: &'a mut Connection,
    pub(super) status: u16,
    /// In lower case, with its parameters.
    pub(super) content_type: String,
    keep: bool,
    rest: Rest,
}

/// How much of a body is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Known(u64),
    /// What is left of the current chunk; its end and the next size line follow.
    Chunk(u64),
    /// No chunk has begun yet.
    Chunked,
    Done,
}

impl Connection {
    pub(super) fn open(address: &Address) -> Result<Connection> {
        Ok(Connection {
            address: address.clone(),
            stream: connect(address)?,
            free_since: Some(Instant::now()),
        })
    }

    /// Sends a whole request and waits for the head of its answer.
    pub(super) fn send(&mut self, request: &[u8]) -> Result<Answer<'_>> {
        let free_since = self.free_since.take();
        if free_since.is_none_or(|since| since.elapsed() > IDLE) {
            self.stream = connect(&self.address)?;
        }
        let sent = self.stream.get_mut().write_all(request);
        sent.doing(|| "send a request".to_owned())?;
        self.head()
    }

    fn head(&mut self) -> Result<Answer<'_>> {
        let mut line = String::new();
        read_line(&mut self.stream, &mut line).doing(|| "wait for an answer".to_owned())?;
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
        let status = status.ok_or_else(|| Error::Answer(format!("no status in {line:?}")))?;
        let (mut rest, mut keep) = (None, true);
        let mut content_type = String::new();
        loop {
            read_line(&mut self.stream, &mut line).doing(|| "read an answer".to_owned())?;
            if line.is_empty() {
                break;
            }
            line.make_ascii_lowercase();
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            match (name, value.trim()) {
                ("content-length", value) => {
                    let length = value.parse();
                    rest = Some(Rest::Known(length.map_err(|_| unclear(value))?));
                }
                ("transfer-encoding", "chunked") => rest = Some(Rest::Chunked),
                ("connection", value) => keep = value != "close",
                ("content-type", value) => value.clone_into(&mut content_type),
                _ => {}
            }
        }
        Ok(Answer {
            rest: rest.ok_or_else(|| Error::Answer("an answer without a length".to_owned()))?,
            connection: self,
            status,
            content_type,
            keep,
        })
    }
}

impl Read for Answer<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if matches!(self.rest, Rest::Chunked | Rest::Chunk(0)) {
            self.next_chunk()?;
        }
        let (Rest::Known(left) | Rest::Chunk(left)) = self.rest else {
            return Ok(0);
        };
        let most = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let read = match most {
            0 => 0,
            most => match self.connection.stream.read(&mut buffer[..most])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => read,
            },
        };
        let left = left - read as u64;
        match &mut self.rest {
            Rest::Known(_) if left == 0 => self.end(),
            Rest::Known(rest) | Rest::Chunk(rest) => *rest = left,
            Rest::Chunked | Rest::Done => {}
        }
        Ok(read)
    }
}

impl Answer<'_> {
    /// Reads on to the first byte of the next chunk, or to the end of the body.
    fn next_chunk(&mut self) -> io::Result<()> {
        let mut line = String::new();
        if self.rest == Rest::Chunk(0) {
            read_line(&mut self.connection.stream, &mut line)?;
        }
        read_line(&mut self.connection.stream, &mut line)?;
        let size = line.split(';').next().unwrap_or_default();
        let size = u64::from_str_radix(size.trim(), 16);
        match size.map_err(|_| io::Error::other(unclear(&line)))? {
            0 => {
                // Neither of the servers sends trailers.
                read_line(&mut self.connection.stream, &mut line)?;
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

fn connect(address: &Address) -> Result<BufReader<TcpStream>> {
    let stream = address.connect()?;
    stream
        .set_read_timeout(Some(PATIENCE))
        .doing(|| "set a time limit".to_owned())?;
    Ok(BufReader::with_capacity(64 * 1024, stream))
}

/// Reads one line of a head, without its end.
fn read_line(stream: &mut BufReader<TcpStream>, line: &mut String) -> io::Result<()> {
    line.clear();
    if stream.read_line(line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    line.truncate(line.trim_end().len());
    Ok(())
}

fn unclear(length: &str) -> Error {
    Error::Answer(format!("a body of length {length:?}"))
}
