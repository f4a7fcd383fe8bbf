//! The sample values of the contract: how to make one, and how to recognise one.

use bytes::Bytes;
use capnweb::expression::{ByteContainer, RegExp};
use capnweb::{
    Blob, Body, Capability, Date, Error, ErrorKind, ReadableStream, Request, Response, Result,
    Stub, Value,
};
use num_bigint::BigInt;

use super::objects::{Counter, double};

/// Kinds that are copied whole, so that they may also be thrown and echoed.
pub(crate) const PLAIN: &[&str] = &[
    "null",
    "undefined",
    "true",
    "false",
    "zero",
    "integer",
    "negative",
    "float",
    "tiny",
    "huge",
    "exponent",
    "maxSafe",
    "inf",
    "-inf",
    "nan",
    "string",
    "emptyString",
    "array",
    "emptyArray",
    "sparse",
    "object",
    "emptyObject",
    "objectUndefined",
    "deep",
    "bigint",
    "bigintNegative",
    "bigintZero",
    "bigintLong",
    "date",
    "dateNegative",
    "dateInvalid",
    "bytes",
    "bytesEmpty",
    "arrayBuffer",
    "dataView",
    "int8Array",
    "uint8ClampedArray",
    "int16Array",
    "uint16Array",
    "int32Array",
    "uint32Array",
    "bigInt64Array",
    "bigUint64Array",
    "float32Array",
    "float64Array",
    "Error",
    "EvalError",
    "RangeError",
    "ReferenceError",
    "SyntaxError",
    "TypeError",
    "URIError",
    "errorProps",
    "errorCause",
    "errorAggregate",
    "url",
    "headers",
];

/// Kinds with a body, a stream or a capability in them.
pub(crate) const LIVE: &[&str] = &[
    "request",
    "requestPlain",
    "response",
    "responseEmpty",
    "blob0",
    "blob10",
    "blob1m",
    "function",
    "counter",
    "nested",
];

const BLOB_TYPE: &str = "application/x-sample";

/// The sample of a kind.
pub(crate) fn make(kind: &str) -> Result<Value> {
    Ok(match kind {
        "null" => Value::Null,
        "undefined" => Value::Undefined,
        "true" => true.into(),
        "false" => false.into(),
        "zero" => 0.into(),
        "integer" => 42.into(),
        "negative" => (-7).into(),
        "float" => 0.1.into(),
        "tiny" => 5e-324.into(),
        "huge" => f64::MAX.into(),
        "exponent" => 1e21.into(),
        "maxSafe" => 9_007_199_254_740_991_u64.into(),
        "inf" => f64::INFINITY.into(),
        "-inf" => f64::NEG_INFINITY.into(),
        "nan" => f64::NAN.into(),
        "string" => "h\u{e9} \0\n\t\"\\ \u{2028} \u{1F600}".into(),
        "emptyString" => "".into(),
        "array" => array(),
        "emptyArray" => Value::Array(Vec::new()),
        "sparse" => Value::Array(vec![Value::Undefined, 1.into(), Value::Undefined]),
        "object" => object(),
        "emptyObject" => Value::Object(Default::default()),
        "objectUndefined" => Value::object([("u", Value::Undefined), ("n", Value::Null)]),
        "deep" => (0..200).fold("bottom".into(), |inner, _| Value::Array(vec![inner])),
        "bigint" => bigint("123456789012345678901234567890"),
        "bigintNegative" => bigint("-18446744073709551617"),
        "bigintZero" => bigint("0"),
        "bigintLong" => BigInt::from(10).pow(4000).into(),
        "date" => Date::from_milliseconds(1_700_000_000_123.0).into(),
        "dateNegative" => Date::from_milliseconds(-1.0).into(),
        "dateInvalid" => Date::from_milliseconds(f64::NAN).into(),
        "url" => Value::Url("https://example.com/a/b?q=1#frag".to_owned()),
        "headers" => Value::Headers(pairs([
            ("content-type", "text/plain"),
            ("x-sample", "one, two"),
        ])),
        "function" => double().into(),
        "counter" => Counter::new(10.0).into(),
        "nested" => nested(),
        "regexp" => RegExp {
            source: "a+b".to_owned(),
            flags: "gi".to_owned(),
        }
        .into(),
        _ => match bytes(kind)
            .or_else(|| error(kind))
            .or_else(|| fetch(kind))
            .or_else(|| blob(kind))
        {
            Some(value) => value,
            None => return Err(Error::range_error(format!("unknown kind: {kind}"))),
        },
    })
}

fn array() -> Value {
    let inner = Value::Array(vec![3.into(), Value::Array(Vec::new())]);
    let middle = Value::Array(vec![2.into(), inner]);
    Value::Array(vec![1.into(), middle, "x".into(), Value::Null, true.into()])
}

fn object() -> Value {
    let inner = Value::Array(vec![1.into(), Value::object([("c", "d")])]);
    Value::object([
        ("z", 1.into()),
        ("a", Value::object([("b", inner)])),
        ("", 0.into()),
        ("two words", false.into()),
        ("m", Value::Null),
    ])
}

fn nested() -> Value {
    let list = vec![Counter::new(1.0).into(), double().into()];
    Value::object([
        ("counter", Counter::new(5.0).into()),
        ("double", double().into()),
        ("list", Value::Array(list)),
    ])
}

fn bigint(text: &str) -> Value {
    text.parse::<BigInt>()
        .expect("the samples are integers")
        .into()
}

fn bytes(kind: &str) -> Option<Value> {
    use ByteContainer as Is;
    let (container, content): (_, Vec<u8>) = match kind {
        "bytes" => (Is::Uint8Array, vec![0, 1, 2, 253, 254, 255, 62]),
        "bytesEmpty" => (Is::Uint8Array, Vec::new()),
        "arrayBuffer" => (Is::ArrayBuffer, vec![1, 2, 3, 4, 5]),
        "dataView" => (Is::DataView, vec![9, 8, 7]),
        "int8Array" => (
            Is::Int8Array,
            [-128_i8, 0, 127].map(i8::to_le_bytes).concat(),
        ),
        "uint8ClampedArray" => (Is::Uint8ClampedArray, vec![0, 128, 255]),
        "int16Array" => (
            Is::Int16Array,
            [-32768_i16, 1, 32767].map(i16::to_le_bytes).concat(),
        ),
        "uint16Array" => (
            Is::Uint16Array,
            [0_u16, 258, 65535].map(u16::to_le_bytes).concat(),
        ),
        "int32Array" => (
            Is::Int32Array,
            [i32::MIN, 1, i32::MAX].map(i32::to_le_bytes).concat(),
        ),
        "uint32Array" => (
            Is::Uint32Array,
            [0, 16_909_060, u32::MAX].map(u32::to_le_bytes).concat(),
        ),
        "bigInt64Array" => (
            Is::BigInt64Array,
            [i64::MIN, 1].map(i64::to_le_bytes).concat(),
        ),
        "bigUint64Array" => (
            Is::BigUint64Array,
            [0, u64::MAX].map(u64::to_le_bytes).concat(),
        ),
        "float32Array" => (
            Is::Float32Array,
            [0.5, -1.25, f32::INFINITY].map(f32::to_le_bytes).concat(),
        ),
        "float64Array" => (
            Is::Float64Array,
            [0.1, -1e300, 5e-324].map(f64::to_le_bytes).concat(),
        ),
        _ => return None,
    };
    Some(Value::Bytes(content.into(), container))
}

fn error(kind: &str) -> Option<Value> {
    let error = match kind {
        "Error" | "EvalError" | "RangeError" | "ReferenceError" | "SyntaxError" | "TypeError"
        | "URIError" => Error::of(ErrorKind::from_name(kind), format!("sample {kind}")),
        "errorProps" => {
            let when = Value::from(Date::from_milliseconds(0.0));
            let detail = Value::object([("list", Value::array([1, 2])), ("when", when)]);
            Error::new("with props")
                .with_code("E_SAMPLE")
                .with_prop("detail", detail)
                .with_prop("big", BigInt::from(5))
        }
        "errorCause" => Error::new("outer").with_cause(Error::type_error("inner")),
        "errorAggregate" => Error::of(ErrorKind::AggregateError, "several")
            .with_prop("errors", vec![Error::new("one"), Error::range_error("two")]),
        _ => return None,
    };
    Some(error.into())
}

fn fetch(kind: &str) -> Option<Value> {
    let request = |path: &str, method: &str, headers, body| Request {
        url: format!("https://example.com/{path}"),
        method: method.to_owned(),
        headers,
        body,
        extra: Default::default(),
    };
    let response = |status, text: &str, headers, body| Response {
        status,
        status_text: text.to_owned(),
        headers,
        body,
        extra: Default::default(),
    };
    let header = || pairs([("x-sample", "1")]);
    Some(match kind {
        "request" => request(
            "submit",
            "POST",
            header(),
            Body::Text("hello request".to_owned()),
        )
        .into(),
        "requestPlain" => request("plain", "GET", Vec::new(), Body::Empty).into(),
        "response" => response(
            201,
            "Made",
            header(),
            Body::Text("hello response".to_owned()),
        )
        .into(),
        "responseEmpty" => response(204, "", Vec::new(), Body::Empty).into(),
        _ => return None,
    })
}

fn blob(kind: &str) -> Option<Value> {
    let size = match kind {
        "blob0" => 0,
        "blob10" => 10,
        "blob1m" => 1 << 20,
        _ => return None,
    };
    Some(
        Blob {
            mime: BLOB_TYPE.to_owned(),
            bytes: pattern(0, size),
        }
        .into(),
    )
}

fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

/// The pattern bytes from offset `from` on.
pub(crate) fn pattern(from: usize, length: usize) -> Bytes {
    (from..from + length).map(|at| (at * 31) as u8).collect()
}

/// The hash of the contract; `hash` is the value so far.
pub(crate) fn hash_of(bytes: &[u8], hash: u32) -> u32 {
    bytes.iter().fold(hash, |hash, byte| {
        hash.wrapping_mul(31).wrapping_add(u32::from(*byte))
    })
}

/// Whether a value that was received is the sample of that kind.
pub(crate) async fn check(kind: &str, value: Value) -> Result<bool> {
    Ok(match (kind, value) {
        ("function", Value::Stub(function)) => is_double(&function, 21.0).await?,
        ("counter", Value::Stub(counter)) => increments(&counter, 5.0, 15.0).await?,
        ("nested", value) => is_nested(&value).await?,
        ("request" | "requestPlain", Value::Request(value)) => is_request(*value, kind).await?,
        ("response" | "responseEmpty", Value::Response(value)) => is_response(*value, kind).await?,
        (kind, value) => is_same(&value, &make(kind)?),
    })
}

async fn is_double(function: &Capability, n: f64) -> Result<bool> {
    Ok(function.invoke((n,)).cast::<f64>().await? == 2.0 * n)
}

async fn increments(counter: &Capability, by: f64, to: f64) -> Result<bool> {
    let counter = Stub::<Counter>::from_capability(counter.clone());
    Ok(counter.increment(by).await? == to)
}

async fn is_nested(value: &Value) -> Result<bool> {
    let Value::Object(fields) = value else {
        return Ok(false);
    };
    let fields: Vec<_> = fields.iter().collect();
    match fields.as_slice() {
        [
            ("counter", Value::Stub(counter)),
            ("double", Value::Stub(double)),
            ("list", Value::Array(list)),
        ] => {
            let [Value::Stub(second), Value::Stub(again)] = list.as_slice() else {
                return Ok(false);
            };
            Ok(increments(counter, 1.0, 6.0).await?
                && is_double(double, 2.0).await?
                && increments(second, 1.0, 2.0).await?
                && is_double(again, 3.0).await?)
        }
        _ => Ok(false),
    }
}

async fn is_request(value: Request, kind: &str) -> Result<bool> {
    let Value::Request(sample) = make(kind)? else {
        return Ok(false);
    };
    let plain = kind == "requestPlain";
    Ok(value.url == sample.url
        && value.method == sample.method
        && sample
            .headers
            .iter()
            .all(|header| value.headers.contains(header))
        && (!plain || (value.headers.is_empty() && matches!(value.body, Body::Empty)))
        && text_of(value.body).await? == text_of(sample.body).await?)
}

async fn is_response(value: Response, kind: &str) -> Result<bool> {
    let Value::Response(sample) = make(kind)? else {
        return Ok(false);
    };
    Ok(value.status == sample.status
        && value.status_text == sample.status_text
        && sample
            .headers
            .iter()
            .all(|header| value.headers.contains(header))
        && text_of(value.body).await? == text_of(sample.body).await?)
}

/// A body, read to its end.
pub(crate) async fn text_of(body: Body) -> Result<Bytes> {
    Ok(match body {
        Body::Empty => Bytes::new(),
        Body::Text(text) => text.into(),
        Body::Bytes(bytes) => bytes,
        Body::Stream(stream) => ReadableStream::collect_bytes(stream, 64 << 20).await?,
    })
}

/// Same type, same contents, same key order; stacks of errors do not count, nor the order of their
/// properties. Capabilities and streams are never the same.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Undefined, Value::Undefined) | (Value::Null, Value::Null) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Number(one), Value::Number(other)) => {
            one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
        }
        (Value::String(one), Value::String(other)) | (Value::Url(one), Value::Url(other)) => {
            one == other
        }
        (Value::BigInt(one), Value::BigInt(other)) => one == other,
        (Value::Date(one), Value::Date(other)) => one == other,
        (Value::Bytes(one, container), Value::Bytes(other, same)) => {
            one == other && container == same
        }
        (Value::Headers(one), Value::Headers(other)) => one == other,
        (Value::RegExp(one), Value::RegExp(other)) => one == other,
        (Value::Blob(one), Value::Blob(other)) => one == other,
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other.iter())
                    .all(|(one, other)| is_same_field(one, other))
        }
        (Value::Error(one), Value::Error(other)) => is_same_error(one, other),
        _ => false,
    }
}

fn is_same_field(one: (&str, &Value), other: (&str, &Value)) -> bool {
    one.0 == other.0 && is_same(one.1, other.1)
}

pub(crate) fn is_same_error(one: &Error, other: &Error) -> bool {
    let in_other = |(name, value): (&String, &Value)| {
        other.prop(name).is_some_and(|other| is_same(value, other))
    };
    match (one.thrown_value(), other.thrown_value()) {
        (None, None) => {
            one.kind() == other.kind()
                && one.message() == other.message()
                && one.props().len() == other.props().len()
                && one.props().iter().all(in_other)
        }
        (Some(one), Some(other)) => is_same(one, other),
        _ => false,
    }
}
