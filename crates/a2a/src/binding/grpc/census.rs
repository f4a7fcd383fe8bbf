//! How much memory a request takes once it is decoded, estimated before it is: two bytes of protobuf are an empty part, or
//! a value in a list, of some hundred bytes. JSON is counted in the same way, against the same limit.

use ::capnweb::weight::{Census, GROWTH, LARGE, LEEWAY};
use bytes::Bytes;

use crate::error::Error;
use crate::types::wire::{Fault, Kind, MessageDescription, Reader};

#[cfg(test)]
#[path = "census_tests.rs"]
mod tests;

/// Refuses a request with far more values than its bytes let one expect.
pub(super) fn check(body: &Bytes, request: &MessageDescription) -> Result<(), Error> {
    if body.len() <= LARGE {
        return Ok(());
    }
    let mut census = Census::default();
    // What cannot be decoded is counted up to the fault, which decoding tells of.
    let _ = count(&mut Reader::new(body), request, &mut census);
    if census.weight() <= LEEWAY.saturating_add(body.len().saturating_mul(GROWTH)) {
        return Ok(());
    }
    let (bytes, values) = (body.len(), census.values);
    let why = format!(
        "{bytes} bytes of protobuf hold {values} values, which take too much memory; send fewer of them"
    );
    Err(Error::TooManyValues(why))
}

/// Counts what a message holds. Fields that it does not have are passed over, as decoding does.
fn count(
    reader: &mut Reader<'_>,
    message: &MessageDescription,
    census: &mut Census,
) -> Result<(), Fault> {
    let mut has_entries = false;
    while let Some((tag, wire)) = reader.member()? {
        let field = message.fields().find(|field| field.tag == tag);
        match field.map(|field| field.kind) {
            None => reader.skip(tag, wire)?,
            Some(Kind::Message(inner)) => {
                let mut value = reader.message(wire)?;
                census.values += 1;
                census.containers += 1;
                count(&mut value, inner, census)?;
            }
            Some(Kind::Map(kind)) => {
                census.members += 1;
                if !std::mem::replace(&mut has_entries, true) {
                    census.filled += 1;
                }
                count_entry(&mut reader.message(wire)?, kind, census)?;
            }
            Some(_) => {
                census.values += 1;
                reader.skip(tag, wire)?;
            }
        }
    }
    Ok(())
}

/// Counts the value of an entry of a map; its name is the first member.
fn count_entry(reader: &mut Reader<'_>, kind: &Kind, census: &mut Census) -> Result<(), Fault> {
    while let Some((tag, wire)) = reader.member()? {
        match kind {
            Kind::Message(inner) if tag == 2 => {
                let mut value = reader.message(wire)?;
                census.values += 1;
                census.containers += 1;
                count(&mut value, inner, census)?;
            }
            _ => {
                census.values += usize::from(tag == 2);
                reader.skip(tag, wire)?;
            }
        }
    }
    Ok(())
}
