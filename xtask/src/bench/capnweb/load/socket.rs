//! A WebSocket client as small as a load generator needs it: text frames, batched writes.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::rc::Rc;

use crate::bench::address::Address;
use crate::error::{Doing, Error, Result};

/// Clients must mask what they send (RFC 6455 5.3). The key hides nothing on loopback, so that
/// one key for all frames lets a frame be prepared once and sent many times.
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

/// Opcodes of RFC 6455 5.2.
const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// How much is read at once at most while messages are small.
const READ_CHUNK: usize = 64 * 1024;

/// One connection, in two halves so that a message can be answered while it is looked at.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) reader: Reader,
    pub(super) writer: Writer,
}

/// What has arrived. [`Reader::next`] sends what is queued before it waits.
#[derive(Debug)]
pub(super) struct Reader {
    stream: Rc<TcpStream>,
    buffer: Vec<u8>,
    /// Where the first byte is that no message has used.
    start: usize,
    end: usize,
}

/// Frames on their way, kept until the reader would have to wait.
#[derive(Debug)]
pub(super) struct Writer {
    stream: Rc<TcpStream>,
    buffer: Vec<u8>,
}

impl Socket {
    pub(super) fn open(address: &Address) -> Result<Socket> {
        let stream = Rc::new(address.connect()?);
        let mut socket = Socket {
            reader: Reader {
                stream: Rc::clone(&stream),
                buffer: Vec::new(),
                start: 0,
                end: 0,
            },
            writer: Writer {
                stream,
                buffer: Vec::new(),
            },
        };
        let Address { authority, path } = address;
        // The key only proves to a client that it speaks with a WebSocket server; we know it does.
        write!(
            socket.writer.buffer,
            "GET {path} HTTP/1.1\r\nHost: {authority}\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: bW9uYXMtYmVuY2gtbG9hZA==\r\n\r\n"
        )
        .doing(|| "write the handshake".to_owned())?;
        socket.writer.flush()?;
        socket.reader.handshake()?;
        Ok(socket)
    }

    /// Gives back the memory of an idle connection.
    pub(super) fn shrink(&mut self) {
        self.reader.buffer = Vec::new();
        self.writer.buffer = Vec::new();
    }
}

impl Reader {
    /// The next text message. Sends what `writer` holds before it waits for more input.
    pub(super) fn next(&mut self, writer: &mut Writer) -> Result<&[u8]> {
        loop {
            let Some(frame) = Frame::parse(&self.buffer[self.start..self.end])? else {
                writer.flush()?;
                self.fill()?;
                continue;
            };
            let body = self.start + frame.header..self.start + frame.header + frame.length;
            self.start = body.end;
            match frame.opcode {
                TEXT => return Ok(&self.buffer[body]),
                PING => encode(PONG, &self.buffer[body], &mut writer.buffer),
                PONG => {}
                CLOSE => {
                    let reason = String::from_utf8_lossy(self.buffer[body].get(2..).unwrap_or(&[]));
                    return Err(Error::Answer(format!("the server closed: {reason}")));
                }
                opcode => return Err(Error::Answer(format!("a frame with opcode {opcode}"))),
            }
        }
    }

    fn handshake(&mut self) -> Result<()> {
        loop {
            let head = &self.buffer[self.start..self.end];
            if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
                if !head.starts_with(b"HTTP/1.1 101 ") {
                    let text = String::from_utf8_lossy(head);
                    return Err(Error::Answer(format!("no WebSocket: {text}")));
                }
                self.start += end + 4;
                return Ok(());
            }
            self.fill()?;
        }
    }

    /// Waits for more input.
    fn fill(&mut self) -> Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start > READ_CHUNK {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.buffer.len() - self.end < READ_CHUNK {
            let grown = (self.buffer.len() * 2).max(2 * READ_CHUNK);
            self.buffer.resize(grown, 0);
        }
        let read = (&*self.stream).read(&mut self.buffer[self.end..]);
        match read.doing(|| "read from the server".to_owned())? {
            0 => Err(Error::Answer("the server hung up".to_owned())),
            read => {
                self.end += read;
                Ok(())
            }
        }
    }
}

impl Writer {
    /// Queues one text message.
    pub(super) fn queue(&mut self, text: &[u8]) {
        encode(TEXT, text, &mut self.buffer);
    }

    /// Queues a frame made by [`prepare`].
    pub(super) fn queue_prepared(&mut self, frame: &[u8]) {
        self.buffer.extend_from_slice(frame);
    }

    pub(super) fn flush(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            let sent = (&*self.stream).write_all(&self.buffer);
            sent.doing(|| "write to the server".to_owned())?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// Makes a frame that is sent many times.
pub(super) fn prepare(text: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    encode(TEXT, text, &mut frame);
    frame
}

fn encode(opcode: u8, body: &[u8], out: &mut Vec<u8>) {
    const FINAL: u8 = 0x80;
    const MASKED: u8 = 0x80;
    out.push(FINAL | opcode);
    match body.len() {
        small @ 0..=125 => out.push(MASKED | small as u8),
        medium @ 126..=0xffff => {
            out.push(MASKED | 126);
            out.extend_from_slice(&(medium as u16).to_be_bytes());
        }
        large => {
            out.push(MASKED | 127);
            out.extend_from_slice(&(large as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(&MASK);
    let start = out.len();
    out.extend_from_slice(body);
    for four in out[start..].chunks_mut(4) {
        for (byte, key) in four.iter_mut().zip(MASK) {
            *byte ^= key;
        }
    }
}

/// The head of a frame from the server, which is complete in the buffer.
#[derive(Debug)]
struct Frame {
    opcode: u8,
    header: usize,
    length: usize,
}

impl Frame {
    /// Reads the head of a frame; nothing while the frame is not complete.
    fn parse(input: &[u8]) -> Result<Option<Frame>> {
        let [first, second, rest @ ..] = input else {
            return Ok(None);
        };
        // Neither server fragments its messages or masks them.
        if first & 0xf0 != 0x80 || second & 0x80 != 0 {
            return Err(Error::Answer(format!("a frame {first:#x} {second:#x}")));
        }
        let (header, length) = match second {
            126 => match rest.first_chunk() {
                Some(bytes) => (4, usize::from(u16::from_be_bytes(*bytes))),
                None => return Ok(None),
            },
            127 => match rest.first_chunk() {
                Some(bytes) => (10, u64::from_be_bytes(*bytes) as usize),
                None => return Ok(None),
            },
            small => (2, usize::from(*small)),
        };
        let complete = input.len() - 2 >= header - 2 + length;
        Ok(complete.then_some(Frame {
            opcode: first & 0x0f,
            header,
            length,
        }))
    }
}
