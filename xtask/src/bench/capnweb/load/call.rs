//! Simple calls, 64 in flight on one connection: push and pull, then release on the answer. Frames are written together, or
//! each by itself, as a client in JavaScript does.

use std::io::Write;
use std::time::Instant;

use super::Load;
use super::message::Message;
use super::socket::{Socket, prepare};
use crate::bench::address::Address;
use crate::error::{Error, Result};

const WINDOW: usize = 64;

/// How frames reach the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writes {
    /// All that are there, when there is nothing left to read.
    Together,
    FrameByFrame,
}

/// Calls `square(7)` over and over.
#[derive(Debug)]
pub(super) struct Calls {
    socket: Socket,
    writes: Writes,
    push: Vec<u8>,
    last_id: i64,
    text: Vec<u8>,
}

impl Calls {
    pub(super) fn open(address: &Address, writes: Writes) -> Result<Calls> {
        Ok(Calls {
            socket: Socket::open(address)?,
            writes,
            push: prepare(br#"["push",["pipeline",0,["square"],[7]]]"#),
            last_id: 0,
            text: Vec::new(),
        })
    }

    fn send(&mut self) -> Result<()> {
        self.last_id += 1;
        self.socket.writer.queue_prepared(&self.push);
        self.written()?;
        self.text.clear();
        write!(self.text, r#"["pull",{}]"#, self.last_id).expect("writing to a Vec");
        self.socket.writer.queue(&self.text);
        self.written()
    }

    /// A frame is complete.
    fn written(&mut self) -> Result<()> {
        match self.writes {
            Writes::Together => Ok(()),
            Writes::FrameByFrame => self.socket.writer.flush(),
        }
    }

    /// Waits for one answer and releases it.
    fn receive(&mut self) -> Result<()> {
        let Socket { reader, writer } = &mut self.socket;
        match Message::parse(reader.next(writer)?)? {
            Message::Resolve(id, "49") => {
                self.text.clear();
                write!(self.text, r#"["release",{id},1]"#).expect("writing to a Vec");
                writer.queue(&self.text);
                self.written()
            }
            other => Err(Error::Answer(format!("{other:?}"))),
        }
    }
}

impl Load for Calls {
    fn run(&mut self, end: Instant) -> Result<u64> {
        for _ in 0..WINDOW {
            self.send()?;
        }
        let (mut done, mut in_flight) = (0, WINDOW);
        while in_flight > 0 {
            self.receive()?;
            done += 1;
            if Instant::now() < end {
                self.send()?;
            } else {
                in_flight -= 1;
            }
        }
        self.socket.writer.flush()?;
        Ok(done)
    }
}
