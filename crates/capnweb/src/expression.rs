//! Expressions: values as they stand on the wire, before ids are looked up in a table.
//!
//! On the wire everything but an array is literal JSON, and an array is a tagged form such as
//! `["date", 0]`; a real array is wrapped once more, `[[1, 2]]`. Here each form is a variant, so the
//! rest of the crate never handles a positional array.

#![warn(clippy::wildcard_enum_match_arm)]

use std::sync::Arc;

use bytes::Bytes;
use indexmap::IndexMap;
use num_bigint::BigInt;

mod base64;
mod form;
mod json;
mod parse;
pub(crate) mod print;
mod raw;

#[cfg(test)]
#[path = "expression_tests.rs"]
mod tests;

pub(crate) use form::{Form, is_absolute};
pub(crate) use json::plain_length;
pub use parse::ParseError;
pub(crate) use parse::Parser;
pub(crate) use print::{write_form, write_integer};
pub use raw::Raw;

/// One value on the wire. Ids are as the sender of the message names them.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// `null`
    Null,
    /// `["undefined"]`
    Undefined,
    /// `true`, `false`
    Bool(bool),
    /// A JavaScript double; `["inf"]`, `["-inf"]` and `["nan"]` when it is not finite.
    Number(f64),
    /// A JSON string. Lone surrogates were replaced by U+FFFD when it was read.
    String(String),
    /// `["bigint", "123"]`
    BigInt(Box<BigInt>),
    /// `["date", milliseconds]`; `None` is the invalid date, written `["date", null]`.
    Date(Option<f64>),
    /// `["bytes", base64]` or `["bytes", base64, container]`
    Bytes(Bytes, ByteContainer),
    /// `[[a, b, ...]]`
    Array(Vec<Expression>),
    /// A JSON object in insertion order; of equal keys the last wins.
    Object(Box<IndexMap<String, Expression>>),
    /// `["error", type, message, stack?, props?]`
    Error(Box<ErrorExpression>),
    /// `["regexp", source, flags?]`
    RegExp(Box<RegExp>),
    /// `["url", href]`
    Url(String),
    /// `["headers", [[name, value], ...]]`
    Headers(Vec<(String, String)>),
    /// `["request", url, init]`
    Request(Box<RequestExpression>),
    /// `["response", body, init]`
    Response(Box<ResponseExpression>),
    /// `["blob", type, ["readable", id]]`
    Blob(Box<BlobExpression>),
    /// `["readable", id]`: the readable end of a pipe the sender made just before.
    Readable(i64),
    /// `["writable", id]`: an export of the sender that takes `write`, `close` and `abort`.
    Writable(i64),
    /// `["export", id]`: a capability of the sender.
    Export(i64),
    /// `["promise", id]`: a promise of the sender, which resolves it unasked.
    Promise(i64),
    /// `["import", id, path?, args?]`: the receiver's own object, delivered as a stub.
    Import(Box<Reference>),
    /// `["pipeline", id, path?, args?]`: the same, delivered as what it resolves to.
    Pipeline(Box<Reference>),
    /// `["remap", id, path, captures, instructions]`
    Remap(Box<Remap>),
    /// Text printed before, shared by all messages that contain it. The parser never makes one.
    Raw(Raw),
}

/// The JavaScript type that holds a run of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ByteContainer {
    ArrayBuffer,
    DataView,
    Int8Array,
    /// What plain bytes arrive as; the only container written without its name.
    #[default]
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    BigInt64Array,
    BigUint64Array,
    Float32Array,
    Float64Array,
}

impl ByteContainer {
    const ALL: [Self; 13] = [
        Self::ArrayBuffer,
        Self::DataView,
        Self::Int8Array,
        Self::Uint8Array,
        Self::Uint8ClampedArray,
        Self::Int16Array,
        Self::Uint16Array,
        Self::Int32Array,
        Self::Uint32Array,
        Self::BigInt64Array,
        Self::BigUint64Array,
        Self::Float32Array,
        Self::Float64Array,
    ];

    /// Its name in JavaScript and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::ArrayBuffer => "ArrayBuffer",
            Self::DataView => "DataView",
            Self::Int8Array => "Int8Array",
            Self::Uint8Array => "Uint8Array",
            Self::Uint8ClampedArray => "Uint8ClampedArray",
            Self::Int16Array => "Int16Array",
            Self::Uint16Array => "Uint16Array",
            Self::Int32Array => "Int32Array",
            Self::Uint32Array => "Uint32Array",
            Self::BigInt64Array => "BigInt64Array",
            Self::BigUint64Array => "BigUint64Array",
            Self::Float32Array => "Float32Array",
            Self::Float64Array => "Float64Array",
        }
    }

    /// The container of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|container| container.name() == name)
    }

    /// How many bytes one element takes; the length of the whole is a multiple of it.
    pub fn element_size(self) -> usize {
        match self {
            Self::ArrayBuffer
            | Self::DataView
            | Self::Int8Array
            | Self::Uint8Array
            | Self::Uint8ClampedArray => 1,
            Self::Int16Array | Self::Uint16Array => 2,
            Self::Int32Array | Self::Uint32Array | Self::Float32Array => 4,
            Self::BigInt64Array | Self::BigUint64Array | Self::Float64Array => 8,
        }
    }
}

/// An error as it is sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorExpression {
    /// The name of its class; any name may arrive, only the eight standard ones mean something.
    pub name: String,
    /// Its message.
    pub message: String,
    /// A stack, where the sender chose to reveal one.
    pub stack: Option<String>,
    /// Own properties, `cause` and `errors` among them. `None` when the slot is absent.
    pub props: Option<IndexMap<String, Expression>>,
}

/// A regular expression in JavaScript's syntax, carried and never run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegExp {
    /// What stands between the slashes.
    pub source: String,
    /// What stands behind them.
    pub flags: String,
}

/// An HTTP request as it is sent: the defaults are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestExpression {
    /// The absolute address.
    pub url: String,
    /// `init.headers`: raw pairs.
    pub headers: Vec<(String, String)>,
    /// `init.body`: null, a string, bytes or a readable stream.
    pub body: Option<Expression>,
    /// All else in `init` (`method`, `redirect`, `duplex`, ...): plain JSON, not expressions. Never
    /// `headers` or `body`.
    pub init: IndexMap<String, Plain>,
}

/// An HTTP response as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseExpression {
    /// Null, a string, bytes or a readable stream.
    pub body: Expression,
    /// `init.headers`: raw pairs.
    pub headers: Vec<(String, String)>,
    /// All else in `init` (`status`, `statusText`, ...): plain JSON, not expressions. Never `headers`.
    pub init: IndexMap<String, Plain>,
}

/// Plain JSON, where the protocol allows no expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Plain {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<Plain>),
    Object(IndexMap<String, Plain>),
}

/// A Blob as it is sent: its bytes always travel in a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct BlobExpression {
    /// The media type, possibly empty.
    pub mime: String,
    /// The id of the pipe that brings the bytes.
    pub readable: i64,
}

/// A way to the receiver's own object, and perhaps a call on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The import, as the sender numbers it.
    pub id: i64,
    /// Properties to follow from there; `None` when the slot is absent.
    pub path: Option<Vec<PathPart>>,
    /// Arguments, when it is a call. Present only when `path` is.
    pub args: Option<Vec<Expression>>,
}

/// One step of a property path.
#[derive(Clone, Debug, PartialEq)]
pub enum PathPart {
    /// A property's name.
    Name(String),
    /// An array's index, normally.
    Number(f64),
}

/// A recorded function to run on the receiver's own value, or on each element of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Remap {
    /// The import, as the sender numbers it.
    pub id: i64,
    /// Properties to follow from there.
    pub path: Vec<PathPart>,
    /// Capabilities the function uses, numbered -1, -2, ... inside it.
    pub captures: Vec<Capture>,
    /// What the function does; the last one is its result. Shared, since each element runs them.
    pub instructions: Arc<[Expression]>,
}

/// A capability a recorded function uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capture {
    /// `["import", id]`: the receiver's own.
    Import(i64),
    /// `["export", id]`: the sender's.
    Export(i64),
}

impl Expression {
    /// Whether an id of some session is in here.
    fn holds_ids(&self) -> bool {
        match self {
            Self::Null
            | Self::Undefined
            | Self::Bool(_)
            | Self::Number(_)
            | Self::String(_)
            | Self::BigInt(_)
            | Self::Date(_)
            | Self::Bytes(..)
            | Self::RegExp(_)
            | Self::Url(_)
            | Self::Headers(_)
            | Self::Raw(_) => false,
            Self::Array(elements) => elements.iter().any(Self::holds_ids),
            Self::Object(members) => members.values().any(Self::holds_ids),
            Self::Error(error) => error
                .props
                .iter()
                .flat_map(IndexMap::values)
                .any(Self::holds_ids),
            Self::Request(request) => request.body.as_ref().is_some_and(Self::holds_ids),
            Self::Response(response) => response.body.holds_ids(),
            Self::Blob(_)
            | Self::Readable(_)
            | Self::Writable(_)
            | Self::Export(_)
            | Self::Promise(_)
            | Self::Import(_)
            | Self::Pipeline(_)
            | Self::Remap(_) => true,
        }
    }
}

/// Whether every JavaScript object has a member of this name. Such members are never read on behalf
/// of a peer and never taken from one, or dispatch by name would reach beyond what a target offers.
pub(crate) fn is_prototype_member(name: &str) -> bool {
    matches!(
        name,
        "constructor"
            | "__defineGetter__"
            | "__defineSetter__"
            | "hasOwnProperty"
            | "__lookupGetter__"
            | "__lookupSetter__"
            | "isPrototypeOf"
            | "propertyIsEnumerable"
            | "toString"
            | "valueOf"
            | "__proto__"
            | "toLocaleString"
    )
}
