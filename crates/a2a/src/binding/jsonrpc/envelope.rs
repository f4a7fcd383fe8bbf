//! The envelope of a request: parsed at the edge, its params left as they came.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::error::Error;
use crate::types::wire::json;

/// A request, not yet read.
#[derive(Debug)]
pub struct Envelope {
    /// What the reply is to bear.
    pub id: Id,
    pub method: String,
    /// The request of the operation: a part of the body, or nothing.
    pub params: Bytes,
}

/// The id of a request, as it came: a string, a number or null.
#[derive(Clone, Debug)]
pub struct Id(Bytes);

impl Id {
    /// The id of a reply to what could not be read.
    pub fn null() -> Self {
        Self(Bytes::from_static(b"null"))
    }

    /// An id that was found in a frame.
    pub(in crate::binding) fn from_raw(raw: Bytes) -> Self {
        Self(raw)
    }

    /// Whether readers of a reply can read an id. Most are plain, and need no second look.
    pub(in crate::binding) fn can_be_read(raw: &str) -> bool {
        let is_plain = raw.starts_with('"') && !raw.contains('\\');
        is_plain || serde_json::from_str::<serde_json::Value>(raw).is_ok()
    }

    /// As it is to be written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[derive(Deserialize)]
struct Parsed<'a> {
    #[serde(borrow, default, deserialize_with = "given")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "given")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "given")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "given")]
    params: Option<&'a RawValue>,
}

/// A member that is there, be it null.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl Envelope {
    /// Reads the envelope of a request. A failure comes with the id to answer under, if one was
    /// found.
    pub fn read(body: &Bytes) -> Result<Self, (Id, Error)> {
        let invalid = |id: &Id, why: &str| (id.clone(), Error::InvalidRequest(why.to_owned()));
        let none = Id::null();
        let first = body.iter().find(|byte| !byte.is_ascii_whitespace());
        let parsed: Parsed<'_> = match json(body) {
            // A struct can be read from an array, too; a request cannot.
            Ok(_) if first == Some(&b'[') => {
                return Err(invalid(&none, "batches are not supported"));
            }
            Ok(parsed) => parsed,
            Err(error) if error.is_data() => {
                // Well-formed as far as it was read; whether all of it is, tells which fault it is.
                return Err(
                    match serde_json::from_slice::<serde::de::IgnoredAny>(body) {
                        Ok(_) if first == Some(&b'[') => {
                            invalid(&none, "batches are not supported")
                        }
                        Ok(_) => (none, Error::InvalidRequest(error.to_string())),
                        Err(error) => (none, Error::Parse(error.to_string())),
                    },
                );
            }
            Err(error) => return Err((none, Error::Parse(error.to_string()))),
        };
        let id = match parsed.id.map(RawValue::get) {
            // It would be a notification. Every operation has a reply, so a missing id is answered with an error.
            None => none.clone(),
            Some(id) if id.starts_with(['{', '[', 't', 'f']) => {
                return Err(invalid(&none, "the id must be a string, a number or null"));
            }
            // Half a character, or a number beyond all bounds: to echo it would break the reply.
            Some(id) if !Id::can_be_read(id) => {
                return Err(invalid(
                    &none,
                    "the id is neither a valid string nor a valid number",
                ));
            }
            Some(id) => Id(body.slice_ref(id.as_bytes())),
        };
        if parsed.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
            return Err(invalid(&id, "jsonrpc must be \"2.0\""));
        }
        let method = parsed
            .method
            .and_then(|method| serde_json::from_str::<Cow<'_, str>>(method.get()).ok());
        let Some(method) = method else {
            return Err(invalid(&id, "method must be a string"));
        };
        let params = match parsed.params.map(RawValue::get) {
            None | Some("null") => Bytes::new(),
            Some(params) if params.starts_with('{') => body.slice_ref(params.as_bytes()),
            Some(_) => return Err((id, Error::invalid("params must be an object"))),
        };
        Ok(Self {
            id,
            method: method.into_owned(),
            params,
        })
    }
}
