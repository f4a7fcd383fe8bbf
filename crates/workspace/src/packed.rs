//! MessagePack: the same values as in JSON, for clients that ask for it.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use serde::Serialize;
use serde_json::Value;

use crate::api::refusal;

/// How deep values may be nested.
const DEPTH: usize = 64;

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
    match read(&bytes) {
        Ok(value) => {
            let json = HeaderValue::from_static("application/json");
            head.headers.insert(CONTENT_TYPE, json);
            head.headers.remove(CONTENT_LENGTH);
            let body = Body::from(value.to_string());
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
