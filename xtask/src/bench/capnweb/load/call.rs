//! Simple calls, 64 in flight on one connection: push and pull, then release on the answer.

use std::io::Write;
use std::time::Instant;

use super::Load;
use super::message::Message;
use super::socket::{Socket, prepare};
use crate::bench::address::Address;
use crate::error::{Error, Result};

const WINDOW: usize = 64;

/// Calls `square(7)` over and over.
#[derive(Debug)]
pub(super) struct Calls {
    socket: Socket,
    push: Vec<u8>,
    last_id: i64,
    text: Vec<u8>,
}

impl Calls {
    pub(super) fn open(address: &Address) -> Result<Calls> {
        Ok(Calls {
            socket: Socket::open(address)?,
            push: prepare(br#"["push",["pipeline",0,["square"],[7]]]"#),
            last_id: 0,
            text: Vec::new(),
        })
    }

    fn send(&mut self) {
        self.last_id += 1;
        let writer = &mut self.socket.writer;
        writer.queue_prepared(&self.push);
        self.text.clear();
        write!(self.text, r#"["pull",{}]"#, self.last_id).expect("writing to a Vec");
        writer.queue(&self.text);
    }

    /// Waits for one answer and releases it.
    fn receive(&mut self) -> Result<()> {
        let Socket { reader, writer } = &mut self.socket;
        match Message::parse(reader.next(writer)?)? {
            Message::Resolve(id, "49") => {
                self.text.clear();
                write!(self.text, r#"["release",{id},1]"#).expect("writing to a Vec");
                writer.queue(&self.text);
                Ok(())
            }
            other => Err(Error::Answer(format!("{other:?}"))),
        }
    }
}

impl Load for Calls {
    fn run(&mut self, end: Instant) -> Result<u64> {
        for _ in 0..WINDOW {
            self.send();
        }
        let (mut done, mut in_flight) = (0, WINDOW);
        while in_flight > 0 {
            self.receive()?;
            done += 1;
            if Instant::now() < end {
                self.send();
            } else {
                in_flight -= 1;
            }
        }
        self.socket.writer.flush()?;
        Ok(done)
    }
}
