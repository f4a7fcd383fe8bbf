//! One value, on both wires: the scalars, and any message.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Error, Unexpected, Visitor};
use serde::ser::{Serialize, Serializer};
use serde::{Deserialize, Deserializer};

use super::message::{Members, Object, take_members};
use super::protobuf::{block_size, put_block, put_varint, varint_size};
use super::{DecodeError, Fault, Kind, Path, Reader, Violation, Wire};

/// A value: a scalar, an enum or a message.
pub(crate) trait Element: Default {
    const KIND: Kind;

    /// Writes protobuf, with the key.
    fn put(&self, tag: u32, out: &mut Vec<u8>);

    /// How many bytes [`put`](Element::put) writes.
    fn size(&self, tag: u32) -> usize;

    /// Reads protobuf behind the key. A message that occurs again adds to what is there.
    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault>;

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Reads JSON, where `null` is no value.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;

    /// Reads JSON, where `null` means that nothing is given, unless this kind of value can be `null`.
    fn read_given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        nullable(deserializer)
    }

    /// Reads what stands in a URL.
    fn parse(_text: &str) -> Result<Self, DecodeError> {
        Err(DecodeError::new("cannot be given as plain text"))
    }

    /// Looks for required fields that are missing inside.
    fn check(&self, _path: &Path<'_>, _found: &mut Vec<Violation>) {}
}

/// Elements that can be in a list. Numbers are none: protobuf packs lists of them, and the protocol has no
/// such list.
pub(crate) trait Listed: Element {}

impl Listed for String {}
impl<M: Members> Listed for M {}

/// Writes an element where serde wants something to write.
pub(super) struct Written<'a, T>(pub(super) &'a T);

impl<T: Element> Serialize for Written<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(serializer)
    }
}

/// Reads an element where serde wants to be told what to read.
pub(super) struct Reading<T>(PhantomData<T>);

impl<T> Reading<T> {
    pub(super) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<'de, T: Element> DeserializeSeed<'de> for Reading<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        T::read(deserializer)
    }
}

/// Reads an element, or `null` for none.
pub(crate) fn nullable<'de, T: Element, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    struct Nullable<T>(PhantomData<T>);

    impl<'de, T: Element> Visitor<'de> for Nullable<T> {
        type Value = Option<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a value or null")
        }

        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_some<D: Deserializer<'de>>(self, some: D) -> Result<Self::Value, D::Error> {
            T::read(some).map(Some)
        }
    }

    deserializer.deserialize_option(Nullable(PhantomData))
}

impl<M: Members> Element for M {
    const KIND: Kind = Kind::Message(&M::DESCRIPTION);

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        put_block(tag, self.size_members(), out);
        self.put_members(out);
    }

    fn size(&self, tag: u32) -> usize {
        block_size(tag, self.size_members())
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        take_members(self, &mut input.message(wire)?)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        super::message::write_object(self, serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Object::new())
    }

    fn check(&self, path: &Path<'_>, found: &mut Vec<Violation>) {
        self.check_members(path, found);
    }
}

impl Element for String {
    const KIND: Kind = Kind::String;

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        put_block(tag, self.len(), out);
        out.extend_from_slice(self.as_bytes());
    }

    fn size(&self, tag: u32) -> usize {
        block_size(tag, self.len())
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        *self = input.text(wire)?.to_owned();
        Ok(())
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)
    }

    fn parse(text: &str) -> Result<Self, DecodeError> {
        Ok(text.to_owned())
    }
}

impl Element for bool {
    const KIND: Kind = Kind::Bool;

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        put_varint(tag, (*self).into(), out);
    }

    fn size(&self, tag: u32) -> usize {
        varint_size(tag, (*self).into())
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        *self = input.varint(wire)? != 0;
        Ok(())
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bool(*self)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bool::deserialize(deserializer)
    }

    fn parse(text: &str) -> Result<Self, DecodeError> {
        text.parse()
            .map_err(|_| DecodeError::new(format!("{text:?} is neither true nor false")))
    }
}

impl Element for i32 {
    const KIND: Kind = Kind::Int32;

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        i64::from(*self).put(tag, out);
    }

    fn size(&self, tag: u32) -> usize {
        i64::from(*self).size(tag)
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        // Protobuf: a number that is too large loses its upper bits.
        *self = input.varint(wire)? as i32;
        Ok(())
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(*self)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::read(deserializer)?;
        let small = i32::try_from(number);
        small.map_err(|_| D::Error::invalid_value(Unexpected::Signed(number), &"32 bits"))
    }

    fn parse(text: &str) -> Result<Self, DecodeError> {
        text.parse()
            .map_err(|_| DecodeError::new(format!("{text:?} is not a number of 32 bits")))
    }
}

impl Element for i64 {
    const KIND: Kind = Kind::Int64;

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        put_varint(tag, *self as u64, out);
    }

    fn size(&self, tag: u32) -> usize {
        varint_size(tag, *self as u64)
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        *self = input.varint(wire)? as i64;
        Ok(())
    }

    /// As a string: not every reader of JSON has 64 bits for a number.
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Integer)
    }

    fn parse(text: &str) -> Result<Self, DecodeError> {
        text.parse()
            .map_err(|_| DecodeError::new(format!("{text:?} is not a number of 64 bits")))
    }
}

/// Reads `7`, `"7"`, `7.0` and `0.7e1`.
pub(super) struct Integer;

impl Visitor<'_> for Integer {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<i64, E> {
        Ok(number)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<i64, E> {
        let signed = i64::try_from(number);
        signed.map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<i64, E> {
        // Every double in this range is a number of 64 bits; 2^63 itself is not.
        let range = -(2f64.powi(63))..2f64.powi(63);
        if number.fract() == 0.0 && range.contains(&number) {
            return Ok(number as i64);
        }
        Err(E::invalid_value(Unexpected::Float(number), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<i64, E> {
        text.parse()
            .map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }
}
