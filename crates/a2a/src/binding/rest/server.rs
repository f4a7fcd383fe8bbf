//! REST, served.

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::any;
use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::json;

use crate::binding::http_call::{self, EXTENSIONS_HEADER, Unversioned};
use crate::binding::{Wire, sse};
use crate::error::Error;
use crate::event::Format;
use crate::operation::{self, Fields, Found, Input, Operation, Reply};

const BASE: &str = "/a2a/rest";

/// The protocol's own media type, and the one everybody knows.
const A2A_JSON: &str = "application/a2a+json";
const JSON: &str = "application/json";

/// Everything below the base.
pub fn routes(wire: Wire) -> Router {
    let handler = any(answer).with_state(wire);
    Router::new()
        .route(BASE, handler.clone())
        .route("/a2a/rest/{*path}", handler)
}

async fn answer(State(wire): State<Wire>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let media_type = reply_type(&head.headers);
    match perform(&wire, &head, body).await {
        Ok((Reply::One(reply), extensions)) => {
            let mut response = Response::new(Body::from(reply));
            response
                .headers_mut()
                .insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
            extend(response, extensions)
        }
        Ok((Reply::Many(frames), extensions)) => extend(
            sse::response(frames, Bare, wire.limits.keep_alive),
            extensions,
        ),
        Err(error) => refuse(&error, media_type),
    }
}

async fn perform(
    wire: &Wire,
    head: &Parts,
    body: Body,
) -> Result<(Reply, Option<HeaderValue>), Error> {
    let (operation, mut fields) = find(head)?;
    let call = http_call::call(wire, head, Unversioned::Old)?;
    let extensions = http_call::activated(&call, wire.service.card());
    let mut input = Input {
        format: Format::Json,
        body: Bytes::new(),
        fields: Vec::new(),
    };
    if head.method == Method::POST {
        input.body = read(wire, head, body).await?;
    } else {
        let query = head.uri.query().unwrap_or_default();
        input
            .fields
            .extend(form_urlencoded::parse(query.as_bytes()).into_owned());
    }
    // The path says what the call is about: it has the last word.
    input.fields.append(&mut fields);
    let reply = operation.perform(&*wire.service, call, input).await?;
    Ok((reply, extensions))
}

fn find(head: &Parts) -> Result<(&'static Operation, Fields), Error> {
    let path = head.uri.path();
    let below = path.strip_prefix(BASE).unwrap_or(path);
    let segments: Result<Vec<String>, _> = below
        .split('/')
        .skip(1)
        .map(|segment| {
            percent_decode_str(segment)
                .decode_utf8()
                .map(|segment| segment.into_owned())
        })
        .collect();
    let segments =
        segments.map_err(|_| Error::InvalidRequest("the path is not UTF-8".to_owned()))?;
    match operation::find(head.method.as_str(), &segments) {
        Found::Operation(operation, fields) => Ok((operation, fields)),
        Found::OtherVerbs(allowed) => Err(Error::VerbNotAllowed {
            verb: head.method.to_string(),
            allowed: allowed.join(", "),
        }),
        Found::Nothing => Err(Error::MethodNotFound(format!("{} {path}", head.method))),
    }
}

async fn read(wire: &Wire, head: &Parts, body: Body) -> Result<Bytes, Error> {
    let media_type = http_call::media_type(&head.headers);
    let body = match &*media_type {
        JSON | A2A_JSON => http_call::read(body, &wire.limits).await?,
        // Without a body there is nothing to have a type.
        "" => {
            let body = http_call::read(body, &wire.limits).await?;
            if !body.is_empty() {
                return Err(Error::MediaTypeNotSupported(media_type));
            }
            body
        }
        _ => return Err(Error::MediaTypeNotSupported(media_type)),
    };
    match serde_json::from_slice::<serde::de::IgnoredAny>(&body) {
        Err(error) if !body.is_empty() => Err(Error::Parse(error.to_string())),
        _ => Ok(body),
    }
}

/// Replies are written as requests are: who sends `application/json` gets it.
fn reply_type(headers: &HeaderMap) -> &'static str {
    match &*http_call::media_type(headers) {
        JSON => return JSON,
        A2A_JSON => return A2A_JSON,
        _ => {}
    }
    let accepted = headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if accepted.contains(JSON) && !accepted.contains(A2A_JSON) {
        JSON
    } else {
        A2A_JSON
    }
}

fn extend(mut response: Response<Body>, extensions: Option<HeaderValue>) -> Response<Body> {
    if let Some(extensions) = extensions {
        response.headers_mut().insert(EXTENSIONS_HEADER, extensions);
    }
    response
}

fn refuse(error: &Error, media_type: &'static str) -> Response<Body> {
    let mut response = Response::new(Body::from(describe(error)));
    *response.status_mut() =
        StatusCode::from_u16(error.code().http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    if let Error::VerbNotAllowed { allowed, .. } = error
        && let Ok(allowed) = HeaderValue::from_str(allowed)
    {
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

fn describe(error: &Error) -> String {
    let code = error.code();
    json!({
        "error": {
            "code": code.http,
            "status": code.status,
            "message": error.to_string(),
            "details": error.details(),
        }
    })
    .to_string()
}

/// Every event of a stream is the reply itself.
struct Bare;

impl sse::Write for Bare {
    fn reply(&self, out: &mut Vec<u8>, reply: &Bytes) {
        out.extend_from_slice(reply);
    }

    fn error(&self, out: &mut Vec<u8>, error: &Error) {
        out.extend_from_slice(describe(error).as_bytes());
    }
}
