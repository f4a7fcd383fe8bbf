//! REST, called.

use std::sync::Arc;

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Request, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};

use crate::binding::versioned_operation::VersionedOperation;
use crate::binding::{http_reply, sse};
use crate::client::channel::{Carried, Channel, Outgoing, Piece};
use crate::client::dial::Dialer;
use crate::client::{AgentEndpoint, Error};
use crate::event::Format;
use crate::operation::{Replies, Route, Verb};
use crate::v0_3;

/// What stands for itself in a path: the unreserved characters of URLs.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The wire to an agent.
pub(crate) fn channel(
    endpoint: &AgentEndpoint,
    dialer: &Arc<Dialer>,
) -> Result<Arc<dyn Channel>, Error> {
    http_reply::address(&endpoint.url)?;
    Ok(Arc::new(Rest {
        base: endpoint.url.trim_end_matches('/').to_owned(),
        dialer: dialer.clone(),
    }))
}

struct Rest {
    base: String,
    dialer: Arc<Dialer>,
}

impl Channel for Rest {
    fn format(&self) -> Format {
        Format::Json
    }

    fn call(&self, call: Outgoing) -> BoxFuture<'static, Result<Carried, Error>> {
        let request = self.request(&call);
        let (dialer, replies) = (self.dialer.clone(), call.asked.replies());
        Box::pin(async move {
            let response = dialer.send(request?).await?;
            if replies == Replies::Many && http_reply::is_stream(&response) {
                return Ok(Carried::Many(http_reply::stream(response, &dialer, piece)));
            }
            let (head, body) = response.into_parts();
            let body = dialer.read(body).await?;
            if head.status.is_success() {
                Ok(Carried::One(body))
            } else {
                Err(http_reply::refused(head.status, &head.headers, &body))
            }
        })
    }
}

impl Rest {
    fn request(&self, call: &Outgoing) -> Result<Request<Bytes>, Error> {
        let route = call
            .asked
            .route()
            .ok_or_else(|| Error::unclear("REST has no address for it"))?;
        let mut fields: Map<String, Value> = serde_json::from_slice(&call.body)
            .map_err(|error| Error::Settings(error.to_string()))?;
        let (base, path) = match call.asked {
            VersionedOperation::V1_0(_) => {
                let tenant = fields.remove("tenant");
                let tenant = tenant.as_ref().and_then(Value::as_str).unwrap_or_default();
                let tenant = match tenant {
                    "" => String::new(),
                    tenant => format!("/{}", utf8_percent_encode(tenant, PLAIN)),
                };
                (format!("{}{tenant}", self.base), path(route, &mut fields))
            }
            VersionedOperation::V0_3(..) | VersionedOperation::V0_3Lenient(_) => {
                let mut ids = v0_3::path_fields(&fields);
                let path = path(route, &mut ids);
                if route.verb != Verb::Post {
                    fields.retain(|name, _| !matches!(&**name, "name" | "parent" | "id"));
                }
                // An address that ends with the prefix has it already.
                let prefix = format!("/{}", v0_3::PREFIX);
                let base = self.base.strip_suffix(&prefix).unwrap_or(&self.base);
                (format!("{base}{prefix}"), path)
            }
        };
        let mut target = format!("{base}{path}");
        let body = if route.verb == Verb::Post {
            Bytes::from(Value::Object(fields).to_string())
        } else {
            let query = query(&fields);
            if !query.is_empty() {
                target = format!("{target}?{query}");
            }
            Bytes::new()
        };
        let target: Uri = target
            .parse()
            .map_err(|_| Error::Settings(format!("invalid address {target:?}")))?;
        let accept = match call.asked.replies() {
            Replies::One => "application/json",
            Replies::Many => "text/event-stream, application/json",
        };
        let mut request = Request::builder()
            .method(route.verb.as_str())
            .uri(target)
            .header(ACCEPT, accept);
        if route.verb == Verb::Post {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        for (name, value) in &call.parameters {
            request = request.header(name, value);
        }
        request
            .body(body)
            .map_err(|error| Error::Settings(error.to_string()))
    }
}

/// The path, with the fields that it holds taken out of the request.
fn path(route: &Route, fields: &mut Map<String, Value>) -> String {
    let mut path = String::new();
    let mut rest = route.path;
    while let Some((literal, behind)) = rest.split_once('{') {
        let (field, behind) = behind.split_once('}').unwrap_or((behind, ""));
        path.push_str(literal);
        let value = fields.remove(&json_name(field));
        let value = value.as_ref().and_then(Value::as_str).unwrap_or_default();
        path.extend(utf8_percent_encode(value, PLAIN));
        rest = behind;
    }
    path.push_str(rest);
    // A slash at the end counts for nothing, so that an empty id, which is for the agent to refuse, needs one more.
    if path.ends_with('/') {
        path.push('/');
    }
    path
}

/// The name in JSON of a field that a path names as protobuf does.
fn json_name(field: &str) -> String {
    let mut words = field.split('_');
    let mut name = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (first, rest) = word.split_at(word.len().min(1));
        name.push_str(&first.to_ascii_uppercase());
        name.push_str(rest);
    }
    name
}

/// The rest of a request, as a query.
fn query(fields: &Map<String, Value>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields {
        match value {
            Value::String(text) => _ = query.append_pair(name, text),
            Value::Null => {}
            other => _ = query.append_pair(name, &other.to_string()),
        }
    }
    query.finish()
}

/// An event of a stream: a reply, or the error that ends it.
fn piece(event: sse::Event) -> Result<Option<Piece>, Error> {
    let cursor = sse::cursor(&event);
    let body = Bytes::from(event.data);
    let failed = event.name == "error"
        || serde_json::from_slice::<Map<String, Value>>(&body)
            .is_ok_and(|object| object.contains_key("error"));
    if failed {
        let status = serde_json::from_slice::<Value>(&body).unwrap_or_default();
        let status = status["error"]["code"].as_u64().unwrap_or(500);
        let status = u16::try_from(status).unwrap_or(500);
        let status = http::StatusCode::from_u16(status);
        let status = status.unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
        return Err(http_reply::refused(status, &http::HeaderMap::new(), &body));
    }
    Ok(Some(Piece { cursor, body }))
}
