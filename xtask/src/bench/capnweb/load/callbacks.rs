//! Callbacks: `callMe(callback, 1000)`, with the generator answering the server's calls.

use std::collections::HashMap;
use std::io::Write;
use std::time::Instant;

use super::Load;
use super::message::Message;
use super::socket::Socket;
use crate::bench::address::Address;
use crate::error::{Error, Result};

const CALLBACKS: u64 = 1000;

#[derive(Debug)]
pub(super) struct Callbacks {
    socket: Socket,
    /// Our calls so far. Each lends a callback with the negative of its id.
    last_id: i64,
    /// The server's calls so far; it counts them without telling their ids.
    last_export: i64,
    /// What the server's calls return, until it releases them.
    exports: HashMap<i64, String>,
    text: Vec<u8>,
}

impl Callbacks {
    pub(super) fn open(address: &Address) -> Result<Callbacks> {
        Ok(Callbacks {
            socket: Socket::open(address)?,
            last_id: 0,
            last_export: 0,
            exports: HashMap::new(),
            text: Vec::new(),
        })
    }

    /// One `callMe`, until it has answered and let go of everything it was lent.
    fn call(&mut self) -> Result<()> {
        self.last_id += 1;
        let id = self.last_id;
        let push = format!(r#"["push",["pipeline",0,["callMe"],[["export",-{id}],{CALLBACKS}]]]"#);
        self.socket.writer.queue(push.as_bytes());
        self.socket
            .writer
            .queue(format!(r#"["pull",{id}]"#).as_bytes());
        let (mut sum, mut lent) = (None, true);
        while sum.is_none() || lent || !self.exports.is_empty() {
            let Socket { reader, writer } = &mut self.socket;
            self.text.clear();
            match Message::parse(reader.next(writer)?)? {
                Message::Push(call) => {
                    self.last_export += 1;
                    self.exports
                        .insert(self.last_export, argument(call)?.to_owned());
                    continue;
                }
                Message::Stream(call) => {
                    self.last_export += 1;
                    let (id, value) = (self.last_export, argument(call)?);
                    write!(self.text, r#"["resolve",{id},{value}]"#)
                }
                Message::Pull(id) => {
                    let value = self.exports.get(&id);
                    let value = value.ok_or_else(|| Error::Answer(format!("pull of {id}")))?;
                    write!(self.text, r#"["resolve",{id},{value}]"#)
                }
                Message::Release(release) => {
                    lent &= release != -id;
                    self.exports.remove(&release);
                    continue;
                }
                Message::Resolve(_, value) => {
                    sum = value.parse::<u64>().ok();
                    write!(self.text, r#"["release",{id},1]"#)
                }
            }
            .expect("writing to a Vec");
            writer.queue(&self.text);
        }
        self.socket.writer.flush()?;
        if sum != Some(CALLBACKS * (CALLBACKS - 1) / 2) {
            return Err(Error::Answer(format!("the sum {sum:?}")));
        }
        Ok(())
    }
}

impl Load for Callbacks {
    fn run(&mut self, end: Instant) -> Result<u64> {
        let mut done = 0;
        while Instant::now() < end {
            self.call()?;
            done += CALLBACKS;
        }
        Ok(done)
    }
}

/// The only argument of a call such as `["pipeline",-1,[],[5]]`, which our callback returns.
fn argument(call: &str) -> Result<&str> {
    call.split_once(",[],[")
        .and_then(|(_, rest)| rest.strip_suffix("]]"))
        .ok_or_else(|| Error::Answer(call.to_owned()))
}
