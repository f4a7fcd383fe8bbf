//! A byte array of 1 MiB sent there and back.

use std::time::Instant;

use super::Load;
use super::message::Message;
use super::socket::{Socket, prepare};
use crate::bench::address::Address;
use crate::error::{Error, Result};

const SIZE: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct Echoes {
    socket: Socket,
    last_id: i64,
    /// The byte array as an expression, which must come back as it went.
    bytes: String,
    push: Vec<u8>,
}

impl Echoes {
    pub(super) fn open(address: &Address) -> Result<Echoes> {
        let bytes = format!("[\"bytes\",\"{}\"]", base64(SIZE));
        let push = format!("[\"push\",[\"pipeline\",0,[\"bytes\"],[{bytes}]]]");
        Ok(Echoes {
            socket: Socket::open(address)?,
            last_id: 0,
            bytes,
            push: prepare(push.as_bytes()),
        })
    }
}

impl Load for Echoes {
    fn run(&mut self, end: Instant) -> Result<u64> {
        let mut done = 0;
        while Instant::now() < end {
            self.last_id += 1;
            let Socket { reader, writer } = &mut self.socket;
            writer.queue_prepared(&self.push);
            writer.queue(format!("[\"pull\",{}]", self.last_id).as_bytes());
            match Message::parse(reader.next(writer)?)? {
                Message::Resolve(id, value) if id == self.last_id && value == self.bytes => {
                    writer.queue(format!("[\"release\",{id},1]").as_bytes());
                }
                _ => return Err(Error::Answer("other bytes than were sent".to_owned())),
            }
            writer.flush()?;
            done += 1;
        }
        Ok(done)
    }
}

/// The unpadded base64 of `size` bytes of mixed values.
fn base64(size: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    // Bits of the last character beyond the last byte must be zero, as every encoder writes them.
    let spare = (size * 8).div_ceil(6) * 6 - size * 8;
    let length = (size * 8).div_ceil(6);
    (0..length)
        .map(|index| {
            let six = (index * 31) % 64;
            let last = index + 1 == length;
            let six = if last { six >> spare << spare } else { six };
            char::from(ALPHABET[six])
        })
        .collect()
}
