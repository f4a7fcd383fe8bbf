//! Many sessions, each of which makes a call now and then.

use std::time::{Duration, Instant};

use super::Load;
use super::message::Message;
use super::socket::Socket;
use crate::bench::address::Address;
use crate::error::{Error, Result};

const SESSIONS: usize = 1000;

/// How often each session calls.
const PERIOD: Duration = Duration::from_secs(1);

/// Sessions that take turns: each call finds its session idle, as most are most of the time.
#[derive(Debug)]
pub(super) struct Turns {
    sockets: Vec<Socket>,
    /// How many calls were made, and so the id and the session of the next one.
    made: usize,
}

impl Turns {
    pub(super) fn open(address: &Address) -> Result<Turns> {
        let sockets = (0..SESSIONS).map(|_| Socket::open(address));
        Ok(Turns {
            sockets: sockets.collect::<Result<_>>()?,
            made: 0,
        })
    }

    fn call(&mut self) -> Result<()> {
        let id = self.made / SESSIONS + 1;
        let Socket { reader, writer } = &mut self.sockets[self.made % SESSIONS];
        self.made += 1;
        writer.queue(br#"["push",["pipeline",0,["square"],[7]]]"#);
        writer.queue(format!(r#"["pull",{id}]"#).as_bytes());
        match Message::parse(reader.next(writer)?)? {
            Message::Resolve(_, "49") => {
                writer.queue(format!(r#"["release",{id},1]"#).as_bytes());
                writer.flush()
            }
            other => Err(Error::Answer(format!("{other:?}"))),
        }
    }
}

impl Load for Turns {
    fn run(&mut self, end: Instant) -> Result<u64> {
        let mut done = 0;
        let mut due = Instant::now();
        while due < end {
            // A server that is late is not asked for less.
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            self.call()?;
            done += 1;
            due += PERIOD / SESSIONS as u32;
        }
        Ok(done)
    }
}
