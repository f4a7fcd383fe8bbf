//! One interface to both bindings: the same call over each, and replies in a form that can be compared.

use std::collections::HashMap;

use a2a::binding::capnweb::value::{from_json, to_json};
use acp::operation::{self, TABLE};
use axum::http::Method;
use capnweb::transport::websocket;
use capnweb::{Any, Capability, Connection, Options, ReadableStream, Value as Rpc};
use futures_util::StreamExt as _;
use serde_json::{Map, Value, json};

use crate::support::Bench;

/// A binding to call a server over.
pub(crate) enum Wire {
    Rest,
    Capnweb(Connection),
}

impl Wire {
    pub(crate) async fn capnweb(bench: &Bench) -> Self {
        let url = format!("ws://{}{}", bench.authority, acp::CAPNWEB_PATH);
        let options = Options::default();
        let opened = websocket::connect(&url, Capability::nothing(), &options);
        Self::Capnweb(opened.await.unwrap())
    }

    /// The main object of the session.
    pub(crate) fn agents(&self) -> Capability {
        match self {
            Self::Capnweb(session) => session.remote::<Any>().into(),
            Self::Rest => panic!("REST has no objects"),
        }
    }

    /// Calls an operation and returns an object with `reply`, `events` or `error`.
    pub(crate) async fn call(&self, bench: &Bench, name: &str, request: Value) -> Value {
        match self {
            Self::Rest => rest(bench, name, request).await,
            Self::Capnweb(_) => {
                let reply = self.agents().call(name, (from_json(request),)).await;
                match reply {
                    Ok(Rpc::Readable(stream)) => json!({ "events": collect(stream).await }),
                    Ok(reply) => json!({ "reply": to_json(reply, "").unwrap() }),
                    Err(error) => json!({ "error": failed(&error) }),
                }
            }
        }
    }
}

pub(crate) async fn collect(stream: ReadableStream) -> Vec<Value> {
    let values = stream.map(|value| to_json(value.unwrap(), "").unwrap());
    values.collect().await
}

/// An error of Cap'n Web in the common form.
pub(crate) fn failed(error: &capnweb::Error) -> Value {
    let prop = |name: &str| error.prop(name).cloned().unwrap_or(Rpc::Undefined);
    let json = |value: Rpc| to_json(value, "").unwrap();
    json!({
        "code": json(prop("code")), "message": error.message(),
        "status": json(prop("status")), "data": json(prop("data")),
    })
}

async fn rest(bench: &Bench, name: &str, request: Value) -> Value {
    let operation = TABLE.iter().find(|row| row.name == name).unwrap();
    let route = operation.routes[0];
    let Value::Object(mut fields) = request else {
        panic!("a request is an object");
    };
    let segments = route.path.split('/').map(|segment| {
        let field = segment.strip_prefix('{').map(|it| it.trim_end_matches('}'));
        match field {
            Some(field) => fields.remove(field).unwrap().as_str().unwrap().to_owned(),
            None => segment.to_owned(),
        }
    });
    let path: Vec<String> = segments.collect();
    let mut path = format!("/acp{}", path.join("/"));
    let heard = if route.verb == a2a::operation::Verb::Post {
        let body = Value::Object(fields).to_string();
        bench.send(Method::POST, &path, body).await
    } else {
        for (at, (name, value)) in fields.iter().enumerate() {
            let before = if at == 0 { '?' } else { '&' };
            path += &format!("{before}{name}={value}");
        }
        bench.send(Method::GET, &path, "").await
    };
    if !heard.status.is_success() {
        let mut error = heard.json();
        error["status"] = json!(heard.status.as_u16());
        error["data"] = error["data"].take();
        json!({ "error": error })
    } else if heard.headers["content-type"] == "text/event-stream" {
        json!({ "events": heard.events() })
    } else {
        json!({ "reply": heard.json() })
    }
}

/// Replaces what differs between two servers: ids become numbers in order of appearance, times become a fixed word, and
/// addresses are removed.
#[derive(Default)]
pub(crate) struct Plain {
    ids: HashMap<String, usize>,
}

impl Plain {
    pub(crate) fn of(&mut self, bench: &Bench, value: Value) -> Value {
        match value {
            Value::Object(members) => {
                let members = members.into_iter().map(|(name, member)| {
                    let member = match (&*name, &member) {
                        ("created_at" | "finished_at" | "completed_at", Value::String(_)) => {
                            json!("some time")
                        }
                        _ => self.of(bench, member),
                    };
                    (name, member)
                });
                Value::Object(members.collect::<Map<_, _>>())
            }
            Value::Array(items) => {
                let items = items.into_iter().map(|item| self.of(bench, item));
                Value::Array(items.collect())
            }
            Value::String(text) => self.text(&text.replace(&bench.authority, "here")).into(),
            Value::Number(number) => json!(number.as_f64()),
            other => other,
        }
    }

    fn text(&mut self, text: &str) -> String {
        let length = uuid::fmt::Hyphenated::LENGTH;
        let mut plain = String::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            match rest
                .get(..length)
                .filter(|it| uuid::Uuid::try_parse(it).is_ok())
            {
                Some(id) => {
                    let next = self.ids.len();
                    let number = *self.ids.entry(id.to_owned()).or_insert(next);
                    plain += &format!("<{number}>");
                    rest = &rest[length..];
                }
                None => {
                    plain.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        plain
    }
}

#[test]
fn an_operation_is_listed_once() {
    let mut names: Vec<_> = TABLE.iter().map(|row| row.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), TABLE.len());
    assert!(operation::named("ping").is_some());
    assert!(operation::named("Ping").is_none());
}

/// Each binding serves every row of the table.
#[test]
fn no_wire_names_an_operation() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/binding");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for row in TABLE {
            let quoted = format!("\"{}\"", row.name);
            assert!(!text.contains(&quoted), "{} names {quoted}", path.display());
            for route in row.routes {
                let quoted = format!("\"{}\"", route.path);
                assert!(!text.contains(&quoted), "{} names {quoted}", path.display());
            }
        }
    }
}
