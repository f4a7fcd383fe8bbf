//! JSON as values of Cap'n Web, and back.

#[cfg(feature = "http")]
use ::capnweb::expression::Raw;
use ::capnweb::{Error as RpcError, Object, Value};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use serde_json::Value as Json;

use crate::error::Error;
#[cfg(feature = "http")]
use crate::operation::Frame;
use crate::types::Timestamp;

/// A value that is data. What `undefined` stands for is left out of objects; bytes become base64, times
/// and large integers text, as ProtoJSON has them.
pub fn to_json(value: Value, place: &str) -> Result<Json, Error> {
    json_of(value).map_err(|wrong| {
        let place = format!("{place}{}", wrong.place);
        Error::invalid_field(place.trim_start_matches('.'), wrong.why)
    })
}

/// Why a value is no data.
struct NotData {
    /// Where in the value, as a path.
    place: String,
    why: &'static str,
}

impl NotData {
    fn here(why: &'static str) -> Self {
        let place = String::new();
        Self { place, why }
    }

    fn within(mut self, step: &str) -> Self {
        self.place.insert_str(0, step);
        self
    }
}

fn json_of(value: Value) -> Result<Json, NotData> {
    Ok(match value {
        Value::Undefined | Value::Null => Json::Null,
        Value::Bool(bool) => bool.into(),
        Value::Number(number) => match serde_json::Number::from_f64(number) {
            Some(_) if is_whole(number) => (number as i64).into(),
            Some(number) => Json::Number(number),
            None => return Err(NotData::here("is not a finite number")),
        },
        Value::String(text) | Value::Url(text) => text.into(),
        Value::BigInt(number) => number.to_string().into(),
        Value::Date(date) => match date.milliseconds {
            Some(millis) => Timestamp::from_millis(millis as i64).to_string().into(),
            None => return Err(NotData::here("is not a valid date")),
        },
        Value::Bytes(bytes, _) => BASE64_STANDARD.encode(bytes).into(),
        Value::Blob(blob) => BASE64_STANDARD.encode(blob.bytes).into(),
        Value::Array(items) => {
            let items = items.into_iter().enumerate();
            let items = items
                .map(|(at, item)| json_of(item).map_err(|wrong| wrong.within(&format!("[{at}]"))));
            Json::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(members) => {
            let mut object = serde_json::Map::new();
            for (name, member) in members {
                if matches!(member, Value::Undefined) {
                    continue;
                }
                match json_of(member) {
                    Ok(member) => _ = object.insert(name, member),
                    Err(wrong) => return Err(wrong.within(&format!(".{name}"))),
                }
            }
            Json::Object(object)
        }
        _ => return Err(NotData::here("is not data")),
    })
}

/// Whether a double is an integer that JSON should have without a fraction.
fn is_whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_991.0
}

/// A reply that the table gave. It is JSON already, and is sent as it is.
#[cfg(feature = "http")]
pub fn of_reply(reply: &Bytes) -> Result<Value, Error> {
    raw(reply)
        .map(Value::Raw)
        .map_err(|why| Error::Internal(format!("a reply cannot be sent: {why}")))
}

/// One of many replies. An event is printed once, however many follow it.
#[cfg(feature = "http")]
pub(super) fn of_frame(frame: &Frame) -> Result<Value, Error> {
    let print = |json: &Bytes| raw(json).ok();
    let event = frame.event.as_ref();
    match event.and_then(|(event, generations)| event.expression(*generations, print)) {
        Some(printed) => Ok(Value::Raw(printed)),
        None => of_reply(&frame.body),
    }
}

#[cfg(feature = "http")]
fn raw(json: &Bytes) -> Result<Raw, String> {
    let text = std::str::from_utf8(json).map_err(|error| error.to_string())?;
    Raw::from_json(text).map_err(|error| error.to_string())
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
#[cfg(feature = "http")]
pub(super) fn failure(error: &Error) -> RpcError {
    let code = error.code();
    RpcError::new(error.to_string())
        .with_code(f64::from(code.json_rpc))
        .with_prop("reason", code.reason)
        .with_prop("details", from_json(error.details()))
}
