//! MessagePack: the same values as in JSON, for clients that ask for it.

use a2a::binding::{beside, weight};
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use serde::Serialize;
use serde_json::Value;

use crate::api::refusal;

#[cfg(test)]
#[path = "packed_tests.rs"]
mod tests;

/// How deep values may be nested.
const DEPTH: usize = 64;

/// A message that would take too much memory once it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{bytes} bytes of MessagePack hold {values} values, which take too much memory; send fewer of them"
)]
pub(crate) struct TooHeavy {
    bytes: usize,
    values: usize,
}

/// Refuses a message with far more values than its bytes let one expect, before it is read. The limits are those of JSON.
pub(crate) fn check(bytes: &[u8]) -> Result<(), TooHeavy> {
    if bytes.len() <= weight::LARGE {
        return Ok(());
    }
    let census = census(bytes);
    let most = weight::LEEWAY.saturating_add(bytes.len().saturating_mul(weight::GROWTH));
    match census.weight() <= most {
        true => Ok(()),
        false => Err(TooHeavy {
            bytes: bytes.len(),
            values: census.values,
        }),
    }
}

/// Counts what a message holds in one pass that allocates nothing. Of bytes that are no message it counts what looks like
/// one, and no fewer values than a reader would have made before it found the fault.
fn census(bytes: &[u8]) -> weight::Census {
    let mut census = weight::Census::default();
    let mut rest = bytes;
    while let Some((&marker, behind)) = rest.split_first() {
        rest = behind;
        census.values += 1;
        // The number of bytes of the length that follows the marker, and how long a fixed content is.
        let (length, content) = match marker {
            0x80..=0x9f => (0, 0),
            0xa0..=0xbf => (0, usize::from(marker & 0x1f)),
            0xcc | 0xd0 => (0, 1),
            0xcd | 0xd1 => (0, 2),
            0xca | 0xce | 0xd2 => (0, 4),
            0xcb | 0xcf | 0xd3 => (0, 8),
            0xd4..=0xd8 => (0, 1 + (1 << (marker - 0xd4))),
            0xc4 | 0xc7 | 0xd9 => (1, 0),
            0xc5 | 0xc8 | 0xda | 0xdc | 0xde => (2, 0),
            0xc6 | 0xc9 | 0xdb | 0xdd | 0xdf => (4, 0),
            _ => (0, 0),
        };
        let given = rest.get(..length).unwrap_or(rest);
        let given = given
            .iter()
            .fold(0, |sum, &byte| sum << 8 | usize::from(byte));
        rest = rest.get(length..).unwrap_or_default();
        // A list or map has no more members than bytes follow.
        let members = |count: usize| count.min(rest.len() / 2);
        let entries = match marker {
            0x80..=0x8f => Some(members(usize::from(marker & 0x0f))),
            0xde | 0xdf => Some(members(given)),
            0x90..=0x9f | 0xdc | 0xdd => Some(0),
            _ => None,
        };
        match entries {
            Some(entries) => {
                census.containers += 1;
                census.members += entries;
                census.filled += usize::from(entries > 0);
            }
            None => {
                // An extension has its type before its content.
                let extra = usize::from(matches!(marker, 0xc7..=0xc9));
                let skipped = if length > 0 { given + extra } else { content };
                rest = rest.get(skipped..).unwrap_or_default();
            }
        }
    }
    census
}

/// Reads a value, and nothing after it.
pub(crate) fn read(bytes: &[u8]) -> Result<Value, String> {
    let mut reader = rmp_serde::Deserializer::new(bytes);
    reader.set_max_depth(DEPTH);
    let value = serde::Deserialize::deserialize(&mut reader);
    let value: Value = value.map_err(|error| format!("not MessagePack: {error}"))?;
    match reader.get_ref().is_empty() {
        true => Ok(value),
        false => Err("not MessagePack: bytes follow the message".to_owned()),
    }
}

/// Writes a value, with names for fields.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    rmp_serde::to_vec_named(value).expect("values of JSON are values of MessagePack")
}

/// The media type.
const MSGPACK: &str = "application/msgpack";

/// The longest body that is translated, in bytes.
const MAX_BODY: usize = 8 << 20;

/// Reads a body of MessagePack as one of JSON. It belongs behind the access check.
pub async fn translate_request(request: Request, next: Next) -> Response {
    let packed = |headers: &HeaderMap| {
        let kind = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        kind.is_some_and(|it| it.split(';').next().unwrap_or_default().trim() == MSGPACK)
    };
    if !packed(request.headers()) {
        return next.run(request).await;
    }
    let (mut head, body) = request.into_parts();
    let bytes = match to_bytes(body, MAX_BODY).await {
        Ok(bytes) => bytes,
        Err(error) => {
            let why = error.to_string();
            return refusal(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &why);
        }
    };
    let translate = || {
        check(&bytes)?;
        Ok(read(&bytes).map(|value| value.to_string()))
    };
    let translated: Result<_, TooHeavy> = beside(bytes.len(), translate).await;
    let translated = match translated {
        Ok(translated) => translated,
        Err(heavy) => {
            let why = heavy.to_string();
            return refusal(StatusCode::PAYLOAD_TOO_LARGE, "too_large", &why);
        }
    };
    match translated {
        Ok(text) => {
            let json = HeaderValue::from_static("application/json");
            head.headers.insert(CONTENT_TYPE, json);
            head.headers.remove(CONTENT_LENGTH);
            let body = Body::from(text);
            next.run(Request::from_parts(head, body)).await
        }
        Err(why) => refusal(StatusCode::BAD_REQUEST, "not_msgpack", &why),
    }
}

/// Writes a reply of JSON as MessagePack where the client asks for it. It belongs before the access check, so that
/// refusals are translated, too.
pub async fn translate_reply(request: Request, next: Next) -> Response {
    let accepts = request.headers().get_all(ACCEPT).iter();
    let mut accepts = accepts.filter_map(|it| it.to_str().ok());
    let wanted = accepts.any(|it| {
        let mut kinds = it.split(',');
        kinds.any(|it| it.split(';').next().unwrap_or_default().trim() == MSGPACK)
    });
    let response = next.run(request).await;
    let kind = response.headers().get(CONTENT_TYPE);
    if !wanted || kind.is_none_or(|it| it.as_bytes() != b"application/json") {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        let why = "the reply could not be read";
        return refusal(StatusCode::INTERNAL_SERVER_ERROR, "failed", why);
    };
    let body = match serde_json::from_slice::<Value>(&bytes) {
        Ok(value) => {
            let kind = HeaderValue::from_static(MSGPACK);
            head.headers.insert(CONTENT_TYPE, kind);
            head.headers.remove(CONTENT_LENGTH);
            write(&value).into()
        }
        Err(_) => bytes,
    };
    Response::from_parts(head, Body::from(body))
}
