//! JSON as values of Cap'n Web, and back.

use std::fmt;

use ::capnweb::{Error as RpcError, Object, Value};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

use crate::error::Error;
use crate::operation::Frame;
use crate::types::Timestamp;

/// A value that is data. What `undefined` stands for is left out of objects; bytes become base64, times
/// and large integers text, as ProtoJSON has them.
pub fn to_json(value: Value, place: &str) -> Result<Json, Error> {
    Ok(match value {
        Value::Undefined | Value::Null => Json::Null,
        Value::Bool(bool) => bool.into(),
        Value::Number(number) => match serde_json::Number::from_f64(number) {
            Some(_) if is_whole(number) => (number as i64).into(),
            Some(number) => Json::Number(number),
            None => return Err(Error::invalid_field(place, "is no finite number")),
        },
        Value::String(text) | Value::Url(text) => text.into(),
        Value::BigInt(number) => number.to_string().into(),
        Value::Date(date) => match date.milliseconds {
            Some(millis) => Timestamp::from_millis(millis as i64).to_string().into(),
            None => return Err(Error::invalid_field(place, "is no time")),
        },
        Value::Bytes(bytes, _) => BASE64_STANDARD.encode(bytes).into(),
        Value::Blob(blob) => BASE64_STANDARD.encode(blob.bytes).into(),
        Value::Array(items) => {
            let items = items.into_iter().enumerate();
            let items = items.map(|(at, item)| to_json(item, &format!("{place}[{at}]")));
            Json::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(members) => {
            let mut object = serde_json::Map::new();
            for (name, member) in members {
                if !matches!(member, Value::Undefined) {
                    let member = to_json(member, &within(place, &name))?;
                    object.insert(name, member);
                }
            }
            Json::Object(object)
        }
        _ => return Err(Error::invalid_field(place, "is not data")),
    })
}

fn within(place: &str, name: &str) -> String {
    if place.is_empty() {
        name.to_owned()
    } else {
        format!("{place}.{name}")
    }
}

/// Whether a double is an integer that JSON should have without a fraction.
fn is_whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_991.0
}

/// A reply that the table gave.
pub fn of_reply(reply: &Bytes) -> Result<Value, Error> {
    let mut json = serde_json::Deserializer::from_slice(reply);
    json.deserialize_any(Reader)
        .map_err(|error| Error::Internal(format!("a reply was no JSON: {error}")))
}

/// One of many replies. An event is printed once, however many follow it.
pub(super) fn of_frame(frame: &Frame) -> Result<Value, Error> {
    let print = |json: &Bytes| of_reply(json).ok()?.to_raw();
    let event = frame.event.as_ref();
    match event.and_then(|event| event.expression(print)) {
        Some(printed) => Ok(Value::Raw(printed)),
        None => of_reply(&frame.body),
    }
}

/// Reads JSON as a value at once, of which every part is data.
struct Reader;

impl<'de> DeserializeSeed<'de> for Reader {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, bool: bool) -> Result<Value, E> {
        Ok(Value::Bool(bool))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
        Ok(Value::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut json: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = json.next_element_seed(Reader)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut json: A) -> Result<Value, A::Error> {
        let mut members = Vec::new();
        while let Some(name) = json.next_key::<String>()? {
            members.push((name, json.next_value_seed(Reader)?));
        }
        Ok(Value::Object(members.into_iter().collect()))
    }
}

/// JSON, of which every part is data.
pub fn from_json(json: Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(bool) => bool.into(),
        Json::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
        Json::String(text) => Value::String(text),
        Json::Array(items) => Value::Array(items.into_iter().map(from_json).collect()),
        Json::Object(members) => {
            let members = members.into_iter();
            let members: Object = members
                .map(|(name, member)| (name, from_json(member)))
                .collect();
            Value::Object(members)
        }
    }
}

/// A failed call, as its caller sees it: an `Error` with code, reason and details.
pub(super) fn failure(error: &Error) -> RpcError {
    let code = error.code();
    RpcError::new(error.to_string())
        .with_code(f64::from(code.json_rpc))
        .with_prop("reason", code.reason)
        .with_prop("details", from_json(error.details()))
}
