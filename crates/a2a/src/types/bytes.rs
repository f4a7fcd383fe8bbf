//! Bytes, in JSON as base64.

use std::fmt;

use base64::alphabet;
use base64::display::Base64Display;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use base64::engine::{DecodePaddingMode, Engine};
use bytes::Bytes;
use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::ser::Serializer;

use super::wire::{
    DecodeError, Element, Fault, Kind, Listed, Reader, Scalar, Wire, block_size, put_block,
};

/// Senders differ in padding and in what they leave in the last bits; both say nothing.
const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

static USUAL: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
static URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

impl Scalar for Bytes {}
impl Listed for Bytes {}

impl Element for Bytes {
    const KIND: Kind = Kind::Bytes;

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        put_block(tag, self.len(), out);
        out.extend_from_slice(self);
    }

    fn size(&self, tag: u32) -> usize {
        block_size(tag, self.len())
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        *self = input.bytes(wire)?;
        Ok(())
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(self, &STANDARD))
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Base64)
    }

    fn parse(text: &str) -> Result<Self, DecodeError> {
        decode(text).ok_or_else(|| DecodeError::new("not base64"))
    }
}

/// Reads the usual and the URL-safe alphabet, but not a mixture.
fn decode(text: &str) -> Option<Bytes> {
    let engine = if text.contains(['-', '_']) {
        &URL_SAFE
    } else {
        &USUAL
    };
    engine.decode(text).ok().map(Bytes::from)
}

struct Base64;

impl Visitor<'_> for Base64 {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base64")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
        // The text itself can be megabytes long: better not quoted.
        decode(text).ok_or_else(|| E::invalid_value(Unexpected::Other("a string"), &self))
    }
}
