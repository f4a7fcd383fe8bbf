//! The protobuf encoding: keys, variable-length numbers and blocks.

use bytes::Bytes;

use super::error::{Fault, fault};

/// How many messages may lie inside each other. Protobuf libraries agree on this number.
pub(crate) const DEPTH: u32 = 100;

/// The largest tag that protobuf allows.
const LARGEST_TAG: u64 = (1 << 29) - 1;

/// What follows a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Varint,
    Fixed64,
    Block,
    GroupStart,
    GroupEnd,
    Fixed32,
}

/// Reads one message, a member at a time.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    /// What all of it lies in; bytes that are read share its memory.
    source: &'a Bytes,
    rest: &'a [u8],
    /// How many more messages may lie inside this one.
    depth: u32,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a Bytes) -> Self {
        Self {
            source,
            rest: source,
            depth: DEPTH,
        }
    }

    /// The tag of the next member and what follows it, or nothing at the end of the message.
    #[inline]
    pub(crate) fn member(&mut self) -> Result<Option<(u32, Wire)>, Fault> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = self.number()?;
        let wire = match key & 7 {
            0 => Wire::Varint,
            1 => Wire::Fixed64,
            2 => Wire::Block,
            3 => Wire::GroupStart,
            4 => Wire::GroupEnd,
            5 => Wire::Fixed32,
            _ => return Err(fault("not protobuf: unknown wire type")),
        };
        match key >> 3 {
            tag @ 1..=LARGEST_TAG => Ok(Some((tag as u32, wire))),
            _ => Err(fault("not protobuf: tag out of range")),
        }
    }

    #[inline]
    pub(crate) fn varint(&mut self, wire: Wire) -> Result<u64, Fault> {
        expect(Wire::Varint, wire)?;
        self.number()
    }

    pub(crate) fn double(&mut self, wire: Wire) -> Result<f64, Fault> {
        expect(Wire::Fixed64, wire)?;
        let (bytes, rest) = self.rest.split_first_chunk().ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(f64::from_le_bytes(*bytes))
    }

    pub(crate) fn text(&mut self, wire: Wire) -> Result<&'a str, Fault> {
        let block = self.block(wire)?;
        std::str::from_utf8(block).map_err(|_| fault("not UTF-8"))
    }

    pub(crate) fn bytes(&mut self, wire: Wire) -> Result<Bytes, Fault> {
        let block = self.block(wire)?;
        Ok(self.source.slice_ref(block))
    }

    /// A message inside this one.
    pub(crate) fn message(&mut self, wire: Wire) -> Result<Reader<'a>, Fault> {
        let rest = self.block(wire)?;
        Ok(Reader {
            source: self.source,
            rest,
            depth: self.deeper()?,
        })
    }

    /// Passes over a member that we do not know.
    pub(crate) fn skip(&mut self, tag: u32, wire: Wire) -> Result<(), Fault> {
        match wire {
            Wire::Varint => self.number().map(drop),
            Wire::Fixed64 => self.split(8).map(drop),
            Wire::Fixed32 => self.split(4).map(drop),
            Wire::Block => self.block(wire).map(drop),
            Wire::GroupEnd => Err(fault("not protobuf: a group ends that is not open")),
            Wire::GroupStart => {
                let mut group = Reader {
                    source: self.source,
                    rest: self.rest,
                    depth: self.deeper()?,
                };
                loop {
                    match group.member()?.ok_or_else(cut_short)? {
                        (end, Wire::GroupEnd) if end == tag => break,
                        (tag, wire) => group.skip(tag, wire)?,
                    }
                }
                self.rest = group.rest;
                Ok(())
            }
        }
    }

    #[inline]
    fn block(&mut self, wire: Wire) -> Result<&'a [u8], Fault> {
        expect(Wire::Block, wire)?;
        let length = self.number()?;
        self.split(usize::try_from(length).map_err(|_| cut_short())?)
    }

    #[inline]
    fn split(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let (block, rest) = self.rest.split_at_checked(length).ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(block)
    }

    #[inline]
    fn number(&mut self) -> Result<u64, Fault> {
        // Most keys, lengths and enums are a single byte.
        match self.rest.split_first() {
            Some((&byte, rest)) if byte < 0x80 => {
                self.rest = rest;
                Ok(byte.into())
            }
            _ => self.long_number(),
        }
    }

    fn long_number(&mut self) -> Result<u64, Fault> {
        let mut number = 0;
        for (index, &byte) in self.rest.iter().take(10).enumerate() {
            // Only one bit of the tenth byte is left in 64 of them.
            if index == 9 && byte > 1 {
                break;
            }
            number |= u64::from(byte & 0x7f) << (7 * index);
            if byte < 0x80 {
                self.rest = &self.rest[index + 1..];
                return Ok(number);
            }
        }
        Err(match self.rest.len() {
            0..10 => cut_short(),
            _ => fault("not protobuf: a number of more than 64 bits"),
        })
    }

    fn deeper(&self) -> Result<u32, Fault> {
        let deeper = self.depth.checked_sub(1);
        deeper.ok_or_else(|| fault("more messages inside each other than protobuf allows"))
    }
}

#[inline]
fn expect(expected: Wire, wire: Wire) -> Result<(), Fault> {
    if wire == expected {
        return Ok(());
    }
    Err(unexpected(expected, wire))
}

#[cold]
fn unexpected(expected: Wire, wire: Wire) -> Fault {
    fault(format!("encoded as {wire:?}, expected {expected:?}"))
}

#[cold]
fn cut_short() -> Fault {
    fault("the bytes end too early")
}

/// Writes a number as a member.
pub(crate) fn put_varint(tag: u32, number: u64, out: &mut Vec<u8>) {
    put_number(key(tag, 0), out);
    put_number(number, out);
}

/// Writes a floating point number as a member.
pub(crate) fn put_double(tag: u32, number: f64, out: &mut Vec<u8>) {
    put_number(key(tag, 1), out);
    out.extend_from_slice(&number.to_le_bytes());
}

/// Writes the head of a member of `length` bytes, which the caller writes next.
pub(crate) fn put_block(tag: u32, length: usize, out: &mut Vec<u8>) {
    put_number(key(tag, 2), out);
    put_number(length as u64, out);
}

/// How many bytes a number takes as a member.
pub(crate) fn varint_size(tag: u32, number: u64) -> usize {
    number_size(key(tag, 0)) + number_size(number)
}

/// How many bytes a member of `length` bytes takes with its head.
pub(crate) fn block_size(tag: u32, length: usize) -> usize {
    number_size(key(tag, 2)) + number_size(length as u64) + length
}

fn key(tag: u32, wire: u64) -> u64 {
    u64::from(tag) << 3 | wire
}

fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn number_size(number: u64) -> usize {
    let bits = 64 - (number | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

#[cfg(test)]
#[path = "protobuf_tests.rs"]
mod tests;
