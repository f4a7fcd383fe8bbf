//! The messages of OTLP that spans are sent in (opentelemetry-proto 1.x, `collector/trace/v1` and `trace/v1`), as far as we
//! have something to say.

use std::time::{Duration, UNIX_EPOCH};

use dial::trace::{Attribute, EndedSpan, Kind};
use prost::Message;

/// The longest text of an attribute, of a name or of a failure, in characters.
const MAX_TEXT: usize = 1_000;

#[derive(Clone, PartialEq, Message)]
struct ExportRequest {
    #[prost(message, repeated, tag = "1")]
    resource_spans: Vec<ResourceSpans>,
}

#[derive(Clone, PartialEq, Message)]
struct ResourceSpans {
    #[prost(message, optional, tag = "1")]
    resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    scope_spans: Vec<ScopeSpans>,
}

/// What all spans of a process have in common.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Resource {
    #[prost(message, repeated, tag = "1")]
    attributes: Vec<KeyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct ScopeSpans {
    #[prost(message, optional, tag = "1")]
    scope: Option<InstrumentationScope>,
    #[prost(message, repeated, tag = "2")]
    spans: Vec<Span>,
}

#[derive(Clone, PartialEq, Message)]
struct InstrumentationScope {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    version: String,
}

#[derive(Clone, PartialEq, Message)]
struct Span {
    #[prost(bytes = "vec", tag = "1")]
    trace_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "4")]
    parent_span_id: Vec<u8>,
    #[prost(string, tag = "5")]
    name: String,
    #[prost(int32, tag = "6")]
    kind: i32,
    #[prost(fixed64, tag = "7")]
    start_time_unix_nano: u64,
    #[prost(fixed64, tag = "8")]
    end_time_unix_nano: u64,
    #[prost(message, repeated, tag = "9")]
    attributes: Vec<KeyValue>,
    #[prost(message, optional, tag = "15")]
    status: Option<Status>,
    #[prost(fixed32, tag = "16")]
    flags: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Status {
    #[prost(string, tag = "2")]
    message: String,
    #[prost(int32, tag = "3")]
    code: i32,
}

#[derive(Clone, PartialEq, Message)]
struct KeyValue {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, Message)]
struct AnyValue {
    #[prost(oneof = "Value", tags = "1, 3")]
    value: Option<Value>,
}

#[derive(Clone, PartialEq, prost::Oneof)]
enum Value {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(int64, tag = "3")]
    Number(i64),
}

#[derive(Clone, PartialEq, Message)]
struct ExportResponse {
    #[prost(message, optional, tag = "1")]
    partial_success: Option<PartialSuccess>,
}

#[derive(Clone, PartialEq, Message)]
struct PartialSuccess {
    #[prost(int64, tag = "1")]
    rejected_spans: i64,
    #[prost(string, tag = "2")]
    error_message: String,
}

impl Resource {
    pub(super) fn new(attributes: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        let attributes = attributes.into_iter();
        let attributes = attributes.map(|(name, text)| key_value(name, &Attribute::from(text)));
        Self {
            attributes: attributes.collect(),
        }
    }
}

/// The body of a request with these spans.
pub(super) fn request(resource: &Resource, spans: &[EndedSpan]) -> Vec<u8> {
    let request = ExportRequest {
        resource_spans: vec![ResourceSpans {
            resource: Some(resource.clone()),
            scope_spans: vec![ScopeSpans {
                scope: Some(InstrumentationScope {
                    name: env!("CARGO_PKG_NAME").to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                }),
                spans: spans.iter().map(span).collect(),
            }],
        }],
    };
    request.encode_to_vec()
}

/// How many spans of a request the receiver did not take, and why, by the body of its answer.
pub(super) fn rejected(body: &[u8]) -> Option<(u64, String)> {
    let partial = ExportResponse::decode(body).ok()?.partial_success?;
    let count = u64::try_from(partial.rejected_spans).unwrap_or(0);
    (count > 0).then_some((count, partial.error_message))
}

fn span(span: &EndedSpan) -> Span {
    let EndedSpan {
        context,
        parent,
        name,
        kind,
        began,
        time,
        attributes,
        failure,
    } = span;
    let began = nanos(began.duration_since(UNIX_EPOCH).unwrap_or_default());
    let attributes = attributes.iter();
    Span {
        trace_id: context.trace.to_be_bytes().to_vec(),
        span_id: context.span.to_be_bytes().to_vec(),
        parent_span_id: parent.map_or_else(Vec::new, |it| it.to_be_bytes().to_vec()),
        name: cut(name),
        kind: match kind {
            Kind::Internal => 1,
            Kind::Server => 2,
            Kind::Client => 3,
        },
        start_time_unix_nano: began,
        end_time_unix_nano: began.saturating_add(nanos(*time)),
        attributes: attributes
            .map(|(name, value)| key_value(name, value))
            .collect(),
        // 2 is an error; what did not fail is left for the reader to judge.
        status: failure.as_deref().map(|why| Status {
            message: cut(why),
            code: 2,
        }),
        flags: u32::from(context.sampled),
    }
}

fn key_value(name: &str, value: &Attribute) -> KeyValue {
    let value = match value {
        Attribute::Text(text) => Value::Text(cut(text)),
        Attribute::Number(number) => Value::Number(*number),
    };
    KeyValue {
        key: name.to_owned(),
        value: Some(AnyValue { value: Some(value) }),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
