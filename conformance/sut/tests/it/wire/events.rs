//! The events of a stream as they arrive: server-sent events, or frames of gRPC.

use a2a::types::{StreamResponse, WireMessage};
use axum::body::Bytes;
use axum::http::{HeaderMap, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

use super::caller::{Binding, Failure, grpc_status, json_rpc_result, rest_failure};

/// What happened to a task, and the number it bears.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    /// The cursor: `id:` of a server-sent event; over gRPC the generation in the message.
    pub(crate) id: Option<u64>,
    pub(crate) body: Value,
}

/// The next thing that a stream gave.
#[derive(Debug)]
pub(crate) enum Next {
    Event(Event),
    /// The server has said all.
    End,
    /// The server has ended the stream with an error.
    Failed(Failure),
    Lost,
}

/// An open stream. Dropping it together with its caller cuts the connection.
#[derive(Debug)]
pub(crate) struct Events {
    binding: Binding,
    headers: HeaderMap,
    body: Incoming,
    buffer: Vec<u8>,
    trailers: Option<HeaderMap>,
}

impl Events {
    pub(super) fn new(binding: Binding, response: Response<Incoming>) -> Self {
        let (head, body) = response.into_parts();
        Self {
            binding,
            headers: head.headers,
            body,
            buffer: Vec::new(),
            trailers: None,
        }
    }

    pub(crate) async fn next(&mut self) -> Next {
        loop {
            let found = match self.binding {
                Binding::Grpc => self.take_frame(),
                Binding::JsonRpc | Binding::Rest => self.take_sse(),
            };
            if let Some(next) = found {
                return next;
            }
            match self.body.frame().await {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.buffer.extend_from_slice(&data),
                    Err(frame) => self.trailers = frame.into_trailers().ok(),
                },
                Some(Err(_)) => return Next::Lost,
                None => return self.end(),
            }
        }
    }

    /// The next event of a stream that must have one.
    pub(crate) async fn event(&mut self) -> Event {
        match self.next().await {
            Next::Event(event) => event,
            other => panic!("expected an event, got {other:?}"),
        }
    }

    /// All events up to the end, which must be a good one.
    pub(crate) async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        loop {
            match self.next().await {
                Next::Event(event) => events.push(event),
                Next::End => return events,
                other => panic!("expected the end, got {other:?} after {events:?}"),
            }
        }
    }

    fn end(&mut self) -> Next {
        assert!(self.buffer.is_empty(), "half an event: {:?}", self.buffer);
        if self.binding != Binding::Grpc {
            return Next::End;
        }
        let trailers = self.trailers.take().unwrap_or_default();
        match grpc_status(&self.headers, &trailers) {
            Ok(()) => Next::End,
            Err(failure) => Next::Failed(failure),
        }
    }

    fn take_frame(&mut self) -> Option<Next> {
        let length = self.buffer.get(1..5)?;
        let length = u32::from_be_bytes(length.try_into().unwrap()) as usize;
        if self.buffer.len() < 5 + length {
            return None;
        }
        let rest = self.buffer.split_off(5 + length);
        let frame = std::mem::replace(&mut self.buffer, rest);
        let message = StreamResponse::from_protobuf(Bytes::from(frame).slice(5..)).unwrap();
        let body = serde_json::to_value(message).unwrap();
        Some(Next::Event(Event {
            id: generation(&body),
            body,
        }))
    }

    fn take_sse(&mut self) -> Option<Next> {
        loop {
            let end = self.buffer.windows(2).position(|two| two == b"\n\n")?;
            let rest = self.buffer.split_off(end + 2);
            let block = std::mem::replace(&mut self.buffer, rest);
            if let Some(next) = self.read_sse(std::str::from_utf8(&block).unwrap()) {
                return Some(next);
            }
        }
    }

    /// One block of lines; nothing if all of them are comments.
    fn read_sse(&self, block: &str) -> Option<Next> {
        let field = |name: &str| {
            let value = block
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            value.map(|value| value.strip_prefix(' ').unwrap_or(value))
        };
        let data: Value = serde_json::from_str(field("data")?).unwrap();
        let id = field("id").map(|id| id.parse().unwrap());
        let body = match self.binding {
            Binding::JsonRpc => json_rpc_result(&data),
            _ if data.get("error").is_some() => Err(rest_failure(&data)),
            _ => Ok(data),
        };
        Some(match body {
            Ok(body) => {
                // Those who did not ask for generations get the id alone.
                if let Some(shown) = generation(&body) {
                    assert_eq!(id, Some(shown), "the id of an event is its generation");
                }
                Next::Event(Event { id, body })
            }
            Err(failure) => Next::Failed(failure),
        })
    }
}

/// The generation that an event bears; a message has none.
pub(crate) fn generation(event: &Value) -> Option<u64> {
    let inner = event.as_object()?.values().next()?;
    inner.get("generation")?.as_str()?.parse().ok()
}

/// The state that an event tells of.
pub(crate) fn state(event: &Value) -> Option<&str> {
    ["task", "statusUpdate"]
        .iter()
        .find_map(|kind| event.get(kind)?["status"]["state"].as_str())
}
