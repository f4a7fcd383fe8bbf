//! HTTP batches: one POST with 1000 calls, again and again on a connection that is kept.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use super::Load;
use crate::bench::address::Address;
use crate::error::{Doing, Error, Result};

const CALLS: u64 = 1000;

#[derive(Debug)]
pub(super) struct Batches {
    stream: BufReader<TcpStream>,
    /// The whole request, the same each time.
    request: Vec<u8>,
    body: Vec<u8>,
}

impl Batches {
    pub(super) fn open(address: &Address) -> Result<Batches> {
        let mut body = String::new();
        for id in 1..=CALLS {
            let separator = if id == 1 { "" } else { "\n" };
            write!(
                body,
                "{separator}[\"push\",[\"pipeline\",0,[\"square\"],[{id}]]]\n[\"pull\",{id}]"
            )
            .expect("writing to a String");
        }
        let Address { authority, path } = address;
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Ok(Batches {
            stream: BufReader::with_capacity(256 * 1024, address.connect()?),
            request: request.into_bytes(),
            body: Vec::new(),
        })
    }

    fn round_trip(&mut self) -> Result<()> {
        let sent = self.stream.get_mut().write_all(&self.request);
        sent.doing(|| "send a batch".to_owned())?;
        self.read_answer()?;
        let lines = self.body.split(|byte| *byte == b'\n');
        let resolved = lines
            .filter(|line| line.starts_with(b"[\"resolve\","))
            .count();
        if resolved as u64 != CALLS || !contains(&self.body, b"[\"resolve\",1000,1000000]") {
            let text = String::from_utf8_lossy(&self.body[..self.body.len().min(200)]);
            return Err(Error::Answer(format!("{resolved} results: {text}")));
        }
        Ok(())
    }

    fn read_answer(&mut self) -> Result<()> {
        self.body.clear();
        let status = self.read_line()?;
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.read_line()?.to_ascii_lowercase();
            match line.split_once(':') {
                None => break,
                Some(("content-length", value)) => length = parse(value.trim(), 10)?,
                Some(("transfer-encoding", value)) => chunked = value.trim() == "chunked",
                Some(_) => {}
            }
        }
        if chunked {
            loop {
                let size = parse(&self.read_line()?, 16)?;
                self.read_body(size)?;
                self.read_line()?;
                if size == 0 {
                    break;
                }
            }
        } else {
            self.read_body(length)?;
        }
        if status.starts_with("HTTP/1.1 200") {
            return Ok(());
        }
        Err(Error::Answer(status))
    }

    /// One line of the answer's head, without its end.
    fn read_line(&mut self) -> Result<String> {
        let mut line = String::new();
        let read = self.stream.read_line(&mut line);
        match read.doing(|| "read an answer".to_owned())? {
            0 => Err(Error::Answer("the server hung up".to_owned())),
            _ => Ok(line.trim_end().to_owned()),
        }
    }

    fn read_body(&mut self, length: usize) -> Result<()> {
        let start = self.body.len();
        self.body.resize(start + length, 0);
        let read = self.stream.read_exact(&mut self.body[start..]);
        read.doing(|| "read an answer".to_owned())
    }
}

impl Load for Batches {
    fn run(&mut self, end: Instant) -> Result<u64> {
        let mut done = 0;
        while Instant::now() < end {
            self.round_trip()?;
            done += CALLS;
        }
        Ok(done)
    }
}

fn parse(text: &str, radix: u32) -> Result<usize> {
    usize::from_str_radix(text, radix).map_err(|_| Error::Answer(format!("length {text:?}")))
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
