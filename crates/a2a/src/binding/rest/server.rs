//! REST, served.

use access::Principal;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::any;
use bytes::Bytes;
use http::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, Request, Response};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use crate::binding::versioned_operation::VersionedOperation;
use crate::binding::{Wire, http_call, sse};
use crate::error::Error;
use crate::event::Format;
use crate::operation::{self, Fields, Input, Reply, RouteMatch, beside};
use crate::v0_3::{self, Dialect};

const BASE: &str = "/a2a/rest";

/// The protocol's own media type, and plain JSON.
const A2A_JSON: &str = "application/a2a+json";
const JSON: &str = "application/json";

/// Everything below the base.
pub fn routes(wire: Wire) -> Router {
    let handler = any(answer).with_state(wire);
    Router::new()
        .route(BASE, handler.clone())
        // The last one is for paths with something in them.
        .route("/a2a/rest/", handler.clone())
        .route("/a2a/rest/{*path}", handler)
}

async fn answer(State(wire): State<Wire>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let form = Form::of(&head);
    let caller = match wire.admit(&head) {
        Ok(caller) => caller,
        Err(error) => {
            http_call::turn_away(body, &wire.limits).await;
            return refuse(&error, form);
        }
    };
    let (reply, extensions) = match perform(&wire, &caller, &head, body, form).await {
        Ok(performed) => performed,
        Err(error) => return refuse(&error, form),
    };
    let mut response = match reply {
        Reply::One(reply) => written(reply, form),
        Reply::Many(frames) => sse::response(frames, form, wire.limits.keep_alive),
    };
    if let Some((name, extensions)) = extensions {
        response.headers_mut().insert(name, extensions);
    }
    response
}

type Performed = (Reply, Option<(HeaderName, HeaderValue)>);

async fn perform(
    wire: &Wire,
    caller: &Principal,
    head: &Parts,
    body: Body,
    form: Form,
) -> Result<Performed, Error> {
    let (mut asked, mut fields) = find(head, form)?;
    let call = http_call::call(wire.name, caller, head, asked.versioned())?;
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
        let fields = form_urlencoded::parse(query.as_bytes()).into_owned();
        // A key that is shown here is not part of the request.
        let fields = fields.filter(|(name, _)| !wire.door.takes_parameter(name));
        input.fields.extend(fields);
    }
    // The path says what the call is about: it has the last word.
    input.fields.append(&mut fields);
    if let VersionedOperation::V0_3(_, dialect) = &mut asked {
        *dialect = beside(input.body.len(), || Dialect::of(&input)).await;
    }
    let reply = asked.perform(wire, call, input).await?;
    let header = asked.versioned().extensions_header();
    Ok((reply, extensions.map(|extensions| (header, extensions))))
}

fn find(head: &Parts, form: Form) -> Result<(VersionedOperation, Fields), Error> {
    let (verb, path) = (head.method.as_str(), head.uri.path());
    let segments =
        segments(head).ok_or_else(|| Error::InvalidRequest("the path is not UTF-8".to_owned()))?;
    let found = match form {
        Form::V1_0(_) => operation::find(verb, &segments).map(VersionedOperation::V1_0),
        // Which dialect it is shows in the body.
        Form::V0_3 => {
            v0_3::at(verb, &segments).map(|row| VersionedOperation::V0_3(row, Dialect::Proto))
        }
    };
    match found {
        RouteMatch::Operation(asked, fields) => Ok((asked, fields)),
        RouteMatch::OtherVerbs(allowed) => Err(Error::VerbNotAllowed {
            verb: verb.to_owned(),
            allowed: allowed.join(", "),
        }),
        RouteMatch::Nothing => Err(Error::MethodNotFound(format!("{verb} {path}"))),
    }
}

/// The path below the base.
fn below(head: &Parts) -> &str {
    let path = head.uri.path();
    path.strip_prefix(BASE).unwrap_or(path)
}

/// Its segments, percent-decoded; nothing when they are no text.
fn segments(head: &Parts) -> Option<Vec<String>> {
    let decode = |segment| percent_decode_str(segment).decode_utf8().ok();
    let segments = below(head).split('/').skip(1);
    segments
        .map(|segment| decode(segment).map(|segment| segment.into_owned()))
        .collect()
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
    let parse = || serde_json::from_slice::<serde::de::IgnoredAny>(&body);
    match beside(body.len(), parse).await {
        Err(error) if !body.is_empty() => Err(Error::Parse(error.to_string())),
        _ => Ok(body),
    }
}

/// The media type of replies and errors: the protocol's own for callers that write or accept it, and plain JSON, which every
/// client reads, for all others.
fn reply_type(headers: &HeaderMap) -> &'static str {
    let mut accepted = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|list| list.split(','))
        .map(|kind| kind.split(';').next().unwrap_or_default().trim());
    let sent = http_call::media_type(headers);
    if sent == A2A_JSON || accepted.any(|kind| kind.eq_ignore_ascii_case(A2A_JSON)) {
        A2A_JSON
    } else {
        JSON
    }
}

/// How replies are written.
#[derive(Clone, Copy)]
enum Form {
    /// As 1.0 has them, under this media type.
    V1_0(&'static str),
    /// As 0.3 has them.
    V0_3,
}

impl Form {
    /// A path of 0.3 is known by how it begins. Who names 1.0 has a tenant of that name.
    fn of(head: &Parts) -> Self {
        let version = http_call::version(head);
        let version = version.trim();
        let first = below(head).split('/').nth(1);
        if first == Some(v0_3::PREFIX) && (version.is_empty() || is_v0_3(version)) {
            Self::V0_3
        } else {
            Self::V1_0(reply_type(&head.headers))
        }
    }

    fn media_type(self) -> &'static str {
        match self {
            Self::V1_0(media_type) => media_type,
            // It has no media type of its own.
            Self::V0_3 => JSON,
        }
    }

    fn describe(self, error: &Error) -> Value {
        match self {
            Self::V1_0(_) => http_call::described(error),
            Self::V0_3 => json!({
                "code": error.code().json_rpc,
                "message": error.to_string(),
                "data": error.details(),
            }),
        }
    }
}

fn is_v0_3(version: &str) -> bool {
    let rest = version.strip_prefix(v0_3::VERSION);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn written(body: impl Into<Body>, form: Form) -> Response<Body> {
    let mut response = Response::new(body.into());
    let media_type = HeaderValue::from_static(form.media_type());
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

fn refuse(error: &Error, form: Form) -> Response<Body> {
    let mut response = written(form.describe(error).to_string(), form);
    *response.status_mut() = http_call::status(error);
    http_call::challenge(error, response.headers_mut());
    if let Error::VerbNotAllowed { allowed, .. } = error
        && let Ok(allowed) = HeaderValue::from_str(allowed)
    {
        response.headers_mut().insert(ALLOW, allowed);
    }
    response
}

/// Every event of a stream is the reply itself.
impl sse::Write for Form {
    fn reply(&self, out: &mut Vec<u8>, reply: &Bytes) {
        out.extend_from_slice(reply);
    }

    fn error(&self, out: &mut Vec<u8>, error: &Error) {
        out.extend_from_slice(self.describe(error).to_string().as_bytes());
        if matches!(self, Self::V0_3) {
            // Its clients know an error by the name of the event.
            out.extend_from_slice(b"\nevent: error");
        }
    }
}
