//! The envelopes of JSON-RPC: what a client sends, read once, and what it is answered with, written once.

use std::borrow::Cow;
use std::fmt;

use access::{Limit, Refusal};
use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value, json};

#[cfg(test)]
#[path = "rpc_tests.rs"]
mod tests;

/// The id of a request: a text or a number. It is echoed as it came.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    Text(String),
    Number(Number),
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// One message of a client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Message {
    Request {
        id: Id,
        method: String,
        params: Params,
    },
    Notification {
        method: String,
        params: Params,
    },
    /// The response to a request of ours.
    Response {
        id: Id,
        result: Result<Value, RpcError>,
    },
}

/// The parameters of a message. MCP has no others than objects; `None` stands for anything else.
pub(crate) type Params = Option<Map<String, Value>>;

/// Why bytes are not a message, and the id under which that is told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unreadable {
    pub(crate) error: RpcError,
    pub(crate) id: Option<Id>,
    /// It would be a notification, which is never answered where the wire has no place for it.
    pub(crate) silent: bool,
}

/// An error of JSON-RPC.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RpcError {
    pub code: i32,
    #[serde(default)]
    pub message: Cow<'static, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// The codes of [`RpcError`] that a server answers with.
pub mod code {
    pub const PARSE_ERROR: i32 = -32700;
    pub const INVALID_REQUEST: i32 = -32600;
    pub const METHOD_NOT_FOUND: i32 = -32601;
    pub const INVALID_PARAMS: i32 = -32602;
    pub const INTERNAL_ERROR: i32 = -32603;
    /// Of `resources/read`, before revision 2026-07-28.
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// A header says something else than the body.
    pub const HEADER_MISMATCH: i32 = -32020;
    pub const MISSING_CAPABILITY: i32 = -32021;
    pub const UNSUPPORTED_VERSION: i32 = -32022;
    /// The caller may not: it lacks a permission, or its lent credential does not reach so far. A2A has the same code.
    pub const FORBIDDEN: i32 = -31403;
    /// The caller makes more calls than it may.
    pub const TOO_MANY_CALLS: i32 = -31429;
}

impl RpcError {
    pub fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    pub fn invalid_request(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    /// The method is not served, or not in the client's revision.
    pub fn unknown_method(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("unknown method: {method}"))
    }

    /// The caller makes more requests than it may, or one that uses more than it may.
    pub(crate) fn limited(limit: &Limit) -> Self {
        let error = Self::new(code::TOO_MANY_CALLS, limit.to_string());
        let mut data = Map::new();
        if let Some(seconds) = limit.seconds() {
            data.insert("retryAfterSeconds".to_owned(), seconds.into());
        }
        if let Limit::Budget(exceeded) = limit {
            data.insert("budget".to_owned(), exceeded.setting().into());
        }
        error.with_data(Value::Object(data))
    }

    /// The client did not declare what the request needs.
    pub fn missing_capability(needed: &Value) -> Self {
        let error = Self::new(
            code::MISSING_CAPABILITY,
            "the client did not declare a capability that this request needs",
        );
        error.with_data(json!({ "requiredCapabilities": needed }))
    }

    /// The caller may not.
    pub fn forbidden(refusal: &Refusal) -> Self {
        let error = Self::new(code::FORBIDDEN, format!("not authorized: {refusal}"));
        match refusal.missing_permission() {
            Some(permission) => error.with_data(json!({ "permission": permission.name() })),
            None => error,
        }
    }

    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}

/// The members of a message. Each is read in one pass, whatever their order; `params` as the value that a call hands on.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(default, deserialize_with = "given")]
    id: Option<Value>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(default)]
    params: Option<Value>,
    #[serde(default, deserialize_with = "given")]
    result: Option<Value>,
    #[serde(default)]
    error: Option<RpcError>,
}

/// Keeps the difference between a member that is `null` and one that is missing.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Message {
    /// Reads one message. Batches are refused: revision 2025-06-18 removed them.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        // A list would be read as the members in their order.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(Unreadable::of(bytes, &"not an object"));
        }
        let members: Members<'_> =
            serde_json::from_slice(bytes).map_err(|error| Unreadable::of(bytes, &error))?;
        let Members {
            jsonrpc,
            id,
            method,
            params,
            result,
            error,
        } = members;
        let has_id = id.is_some();
        let id = match id {
            Some(Value::String(text)) => Some(Id::Text(text)),
            Some(Value::Number(number)) => Some(Id::Number(number)),
            _ => None,
        };
        let wrong = |why: &'static str, id: Option<Id>| Unreadable {
            error: RpcError::invalid_request(why),
            silent: false,
            id,
        };
        if jsonrpc.as_deref() != Some("2.0") {
            return Err(wrong("not a JSON-RPC 2.0 message", id));
        }
        if has_id && id.is_none() {
            return Err(wrong("the id of a message is a text or a number", None));
        }
        let params = match params {
            Some(Value::Object(params)) => Some(params),
            None | Some(Value::Null) => Some(Map::new()),
            Some(_) => None,
        };
        match (id, method, result, error) {
            (Some(id), Some(method), None, None) => Ok(Self::Request {
                id,
                method: method.into_owned(),
                params,
            }),
            (None, Some(method), None, None) => Ok(Self::Notification {
                method: method.into_owned(),
                params,
            }),
            (Some(id), None, Some(result), None) => Ok(Self::Response {
                id,
                result: Ok(result),
            }),
            (Some(id), None, None, Some(error)) => Ok(Self::Response {
                id,
                result: Err(error),
            }),
            (id, ..) => Err(wrong("not a JSON-RPC 2.0 message", id)),
        }
    }
}

impl Unreadable {
    /// Finds out what is wrong with bytes that do not have the members of a message: whether they are JSON, and which id
    /// they bear. Reading them a second time is paid by those who send them.
    fn of(bytes: &[u8], fault: &dyn fmt::Display) -> Self {
        let json: Value = match serde_json::from_slice(bytes) {
            Ok(json) => json,
            Err(syntax) => {
                let why = format!("not JSON: {syntax}");
                return Self {
                    error: RpcError::new(code::PARSE_ERROR, why),
                    id: None,
                    silent: false,
                };
            }
        };
        let why = match &json {
            Value::Array(_) => "batches are not supported: send one message at a time".to_owned(),
            Value::Object(_) => format!("not a JSON-RPC 2.0 message: {fault}"),
            _ => "not a JSON-RPC 2.0 message".to_owned(),
        };
        let id = json.get("id");
        Self {
            error: RpcError::invalid_request(why),
            silent: id.is_none() && json.get("method").is_some(),
            id: id.and_then(|id| Id::deserialize(id).ok()),
        }
    }
}

/// Writes a response with a result that is JSON already. `more` is put behind the members of the result.
pub(crate) fn response(id: &Id, result: &[u8], more: &str) -> Bytes {
    let mut out = Vec::with_capacity(result.len() + more.len() + 64);
    begin(&mut out, Some(id));
    out.extend_from_slice(br#","result":"#);
    match result.strip_suffix(b"}") {
        Some(members) if !more.is_empty() => {
            out.extend_from_slice(members);
            if members.len() > 1 {
                out.push(b',');
            }
            out.extend_from_slice(more.as_bytes());
            out.push(b'}');
        }
        _ => out.extend_from_slice(result),
    }
    out.push(b'}');
    out.into()
}

/// Writes an error, under `null` where the id is not known.
pub(crate) fn error(id: Option<&Id>, error: &RpcError) -> Bytes {
    let mut out = Vec::with_capacity(128);
    begin(&mut out, id);
    out.extend_from_slice(br#","error":"#);
    write(&mut out, error);
    out.push(b'}');
    out.into()
}

/// Writes a notification, or with an id a request of ours.
pub(crate) fn outgoing(id: Option<&Id>, method: &str, params: &impl Serialize) -> Bytes {
    #[derive(Serialize)]
    struct Outgoing<'a, P> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a Id>,
        method: &'a str,
        params: &'a P,
    }
    let mut out = Vec::with_capacity(128);
    let message = Outgoing {
        jsonrpc: "2.0",
        id,
        method,
        params,
    };
    write(&mut out, &message);
    out.into()
}

fn begin(out: &mut Vec<u8>, id: Option<&Id>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write(out, &id);
}

/// Writing into memory fails only for maps with keys that are no texts, which no message has.
fn write(out: &mut Vec<u8>, value: &impl Serialize) {
    if let Err(error) = serde_json::to_writer(&mut *out, value) {
        tracing::error!(%error, "writing a message of MCP failed");
    }
}
