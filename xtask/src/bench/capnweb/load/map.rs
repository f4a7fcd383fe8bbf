//! `list(1000).map(square)`, pushed as one remap and answered in either of two ways.
//!
//! A server may answer with all values at once, or with one promise for each element that it
//! resolves later. The generator takes both and releases what it was given, as a client would.

use std::io::Write;
use std::time::Instant;

use serde_json::Value;

use super::Load;
use super::message::Message;
use super::socket::{Socket, prepare};
use crate::bench::address::Address;
use crate::error::{Error, Result};

const ELEMENTS: u64 = 1000;

#[derive(Debug)]
pub(super) struct Maps {
    socket: Socket,
    list: Vec<u8>,
    last_id: i64,
    text: Vec<u8>,
}

impl Maps {
    pub(super) fn open(address: &Address) -> Result<Maps> {
        let list = format!(r#"["push",["pipeline",0,["list"],[{ELEMENTS}]]]"#);
        Ok(Maps {
            socket: Socket::open(address)?,
            list: prepare(list.as_bytes()),
            last_id: 0,
            text: Vec::new(),
        })
    }

    /// Maps one list and returns once every element has its value.
    fn map(&mut self) -> Result<()> {
        let list = self.last_id + 1;
        let mapped = self.last_id + 2;
        self.last_id = mapped;
        self.socket.writer.queue_prepared(&self.list);
        // Capture -1 is the main object, 0 the element, 1 the result of the first instruction.
        self.send(format_args!(
            r#"["push",["remap",{list},[],[["import",0]],[["pipeline",-1,["square"],[["pipeline",0]]],["pipeline",1]]]]"#
        ));
        self.send(format_args!(r#"["pull",{mapped}]"#));
        let mut elements = Elements::default();
        while elements.seen < ELEMENTS {
            let Socket { reader, writer } = &mut self.socket;
            match Message::parse(reader.next(writer)?)? {
                Message::Resolve(id, values) if id == mapped => {
                    elements.add_all(values)?;
                    self.send(format_args!(r#"["release",{mapped},1]"#));
                    self.send(format_args!(r#"["release",{list},1]"#));
                }
                Message::Resolve(promise, value) => {
                    elements.add(value.parse().ok());
                    self.send(format_args!(r#"["release",{promise},1]"#));
                }
                other => return Err(Error::Answer(format!("{other:?}"))),
            }
        }
        self.socket.writer.flush()?;
        elements.check()
    }

    fn send(&mut self, message: std::fmt::Arguments<'_>) {
        self.text.clear();
        self.text.write_fmt(message).expect("writing to a Vec");
        self.socket.writer.queue(&self.text);
    }
}

impl Load for Maps {
    fn run(&mut self, end: Instant) -> Result<u64> {
        let mut done = 0;
        while Instant::now() < end {
            self.map()?;
            done += ELEMENTS;
        }
        Ok(done)
    }
}

/// The values of a mapped list, as they come.
#[derive(Debug, Default)]
struct Elements {
    seen: u64,
    sum: u64,
    /// Whether an element was no number.
    odd: bool,
}

impl Elements {
    /// Takes the answer `[[…]]`: its elements are numbers, or promises that resolve later.
    fn add_all(&mut self, answer: &str) -> Result<()> {
        let answer: Value =
            serde_json::from_str(answer).map_err(|error| Error::Answer(error.to_string()))?;
        let values = answer[0].as_array();
        let values = values.ok_or_else(|| Error::Answer("a map that is no list".to_owned()))?;
        for value in values.iter().filter(|value| !value.is_array()) {
            self.add(value.as_u64());
        }
        Ok(())
    }

    fn add(&mut self, value: Option<u64>) {
        self.seen += 1;
        self.sum += value.unwrap_or(0);
        self.odd |= value.is_none();
    }

    fn check(&self) -> Result<()> {
        let squares: u64 = (0..ELEMENTS).map(|number| number * number).sum();
        if self.odd || self.sum != squares {
            return Err(Error::Answer(format!("{self:?} from a map of squares")));
        }
        Ok(())
    }
}
