//! The encodings of declared messages, protobuf and ProtoJSON: three traits, three macros, and a protobuf reader and
//! writer.
//!
//! `Element` is one value: a scalar, an enum or a message. `Field` is a member of a message: an element
//! with a rule for when it counts as given. `Members` is a message as the sum of its members; the macro
//! `messages!` implements it. Users see [`WireMessage`] only.
//!
//! # Why not prost, pbjson and prost-reflect
//!
//! A field is declared in one line, and everything follows from it: struct, protobuf, ProtoJSON, required fields,
//! descriptor, TypeScript. With the usual crates the same message exists as a generated struct, as generated serde code
//! and as a descriptor set, and the rule for required fields, which protobuf 3 does not have, is written a fourth time.
//!
//! An error must name the place: the protocol has callers told which field is wrong (`message.parts[1].text`), on both
//! wires and all faults at once. prost's decoder cannot say where it failed, and its `Message` trait may be used but
//! not implemented under its promises of stability. The encoding that is needed is small (some 200 lines in `protobuf.rs`),
//! and tests compare it with prost's and with the official SDKs in both directions, over a corpus and over mutations.
//!
//! Private records use it as well: what the journal stores is declared with the same macro.

mod describe;
mod element;
mod enumeration;
mod error;
mod field;
mod message;
mod name;
mod oneof;
mod protobuf;
mod violation;

use std::fmt::Debug;

use ::bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use describe::{
    EnumDescription, FieldDescription, Kind, Label, MessageDescription, OneofDescription,
};
pub use error::DecodeError;
pub use violation::Violation;

pub(crate) use element::{Element, Listed, nullable};
pub(crate) use enumeration::{enumerations, parse_enum, read_enum, write_enum};
pub(crate) use error::{Fault, FaultPath, fault};
pub(crate) use field::{Field, Scalar};
pub(crate) use message::{Members, Rule, messages, read_field, rule};
pub(crate) use name::{camel, camel_bytes, camel_length, snake, unmarked};
pub(crate) use oneof::{Oneof, oneofs, read_member, report_unset, write_member};
pub(crate) use protobuf::{DEPTH, Reader, Wire, block_size, put_block, put_double, put_varint};
pub(crate) use violation::Path;

/// A message of the protocol, on either wire.
pub trait WireMessage:
    Clone + Debug + Default + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Reads ProtoJSON. The error names the place: `message.parts[1].text`.
    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        // Keeping track of the place costs more than half as much again, so only failures pay for it.
        json(bytes).map_err(|error| DecodeError::in_json::<Self>(bytes, &error))
    }

    /// The message in the JSON form that protobuf prescribes.
    fn to_json(&self) -> Bytes {
        // Most messages fit; to grow in steps costs more than to write.
        let mut out = Vec::with_capacity(512);
        self.write_json(&mut out);
        out.into()
    }

    /// Writes ProtoJSON behind what `out` holds already.
    fn write_json(&self, out: &mut Vec<u8>) {
        serde_json::to_writer(out, self).expect("a message is always JSON, and memory takes it");
    }

    /// Reads protobuf. Fields of bytes share the memory of `bytes`.
    fn from_protobuf(bytes: Bytes) -> Result<Self, DecodeError>;

    /// The message in the binary form of protobuf.
    fn to_protobuf(&self) -> Bytes;

    /// The length of that form, in bytes.
    fn size(&self) -> usize;

    /// Sets one field from the text of a URL's path or query: a string, number, boolean (`true` or `false`),
    /// enum (name or number) or timestamp. A list takes one more element. Returns `false` when the message
    /// has no such field under either of its names.
    fn set_text(&mut self, field: &str, text: &str) -> Result<bool, DecodeError>;

    /// Every required field that is missing, here and in the messages inside.
    fn violations(&self) -> Vec<Violation>;

    /// The message's name, fields and tags.
    fn describe() -> &'static MessageDescription;
}

impl<M> WireMessage for M
where
    M: Members + Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static,
{
    fn from_protobuf(bytes: Bytes) -> Result<Self, DecodeError> {
        let mut message = M::default();
        message::take_members(&mut message, &mut Reader::new(&bytes)).map_err(|fault| *fault)?;
        Ok(message)
    }

    fn size(&self) -> usize {
        self.size_members()
    }

    fn to_protobuf(&self) -> Bytes {
        let size = self.size_members();
        let mut out = Vec::with_capacity(size);
        self.put_members(&mut out);
        debug_assert_eq!(out.len(), size, "what is announced is what is written");
        out.into()
    }

    fn set_text(&mut self, field: &str, text: &str) -> Result<bool, DecodeError> {
        match M::tag_of(field) {
            None => Ok(false),
            Some(tag) => {
                let set = self.set_member(tag, text);
                set.map_err(|mut error| {
                    error.enter(field);
                    error
                })?;
                Ok(true)
            }
        }
    }

    fn violations(&self) -> Vec<Violation> {
        let mut found = Vec::new();
        self.check_members(&Path::Root, &mut found);
        found
    }

    fn describe() -> &'static MessageDescription {
        &M::DESCRIPTION
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;

/// Reads JSON. Text that is found to be text as a whole need not be looked at string by string.
pub(crate) fn json<'a, T: serde::Deserialize<'a>>(bytes: &'a [u8]) -> serde_json::Result<T> {
    match str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(text),
        // The reader says where it stops being text.
        Err(_) => serde_json::from_slice(bytes),
    }
}
