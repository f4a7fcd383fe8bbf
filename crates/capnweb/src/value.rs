//! The values that applications send and receive: data, and the capabilities inside it.
//!
//! A [`Value`] owns what it holds. Dropping it releases every capability in it, moving it moves that
//! duty, and cloning it duplicates them. Nothing else in the crate needs to remember a release.

use std::fmt;

use bytes::Bytes;
use indexmap::IndexMap;
use num_bigint::BigInt;

use crate::error::Error;
use crate::expression::{ByteContainer, Expression, Plain, Raw, RegExp, is_absolute};
use crate::limits::Limits;
use crate::promise::Pipelined;
use crate::session::evaluate;
use crate::stream::{ReadableStream, WritableStream};
use crate::stub::Capability;

/// Anything that can be an argument, a result, or a part of one.
#[derive(Clone, Default)]
pub enum Value {
    /// JavaScript's `undefined`; a method that returns nothing gives it.
    #[default]
    Undefined,
    Null,
    Bool(bool),
    /// A double, the only number JavaScript has. Integers beyond 2^53 go as [`Value::BigInt`].
    Number(f64),
    String(String),
    /// An integer of any size.
    BigInt(Box<BigInt>),
    /// A point in time.
    Date(Date),
    /// Bytes, and the kind of JavaScript array that holds them.
    Bytes(Bytes, ByteContainer),
    Array(Vec<Value>),
    /// A plain object, in insertion order.
    Object(Object),
    /// An error as data.
    Error(Error),
    RegExp(Box<RegExp>),
    Url(String),
    /// HTTP headers, in order, names possibly repeated.
    Headers(Vec<(String, String)>),
    Request(Box<Request>),
    Response(Box<Response>),
    /// Bytes with a media type; they travel in a stream.
    Blob(Blob),
    /// A stream to read from.
    Readable(ReadableStream),
    /// A stream to write to.
    Writable(WritableStream),
    Stub(Capability),
    /// A value still to come. It is put in place before the other side's application sees it.
    Promise(Pipelined),
    /// Data printed before, to be sent to many without printing it again.
    Raw(Raw),
}

/// A point in time as JavaScript counts: milliseconds since 1970, possibly fractional.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Date {
    /// `None` is JavaScript's invalid date.
    pub milliseconds: Option<f64>,
}

/// An ordered map from names to values.
#[derive(Clone, Debug, Default)]
pub struct Object(Box<IndexMap<String, Value>>);

/// Bytes with a media type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blob {
    /// The media type, possibly empty.
    pub mime: String,
    pub bytes: Bytes,
}

/// An HTTP request as a value. Nothing here performs it.
#[derive(Clone, Debug)]
pub struct Request {
    pub url: String,
    /// `GET` unless said otherwise.
    pub method: String,
    /// Its headers, in order.
    pub headers: Vec<(String, String)>,
    pub body: Body,
    /// Other properties of `init` (`redirect`, `credentials`, ...).
    pub extra: IndexMap<String, Plain>,
}

/// An HTTP response as a value.
#[derive(Clone, Debug)]
pub struct Response {
    pub status: u16,
    /// The reason phrase, possibly empty.
    pub status_text: String,
    /// Its headers, in order.
    pub headers: Vec<(String, String)>,
    pub body: Body,
    /// Other properties of `init`.
    pub extra: IndexMap<String, Plain>,
}

/// The body of a request or response.
#[derive(Clone, Debug, Default)]
pub enum Body {
    #[default]
    Empty,
    Text(String),
    Bytes(Bytes),
    /// Bytes as they come.
    Stream(ReadableStream),
}

impl Value {
    /// Plain bytes, a `Uint8Array`.
    pub fn bytes(bytes: impl Into<Bytes>) -> Self {
        Self::Bytes(bytes.into(), ByteContainer::Uint8Array)
    }

    pub fn array<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }

    pub fn object<K: Into<String>, V: Into<Value>>(
        fields: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        Self::Object(fields.into_iter().collect())
    }

    pub fn is_nullish(&self) -> bool {
        matches!(self, Self::Null | Self::Undefined)
    }

    /// The number, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The list, if it is one.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// A field of an object.
    pub fn field(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Object(object) => object.get(name),
            _ => None,
        }
    }

    /// Prints plain data once, so that sending it to many costs one printing.
    ///
    /// Gives `None` when the value holds a capability, a promise or a stream, which get different ids
    /// towards each peer, and when it cannot be sent at all.
    pub fn to_raw(&self) -> Option<Raw> {
        if self.is_deeper_than(Limits::default().max_depth) {
            return None;
        }
        Raw::print(&self.to_plain_expression()?)
    }

    fn is_deeper_than(&self, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return true;
        };
        match self {
            Self::Array(items) => items.iter().any(|item| item.is_deeper_than(depth)),
            Self::Object(object) => object.iter().any(|(_, value)| value.is_deeper_than(depth)),
            Self::Error(error) => error
                .props()
                .values()
                .any(|value| value.is_deeper_than(depth)),
            _ => false,
        }
    }

    /// The same data as an expression; `None` when it holds anything that needs a session.
    pub(crate) fn to_plain_expression(&self) -> Option<Expression> {
        let list = |items: &[Value]| {
            items
                .iter()
                .map(Value::to_plain_expression)
                .collect::<Option<Vec<_>>>()
        };
        Some(match self {
            Self::Undefined => Expression::Undefined,
            Self::Null => Expression::Null,
            Self::Bool(value) => Expression::Bool(*value),
            Self::Number(value) => Expression::Number(*value),
            Self::String(text) => Expression::String(text.clone()),
            Self::BigInt(value) => Expression::BigInt(value.clone()),
            Self::Date(date) => Expression::Date(date.milliseconds),
            Self::Bytes(bytes, container)
                if bytes.len().is_multiple_of(container.element_size()) =>
            {
                Expression::Bytes(bytes.clone(), *container)
            }
            Self::Array(items) => Expression::Array(list(items)?),
            Self::Object(object) => {
                let fields = object
                    .iter()
                    .map(|(name, value)| Some((name.to_owned(), value.to_plain_expression()?)));
                Expression::Object(Box::new(fields.collect::<Option<_>>()?))
            }
            Self::Error(error) => {
                let props = error
                    .props()
                    .iter()
                    .map(|(name, value)| Some((name.clone(), value.to_plain_expression()?)));
                Expression::Error(Box::new(crate::expression::ErrorExpression {
                    name: error.kind().name().to_owned(),
                    message: error.message().to_owned(),
                    stack: error.stack().map(str::to_owned),
                    props: if error.props().is_empty() {
                        None
                    } else {
                        Some(props.collect::<Option<_>>()?)
                    },
                }))
            }
            Self::RegExp(regexp) => Expression::RegExp(regexp.clone()),
            Self::Url(href) if is_absolute(href) => Expression::Url(href.clone()),
            Self::Headers(pairs) => Expression::Headers(pairs.clone()),
            Self::Raw(raw) => Expression::Raw(raw.clone()),
            // No reader would take such bytes or such a URL.
            Self::Bytes(..)
            | Self::Url(_)
            | Self::Request(_)
            | Self::Response(_)
            | Self::Blob(_)
            | Self::Readable(_)
            | Self::Writable(_)
            | Self::Stub(_)
            | Self::Promise(_) => return None,
        })
    }

    /// The same value with what was printed before read back, for an application in this process.
    pub(crate) fn without_raw(self) -> Self {
        fn holds_raw(value: &Value) -> bool {
            match value {
                Value::Raw(_) => true,
                Value::Array(items) => items.iter().any(holds_raw),
                Value::Object(object) => object.iter().any(|(_, value)| holds_raw(value)),
                _ => false,
            }
        }
        match self {
            Self::Raw(raw) => evaluate::plain(raw.parse()),
            Self::Array(items) if items.iter().any(holds_raw) => {
                Self::Array(items.into_iter().map(Self::without_raw).collect())
            }
            Self::Object(object) if object.iter().any(|(_, value)| holds_raw(value)) => {
                Self::Object(
                    object
                        .into_iter()
                        .map(|(name, value)| (name, value.without_raw()))
                        .collect(),
                )
            }
            value => value,
        }
    }

    /// Roughly how many bytes it takes, all in all.
    pub fn weight(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Array(items) => items.iter().map(Self::weight).sum(),
                Self::Object(object) => object
                    .iter()
                    .map(|(name, value)| 2 * size_of::<String>() + name.len() + value.weight())
                    .sum(),
                value => value.own_size(),
            }
    }

    /// Roughly how many bytes it takes, without the elements of an array and the fields of an object.
    pub(crate) fn own_size(&self) -> usize {
        fn pairs(pairs: &[(String, String)]) -> usize {
            pairs
                .iter()
                .map(|(name, value)| 48 + name.len() + value.len())
                .sum()
        }
        fn extra(fields: &IndexMap<String, Plain>) -> usize {
            fields
                .iter()
                .map(|(name, value)| name.len() + plain(value))
                .sum()
        }
        fn plain(value: &Plain) -> usize {
            64 + match value {
                Plain::Null | Plain::Bool(_) | Plain::Number(_) => 0,
                Plain::String(text) => text.len(),
                Plain::Array(items) => items.iter().map(plain).sum(),
                Plain::Object(fields) => extra(fields),
            }
        }
        fn body(body: &Body) -> usize {
            match body {
                Body::Empty | Body::Stream(_) => 0,
                Body::Text(text) => text.len(),
                Body::Bytes(bytes) => bytes.len(),
            }
        }
        fn whole(value: &Value) -> usize {
            64 + match value {
                Value::Array(items) => items.iter().map(whole).sum(),
                Value::Object(object) => object
                    .iter()
                    .map(|(name, value)| name.len() + whole(value))
                    .sum(),
                value => value.own_size(),
            }
        }
        match self {
            Self::Undefined | Self::Null | Self::Bool(_) | Self::Number(_) | Self::Date(_) => 0,
            Self::Array(_) | Self::Object(_) => 0,
            Self::Readable(_) | Self::Writable(_) | Self::Stub(_) | Self::Promise(_) => 0,
            Self::String(text) | Self::Url(text) => text.len(),
            Self::BigInt(value) => value.bits() as usize / 8,
            Self::Bytes(bytes, _) => bytes.len(),
            Self::Blob(blob) => blob.mime.len() + blob.bytes.len(),
            Self::RegExp(regexp) => regexp.source.len() + regexp.flags.len(),
            Self::Raw(raw) => raw.as_str().len(),
            Self::Headers(headers) => pairs(headers),
            Self::Error(error) => {
                let props: usize = error
                    .props()
                    .iter()
                    .map(|(name, value)| name.len() + whole(value))
                    .sum();
                error.message().len() + error.stack().map_or(0, str::len) + props
            }
            Self::Request(request) => {
                request.url.len()
                    + request.method.len()
                    + pairs(&request.headers)
                    + body(&request.body)
                    + extra(&request.extra)
            }
            Self::Response(response) => {
                response.status_text.len()
                    + pairs(&response.headers)
                    + body(&response.body)
                    + extra(&response.extra)
            }
        }
    }

    /// What it is, in the words a caller would use.
    pub(crate) fn describe_kind(&self) -> &'static str {
        match self {
            Self::Undefined => "undefined",
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::BigInt(_) => "a bigint",
            Self::Date(_) => "a Date",
            Self::Bytes(..) => "bytes",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
            Self::Error(_) => "an Error",
            Self::RegExp(_) => "a RegExp",
            Self::Url(_) => "a URL",
            Self::Headers(_) => "Headers",
            Self::Request(_) => "a Request",
            Self::Response(_) => "a Response",
            Self::Blob(_) => "a Blob",
            Self::Readable(_) => "a ReadableStream",
            Self::Writable(_) => "a WritableStream",
            Self::Stub(_) => "a stub",
            Self::Promise(_) => "a promise",
            Self::Raw(_) => "raw data",
        }
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undefined => f.write_str("undefined"),
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::String(text) => text.fmt(f),
            Self::BigInt(value) => write!(f, "{value}n"),
            Self::Date(date) => date.fmt(f),
            Self::Bytes(bytes, container) => write!(f, "{container:?}[{} bytes]", bytes.len()),
            Self::Array(items) => items.fmt(f),
            Self::Object(object) => f.debug_map().entries(object.iter()).finish(),
            Self::Error(error) => error.fmt(f),
            Self::RegExp(regexp) => write!(f, "/{}/{}", regexp.source, regexp.flags),
            Self::Url(href) => write!(f, "Url({href})"),
            Self::Headers(pairs) => f.debug_tuple("Headers").field(pairs).finish(),
            Self::Request(request) => request.fmt(f),
            Self::Response(response) => response.fmt(f),
            Self::Blob(blob) => write!(f, "Blob({:?}, {} bytes)", blob.mime, blob.bytes.len()),
            Self::Readable(_) => f.write_str("ReadableStream"),
            Self::Writable(_) => f.write_str("WritableStream"),
            Self::Stub(_) => f.write_str("Stub"),
            Self::Promise(_) => f.write_str("Promise"),
            Self::Raw(raw) => write!(f, "Raw({})", raw.as_str()),
        }
    }
}

impl Date {
    /// A point in time.
    pub fn from_milliseconds(milliseconds: f64) -> Self {
        Self {
            milliseconds: milliseconds.is_finite().then_some(milliseconds),
        }
    }
}

impl Object {
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a field; a field that exists keeps its place.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.0.insert(name.into(), value.into())
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Takes a field out; the others keep their order.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.0.shift_remove(name)
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The fields in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        self.0.values_mut()
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Object {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
        Self(Box::new(
            fields
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        ))
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = indexmap::map::IntoIter<String, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

macro_rules! from_into_value {
    ($($type:ty => |$value:ident| $make:expr;)*) => {
        $(impl From<$type> for Value {
            fn from($value: $type) -> Self {
                $make
            }
        })*
    };
}

from_into_value! {
    () => |_unit| Value::Undefined;
    bool => |value| Value::Bool(value);
    f64 => |value| Value::Number(value);
    f32 => |value| Value::Number(f64::from(value));
    i8 => |value| Value::Number(f64::from(value));
    i16 => |value| Value::Number(f64::from(value));
    i32 => |value| Value::Number(f64::from(value));
    u8 => |value| Value::Number(f64::from(value));
    u16 => |value| Value::Number(f64::from(value));
    u32 => |value| Value::Number(f64::from(value));
    i64 => |value| wide_integer(i128::from(value));
    u64 => |value| wide_integer(i128::from(value));
    usize => |value| wide_integer(value as i128);
    isize => |value| wide_integer(value as i128);
    i128 => |value| wide_integer(value);
    String => |text| Value::String(text);
    &str => |text| Value::String(text.to_owned());
    BigInt => |value| Value::BigInt(Box::new(value));
    Date => |date| Value::Date(date);
    Bytes => |bytes| Value::bytes(bytes);
    Object => |object| Value::Object(object);
    Error => |error| Value::Error(error);
    RegExp => |regexp| Value::RegExp(Box::new(regexp));
    Request => |request| Value::Request(Box::new(request));
    Response => |response| Value::Response(Box::new(response));
    Blob => |blob| Value::Blob(blob);
    Capability => |capability| Value::Stub(capability);
    Pipelined => |promise| Value::Promise(promise);
    Raw => |raw| Value::Raw(raw);
}

impl<T: Into<Value>> From<Vec<T>> for Value {
    fn from(items: Vec<T>) -> Self {
        Self::array(items)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Undefined, Into::into)
    }
}

/// Beyond 2^53 a double would lose digits, so such an integer goes as a bigint.
fn wide_integer(value: i128) -> Value {
    const SAFE: i128 = (1 << 53) - 1;
    if (-SAFE..=SAFE).contains(&value) {
        Value::Number(value as f64)
    } else {
        Value::BigInt(Box::new(BigInt::from(value)))
    }
}
