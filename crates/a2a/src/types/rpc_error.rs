//! How errors describe themselves: the messages of package `google.rpc` that the protocol uses.
//!
//! gRPC sends a [`Status`] in its trailers; JSON sends the details of one, each an object with its `@type`.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::{Deserializer, Error};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::wire::{
    DecodeError, Element, Fault, Field, FieldDescription, Kind, Listed, Members,
    MessageDescription, Reader, Violation, Wire, WireMessage, block_size, messages, put_block,
};

messages! { "google.rpc";
    /// What went wrong, for programs and for people.
    Status {
        /// The code, as gRPC numbers them.
        code: i32 = 1,
        message: String = 2,
        details: Vec<Any> = 3,
    }

    /// The cause of an error, for programs.
    ErrorInfo {
        /// The cause, unique in its domain: `TASK_NOT_FOUND`.
        reason: String = 1,
        /// Who defines the cause: `a2a-protocol.org`.
        domain: String = 2,
        /// More about it, by name.
        metadata: BTreeMap<String, String> = 3,
    }

    /// What is wrong with a request.
    BadRequest {
        field_violations: Vec<FieldViolation> = 1,
    }
}

messages! { "google.rpc.BadRequest";
    /// What is wrong with a field of a request.
    FieldViolation {
        /// The path of the field, such as `message.parts[1].content`.
        field: String = 1,
        /// What is wrong with it.
        description: String = 2,
    }
}

impl From<Vec<Violation>> for BadRequest {
    fn from(violations: Vec<Violation>) -> Self {
        let violations = violations.into_iter();
        let field_violations = violations.map(|violation| FieldViolation {
            field: violation.field,
            description: violation.description,
        });
        Self {
            field_violations: field_violations.collect(),
        }
    }
}

/// A message of any kind, together with the name of its kind (`google.protobuf.Any`).
///
/// In JSON it is the message itself with a member `@type`; one of a kind that we do not know is in base64.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Any {
    /// Where the kind is defined; what follows the last slash is its name.
    pub type_url: String,
    /// The message in protobuf.
    pub value: Bytes,
}

impl Any {
    /// Wraps a message with the URL of its type.
    pub fn pack<M: WireMessage>(message: &M) -> Self {
        Self {
            type_url: format!("type.googleapis.com/{}", M::describe().full_name),
            value: message.to_protobuf(),
        }
    }

    /// The message, if it is of this kind: as read, or why it cannot be.
    pub fn unpack<M: WireMessage>(&self) -> Option<Result<M, DecodeError>> {
        (self.kind() == M::describe().full_name).then(|| M::from_protobuf(self.value.clone()))
    }

    /// The full name of the message's kind.
    pub fn kind(&self) -> &str {
        kind(&self.type_url)
    }

    fn size_fields(&self) -> usize {
        Field::size(&self.type_url, 1) + Field::size(&self.value, 2)
    }
}

fn kind(type_url: &str) -> &str {
    type_url.rsplit('/').next().unwrap_or(type_url)
}

/// A kind of message that we can read and write inside an [`Any`].
struct Known {
    description: &'static MessageDescription,
    to_json: fn(Bytes) -> Result<Json, DecodeError>,
    to_protobuf: fn(Json) -> serde_json::Result<Bytes>,
}

static KNOWN: [Known; 2] = [known::<ErrorInfo>(), known::<BadRequest>()];

const fn known<M: WireMessage + Members>() -> Known {
    Known {
        description: &M::DESCRIPTION,
        to_json: |bytes| {
            let message = M::from_protobuf(bytes)?;
            let json = serde_json::to_value(message);
            json.map_err(|error| DecodeError::new(error.to_string()))
        },
        to_protobuf: |json| Ok(serde_json::from_value::<M>(json)?.to_protobuf()),
    }
}

impl Known {
    fn find(type_url: &str) -> Option<&'static Known> {
        let name = kind(type_url);
        KNOWN
            .iter()
            .find(|known| known.description.full_name == name)
    }
}

static DESCRIPTION: MessageDescription = MessageDescription {
    name: "Any",
    full_name: "google.protobuf.Any",
    about: "",
    plain: &[
        FieldDescription::plain("type_url", "typeUrl", 1, Kind::String),
        FieldDescription::plain("value", "value", 2, Kind::Bytes),
    ],
    oneof: None,
};

impl Listed for Any {}

impl Element for Any {
    const KIND: Kind = Kind::Message(&DESCRIPTION);

    fn put(&self, tag: u32, out: &mut Vec<u8>) {
        put_block(tag, self.size_fields(), out);
        Field::put(&self.type_url, 1, out);
        Field::put(&self.value, 2, out);
    }

    fn size(&self, tag: u32) -> usize {
        block_size(tag, self.size_fields())
    }

    fn take(&mut self, wire: Wire, input: &mut Reader<'_>) -> Result<(), Fault> {
        let mut input = input.message(wire)?;
        while let Some((tag, wire)) = input.member()? {
            match tag {
                1 => Field::take(&mut self.type_url, wire, &mut input)?,
                2 => Field::take(&mut self.value, wire, &mut input)?,
                _ => input.skip(tag, wire)?,
            }
        }
        Ok(())
    }

    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let known = Known::find(&self.type_url);
        // What cannot be read is passed on as it is.
        let json = known.and_then(|known| (known.to_json)(self.value.clone()).ok());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry(TYPE, &self.type_url)?;
        match json {
            Some(Json::Object(members)) => {
                for (name, member) in members {
                    map.serialize_entry(&name, &member)?;
                }
            }
            _ => map.serialize_entry(VALUE, &STANDARD.encode(&self.value))?,
        }
        map.end()
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Map::deserialize(deserializer)?;
        let Some(Json::String(type_url)) = members.remove(TYPE) else {
            return Err(D::Error::missing_field(TYPE));
        };
        let value = match Known::find(&type_url) {
            Some(known) => (known.to_protobuf)(Json::Object(members)),
            None => match members.remove(VALUE) {
                Some(Json::String(text)) => {
                    let value = <Bytes as Element>::parse(&text);
                    return value
                        .map(|value| Self { type_url, value })
                        .map_err(D::Error::custom);
                }
                _ => return Err(D::Error::missing_field(VALUE)),
            },
        };
        let value = value.map_err(D::Error::custom)?;
        Ok(Self { type_url, value })
    }
}

/// The members of an [`Any`] in JSON.
const TYPE: &str = "@type";
const VALUE: &str = "value";

impl Serialize for Any {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write(serializer)
    }
}

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(deserializer)
    }
}

#[cfg(test)]
#[path = "rpc_error_tests.rs"]
mod tests;
