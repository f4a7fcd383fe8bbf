//! Any JSON: a value, and an object of values.
//!
//! Both hold what `serde_json` parsed, so that JSON passes through them untouched. Only protobuf changes
//! something: there every number is a double, so integers beyond 2^53 lose digits.

use std::ops::{Deref, DerefMut};

use serde::de::{Deserializer, Error};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value as Json};

use super::wire::{
    DEPTH, Element, EnumDescription, Fault, FaultPath, FieldDescription, Kind, Label, Listed,
    MessageDescription, OneofDescription, Reader, Wire, block_size, fault, put_block, put_double,
    put_varint,
};

/// Any JSON value, `null` included (`google.protobuf.Value`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Value(pub Json);

/// A JSON object (`google.protobuf.Struct`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Struct(pub Map<String, Json>);

/// How many messages can be around a value: the longest way is `tasks.status.message.parts.data`.
pub(crate) const AROUND: u32 = 5;

/// How many messages a value may be made of, one inside the other, so that it fits into any message. An object
/// takes three for each level, a list two.
const INSIDE: u32 = DEPTH - AROUND;

const TOO_DEEP: &str = "nested more deeply than protobuf can carry: at most 31 objects or 47 lists";

impl Deref for Value {
    type Target = Json;

    fn deref(&self) -> &Json {
        &self.0
    }
}

impl DerefMut for Value {
    fn deref_mut(&mut self) -> &mut Json {
        &mut self.0
    }
}

impl<T: Into<Json>> From<T> for Value {
    fn from(value: T) -> Self {
        Self(value.into())
    }
}

impl Deref for Struct {
    type Target = Map<String, Json>;

    fn deref(&self) -> &Map<String, Json> {
        &self.0
    }
}

impl DerefMut for Struct {
    fn deref_mut(&mut self) -> &mut Map<String, Json> {
        &mut self.0
    }
}

impl From<Map<String, Json>> for Struct {
    fn from(map: Map<String, Json>) -> Self {
        Self(map)
    }
}

impl<K: Into<String>, V: Into<Json>> FromIterator<(K, V)> for Struct {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let entries = entries.into_iter();
        Self(
            entries
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )
    }
}

impl Listed for Value {}
impl Listed for Struct {}

impl Element for Value {
    const KIND: Kind = Kind::Message(&VALUE);

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        put_block(tag, value_size(&self.0), out);
        put_value(&self.0, out);
    }

    fn size(&self, tag: u32) -> usize {
        block_size(tag, value_size(&self.0))
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        take_value(&mut self.0, &mut input.message(wire)?)?;
        fits(value_depth(&self.0)).map_err(fault)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Json::deserialize(deserializer)?;
        fits(value_depth(&value)).map_err(D::Error::custom)?;
        Ok(Self(value))
    }

    /// Here `null` is a value.
    fn read_given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Self::read(deserializer).map(Some)
    }
}

impl Element for Struct {
    const KIND: Kind = Kind::Message(&STRUCT);

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        put_block(tag, struct_size(&self.0), out);
        put_struct(&self.0, out);
    }

    fn size(&self, tag: u32) -> usize {
        block_size(tag, struct_size(&self.0))
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        take_struct(&mut self.0, &mut input.message(wire)?)?;
        fits(struct_depth(&self.0)).map_err(fault)
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = Map::deserialize(deserializer)?;
        fits(struct_depth(&map)).map_err(D::Error::custom)?;
        Ok(Self(map))
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer)
    }
}

impl Serialize for Struct {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write(serializer)
    }
}

impl<'de> Deserialize<'de> for Struct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer)
    }
}

fn fits(depth: u32) -> Result<(), &'static str> {
    if depth > INSIDE {
        return Err(TOO_DEEP);
    }
    Ok(())
}

/// How many messages lie inside a value's own, one inside the other.
fn value_depth(value: &Json) -> u32 {
    match value {
        Json::Object(map) => 1 + struct_depth(map),
        Json::Array(list) => {
            1 + list
                .iter()
                .map(|value| 1 + value_depth(value))
                .max()
                .unwrap_or(0)
        }
        _ => 0,
    }
}

/// How many messages lie inside an object's own: an entry, its value, and so on.
fn struct_depth(map: &Map<String, Json>) -> u32 {
    map.values()
        .map(|value| 2 + value_depth(value))
        .max()
        .unwrap_or(0)
}

fn value_size(value: &Json) -> usize {
    match value {
        Json::Null | Json::Bool(_) => 2,
        Json::Number(_) => 9,
        Json::String(text) => block_size(3, text.len()),
        Json::Object(map) => block_size(5, struct_size(map)),
        Json::Array(list) => block_size(6, list_size(list)),
    }
}

fn put_value(value: &Json, out: &mut Vec<u8>) {
    match value {
        Json::Null => put_varint(1, 0, out),
        Json::Number(number) => {
            let number = number.as_f64();
            put_double(2, number.expect("a number that is not kept as text"), out);
        }
        Json::String(text) => text.put(3, out),
        Json::Bool(given) => given.put(4, out),
        Json::Object(map) => {
            put_block(5, struct_size(map), out);
            put_struct(map, out);
        }
        Json::Array(list) => {
            put_block(6, list_size(list), out);
            for value in list {
                put_block(1, value_size(value), out);
                put_value(value, out);
            }
        }
    }
}

fn list_size(list: &[Json]) -> usize {
    let sizes = list.iter().map(value_size);
    sizes.map(|size| block_size(1, size)).sum()
}

fn struct_size(map: &Map<String, Json>) -> usize {
    let sizes = map.iter().map(|(key, value)| entry_size(key, value));
    sizes.map(|size| block_size(1, size)).sum()
}

fn entry_size(key: &str, value: &Json) -> usize {
    block_size(1, key.len()) + block_size(2, value_size(value))
}

fn put_struct(map: &Map<String, Json>, out: &mut Vec<u8>) {
    for (key, value) in map {
        put_block(1, entry_size(key, value), out);
        key.put(1, out);
        put_block(2, value_size(value), out);
        put_value(value, out);
    }
}

/// Reads a value. One that says nothing stays `null`, as which it began.
fn take_value(value: &mut Json, input: &mut Reader<'_>) -> Result<(), Fault> {
    while let Some((tag, wire)) = input.member()? {
        match tag {
            1 => {
                input.varint(wire)?;
                *value = Json::Null;
            }
            2 => *value = Json::Number(number(input.double(wire)?)?),
            3 => *value = Json::String(input.text(wire)?.to_owned()),
            4 => *value = Json::Bool(input.varint(wire)? != 0),
            5 => {
                // What occurs again adds to what is there.
                let mut map = match std::mem::take(value) {
                    Json::Object(map) => map,
                    _ => Map::new(),
                };
                take_struct(&mut map, &mut input.message(wire)?)?;
                *value = Json::Object(map);
            }
            6 => {
                let mut list = match std::mem::take(value) {
                    Json::Array(list) => list,
                    _ => Vec::new(),
                };
                take_list(&mut list, &mut input.message(wire)?)?;
                *value = Json::Array(list);
            }
            _ => input.skip(tag, wire)?,
        }
    }
    Ok(())
}

fn take_struct(map: &mut Map<String, Json>, input: &mut Reader<'_>) -> Result<(), Fault> {
    while let Some((tag, wire)) = input.member()? {
        if tag != 1 {
            input.skip(tag, wire)?;
            continue;
        }
        let mut entry = input.message(wire)?;
        let (mut key, mut value) = (String::new(), Json::Null);
        while let Some((tag, wire)) = entry.member()? {
            match tag {
                1 => key.take(wire, &mut entry)?,
                2 => take_value(&mut value, &mut entry.message(wire)?).within(&key)?,
                _ => entry.skip(tag, wire)?,
            }
        }
        map.insert(key, value);
    }
    Ok(())
}

fn take_list(list: &mut Vec<Json>, input: &mut Reader<'_>) -> Result<(), Fault> {
    while let Some((tag, wire)) = input.member()? {
        if tag != 1 {
            input.skip(tag, wire)?;
            continue;
        }
        let mut value = Json::Null;
        take_value(&mut value, &mut input.message(wire)?).at(list.len())?;
        list.push(value);
    }
    Ok(())
}

/// A double as JSON writes it: whole numbers, up to where doubles skip some, without a point.
fn number(double: f64) -> Result<Number, Fault> {
    const EXACT: f64 = (1u64 << 53) as f64;
    let negative_zero = double == 0.0 && double.is_sign_negative();
    if double.fract() == 0.0 && double.abs() <= EXACT && !negative_zero {
        return Ok((double as i64).into());
    }
    let number = Number::from_f64(double);
    number.ok_or_else(|| fault(format!("{double} is not a number that JSON has")))
}

// The two describe each other, which constants could not.

static STRUCT: MessageDescription = MessageDescription {
    name: "Struct",
    full_name: "google.protobuf.Struct",
    about: "",
    plain: &[FieldDescription {
        label: Label::Repeated,
        ..FieldDescription::plain("fields", "fields", 1, Kind::Map(&Kind::Message(&VALUE)))
    }],
    oneof: None,
};

static VALUE: MessageDescription = MessageDescription {
    name: "Value",
    full_name: "google.protobuf.Value",
    about: "",
    plain: &[],
    oneof: Some(OneofDescription {
        name: "kind",
        members: &[
            FieldDescription::plain("null_value", "nullValue", 1, Kind::Enum(&NULL)),
            FieldDescription::plain("number_value", "numberValue", 2, Kind::Double),
            FieldDescription::plain("string_value", "stringValue", 3, Kind::String),
            FieldDescription::plain("bool_value", "boolValue", 4, Kind::Bool),
            FieldDescription::plain("struct_value", "structValue", 5, Kind::Message(&STRUCT)),
            FieldDescription::plain("list_value", "listValue", 6, Kind::Message(&LIST)),
        ],
    }),
};

static LIST: MessageDescription = MessageDescription {
    name: "ListValue",
    full_name: "google.protobuf.ListValue",
    about: "",
    plain: &[FieldDescription {
        label: Label::Repeated,
        ..FieldDescription::plain("values", "values", 1, Kind::Message(&VALUE))
    }],
    oneof: None,
};

static NULL: EnumDescription = EnumDescription {
    name: "NullValue",
    full_name: "google.protobuf.NullValue",
    about: "",
    values: &[("NULL_VALUE", 0)],
};

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
