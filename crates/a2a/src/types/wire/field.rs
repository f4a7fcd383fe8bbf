//! A member of a message: an element with a rule for when it counts as given.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::element::{Reading, Written};
use super::protobuf::{block_size, put_block};
use super::{
    DecodeError, Element, Fault, FaultPath, Kind, Label, Listed, Path, Reader, Violation, Wire,
    nullable,
};

/// A member of a message.
pub(crate) trait Field: Default {
    const KIND: Kind;
    const LABEL: Label;

    /// Whether it is not given, and so not written.
    fn absent(&self) -> bool;

    /// What a required field lacks, if anything.
    fn lack(&self) -> Option<&'static str> {
        self.absent().then_some("is required")
    }

    /// Writes protobuf, if given.
    fn put(&self, tag: u32, out: &mut Vec<u8>);

    /// How many bytes [`put`](Field::put) writes.
    fn size(&self, tag: u32) -> usize;

    /// Reads one occurrence from protobuf, behind its key.
    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault>;

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Reads JSON, where `null` means that nothing is given.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;

    /// Takes what stands in a URL.
    fn set(&mut self, text: &str) -> Result<(), DecodeError>;

    /// Looks for required fields that are missing inside.
    fn check(&self, _path: &Path<'_>, _found: &mut Vec<Violation>) {}
}

/// Writes a field where serde wants something to write.
pub(super) struct WrittenField<'a, F>(pub(super) &'a F);

impl<F: Field> Serialize for WrittenField<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(serializer)
    }
}

/// Reads a field where serde wants to be told what to read.
pub(super) struct ReadingField<F>(pub(super) PhantomData<F>);

impl<'de, F: Field> DeserializeSeed<'de> for ReadingField<F> {
    type Value = F;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<F, D::Error> {
        F::read(deserializer)
    }
}

/// Elements that can be a field as they are: their default counts as absent.
pub(crate) trait Scalar: Element + PartialEq {}

impl Scalar for bool {}
impl Scalar for i32 {}
impl Scalar for i64 {}
impl Scalar for String {}

impl<T: Scalar> Field for T {
    const KIND: Kind = <T as Element>::KIND;
    const LABEL: Label = Label::Plain;

    fn absent(&self) -> bool {
        *self == T::default()
    }

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        if !self.absent() {
            Element::put(self, tag, out);
        }
    }

    fn size(&self, tag: u32) -> usize {
        if self.absent() {
            return 0;
        }
        Element::size(self, tag)
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        Element::take(self, wire, input)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Element::write(self, serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        nullable(deserializer).map(Option::unwrap_or_default)
    }

    fn set(&mut self, text: &str) -> Result<(), DecodeError> {
        *self = T::parse(text)?;
        Ok(())
    }
}

impl<T: Element> Field for Option<T> {
    const KIND: Kind = T::KIND;
    // A message can be absent anyway, and needs no word for it.
    const LABEL: Label = if T::KIND.is_message() {
        Label::Plain
    } else {
        Label::Optional
    };

    fn absent(&self) -> bool {
        self.is_none()
    }

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        if let Some(element) = self {
            element.put(tag, out);
        }
    }

    fn size(&self, tag: u32) -> usize {
        self.as_ref().map_or(0, |element| element.size(tag))
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        self.get_or_insert_default().take(wire, input)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Some(element) => element.write(serializer),
            None => serializer.serialize_unit(),
        }
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        nullable(deserializer)
    }

    fn set(&mut self, text: &str) -> Result<(), DecodeError> {
        *self = Some(T::parse(text)?);
        Ok(())
    }

    fn check(&self, path: &Path<'_>, found: &mut Vec<Violation>) {
        if let Some(element) = self {
            element.check(path, found);
        }
    }
}

impl<T: Listed> Field for Vec<T> {
    const KIND: Kind = T::KIND;
    const LABEL: Label = Label::Repeated;

    fn absent(&self) -> bool {
        self.is_empty()
    }

    fn lack(&self) -> Option<&'static str> {
        self.is_empty().then_some("needs at least one element")
    }

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        for element in self {
            element.put(tag, out);
        }
    }

    fn size(&self, tag: u32) -> usize {
        self.iter().map(|element| element.size(tag)).sum()
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        let mut element = T::default();
        element.take(wire, input).at(self.len())?;
        self.push(element);
        Ok(())
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.len()))?;
        for element in self {
            list.serialize_element(&Written(element))?;
        }
        list.end()
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List<T>(PhantomData<T>);

        impl<'de, T: Element> Visitor<'de> for List<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_none<E>(self) -> Result<Self::Value, E> {
                Ok(Vec::new())
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Vec::new())
            }

            fn visit_some<D: Deserializer<'de>>(self, some: D) -> Result<Self::Value, D::Error> {
                some.deserialize_seq(self)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut list = Vec::new();
                while let Some(element) = seq.next_element_seed(Reading::new())? {
                    list.push(element);
                }
                Ok(list)
            }
        }

        deserializer.deserialize_option(List(PhantomData))
    }

    fn set(&mut self, text: &str) -> Result<(), DecodeError> {
        self.push(T::parse(text)?);
        Ok(())
    }

    fn check(&self, path: &Path<'_>, found: &mut Vec<Violation>) {
        for (index, element) in self.iter().enumerate() {
            element.check(&Path::Index(path, index), found);
        }
    }
}

/// On protobuf a list of messages with two fields: `key = 1`, `value = 2`.
impl<T: Element> Field for BTreeMap<String, T> {
    const KIND: Kind = Kind::Map(&T::KIND);
    const LABEL: Label = Label::Repeated;

    fn absent(&self) -> bool {
        self.is_empty()
    }

    /// Nothing: a map without entries is a map, and protobuf has no other way to write it.
    fn lack(&self) -> Option<&'static str> {
        None
    }

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        for (key, value) in self {
            put_block(tag, Element::size(key, 1) + value.size(2), out);
            Element::put(key, 1, out);
            value.put(2, out);
        }
    }

    fn size(&self, tag: u32) -> usize {
        let entries = self.iter();
        let sizes = entries.map(|(key, value)| Element::size(key, 1) + value.size(2));
        sizes.map(|size| block_size(tag, size)).sum()
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        let mut entry = input.message(wire)?;
        let (mut key, mut value) = (String::new(), T::default());
        while let Some((tag, wire)) = entry.member()? {
            match tag {
                1 => Element::take(&mut key, wire, &mut entry)?,
                2 => value.take(wire, &mut entry).within(&key)?,
                _ => entry.skip(tag, wire)?,
            }
        }
        self.insert(key, value);
        Ok(())
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self {
            map.serialize_entry(key, &Written(value))?;
        }
        map.end()
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);

        impl<'de, T: Element> Visitor<'de> for Entries<T> {
            type Value = BTreeMap<String, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_none<E>(self) -> Result<Self::Value, E> {
                Ok(BTreeMap::new())
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(BTreeMap::new())
            }

            fn visit_some<D: Deserializer<'de>>(self, some: D) -> Result<Self::Value, D::Error> {
                some.deserialize_map(self)
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = BTreeMap::new();
                while let Some(key) = map.next_key_seed(PhantomData::<String>)? {
                    let value = map.next_value_seed(Reading::new())?;
                    if entries.insert(key, value).is_some() {
                        return Err(A::Error::custom("given twice"));
                    }
                }
                Ok(entries)
            }
        }

        deserializer.deserialize_option(Entries(PhantomData))
    }

    fn set(&mut self, _text: &str) -> Result<(), DecodeError> {
        Err(DecodeError::new("cannot be given as plain text"))
    }

    fn check(&self, path: &Path<'_>, found: &mut Vec<Violation>) {
        for (key, value) in self {
            value.check(&Path::Field(path, key), found);
        }
    }
}
