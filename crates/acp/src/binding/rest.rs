//! REST: a path and a verb for each operation.

use std::sync::Arc;

use a2a::binding::{beside, challenge, read_body, sse, turn_away};
use a2a::operation::{Fields, Frame, RouteMatch, find_among};
use a2a::service::Call;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::routing::any;
use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::{ALLOW, CONTENT_TYPE, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::PATH;
use crate::error::Error;
use crate::operation::{Operation, Reply, TABLE};
use crate::server::AcpServer;
use crate::types::{Event, Problem};

/// The header with the id of the run.
const RUN_ID: HeaderName = HeaderName::from_static("run-id");

/// Takes every path below the base, so that unknown paths are refused in the form of ACP too.
pub(super) fn routes(server: Arc<AcpServer>) -> Router {
    let handler = any(answer).with_state(server);
    Router::new()
        .route(PATH, handler.clone())
        // `{*path}` does not match an empty rest.
        .route("/acp/", handler.clone())
        .route("/acp/{*path}", handler)
}

async fn answer(State(server): State<Arc<AcpServer>>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let alive = server.wire.limits.keep_alive;
    let (run, mut response) = match perform(server, &head, body).await {
        Ok(Reply::One(answer)) => {
            let mut response = json(answer.body);
            if answer.accepted {
                *response.status_mut() = StatusCode::ACCEPTED;
            }
            (answer.run, response)
        }
        Ok(Reply::Many(run, events)) => {
            let frames = events.map(|portion| {
                let frame = |event: &Event| Frame::translated(None, written(event));
                portion.map(|events| events.iter().map(frame).collect())
            });
            (
                Some(run),
                sse::response(Box::pin(frames), EventWriter, alive),
            )
        }
        Err(refused) => return refused.response(),
    };
    if let Some(run) = run.and_then(|run| HeaderValue::try_from(run).ok()) {
        response.headers_mut().insert(RUN_ID, run);
    }
    response
}

async fn perform(server: Arc<AcpServer>, head: &Parts, body: Body) -> Result<Reply, Refused> {
    let (mut call, (operation, named)) = match admit(&server, head) {
        Ok(admitted) => admitted,
        Err(refused) => {
            turn_away(body, &server.wire.limits).await;
            return Err(refused);
        }
    };
    let mut fields = if head.method == Method::POST {
        // Clients of ACP send no `Content-Type`; the body is always JSON.
        let body = read_body(body, &server.wire.limits).await;
        let body = body.map_err(Error::from)?;
        call.origin = call.origin.with_bytes(body.len());
        beside(body.len(), || read(&body)).await?
    } else {
        let query = head.uri.query().unwrap_or_default();
        let query = form_urlencoded::parse(query.as_bytes());
        let text = |text: std::borrow::Cow<'_, str>| Value::String(text.into_owned());
        query
            // An API key in the query is a credential, not a field of the request.
            .filter(|(name, _)| !server.wire.door.takes_parameter(name))
            .map(|(name, value)| (name.into_owned(), text(value)))
            .collect()
    };
    // The path counts; a different id in the body is an error.
    for (name, value) in named {
        let value = Value::String(value);
        match fields.get(&name) {
            None | Some(Value::Null) => {}
            Some(given) if *given == value => {}
            Some(_) => return Err(Error::invalid(name, "differs from the one in the path").into()),
        }
        fields.insert(name, value);
    }
    Ok(operation.perform(server, call, fields).await?)
}

/// The caller and the operation, known before the body is read.
fn admit(
    server: &AcpServer,
    head: &Parts,
) -> Result<(Call, (&'static Operation, Fields)), Refused> {
    let call = server.wire.call(head).map_err(Error::from)?;
    Ok((call, find(head)?))
}

fn find(head: &Parts) -> Result<(&'static Operation, Fields), Refused> {
    let (verb, path) = (head.method.as_str(), head.uri.path());
    let below = path.strip_prefix(PATH).unwrap_or(path);
    let decode = |segment| percent_decode_str(segment).decode_utf8().ok();
    let segments = below.split('/').skip(1);
    let segments: Option<Vec<String>> = segments
        .map(|segment| decode(segment).map(|segment| segment.into_owned()))
        .collect();
    let segments = segments.ok_or_else(|| Error::Malformed("the path is not UTF-8".to_owned()))?;
    let rows = TABLE.iter().map(|operation| (operation, operation.routes));
    match find_among(&rows, verb, &segments) {
        RouteMatch::Operation(operation, fields) => Ok((operation, fields)),
        RouteMatch::OtherVerbs(allowed) => Err(Refused {
            error: a2a::Error::VerbNotAllowed {
                verb: verb.to_owned(),
                allowed: allowed.join(", "),
            }
            .into(),
            allow: HeaderValue::try_from(allowed.join(", ")).ok(),
        }),
        RouteMatch::Nothing => Err(Error::missing("path", path).into()),
    }
}

/// The fields of a body; one that is empty has none.
fn read(body: &Bytes) -> Result<Map<String, Value>, Error> {
    if body.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(Error::invalid("request", "is not a JSON object")),
        Err(error) => Err(Error::Malformed(format!("the body is not JSON: {error}"))),
    }
}

/// The response to a call that failed.
pub(super) fn refused(error: Error) -> Response<Body> {
    Refused::from(error).response()
}

/// The response to a request that was refused before it reached a route.
pub(super) fn turned_away(status: StatusCode, why: &str) -> Response<Body> {
    problem(status, &Problem::of(status, why))
}

/// An error on its way to becoming a response.
struct Refused {
    error: Error,
    /// The value of the `Allow` header, for a verb that the path does not support.
    allow: Option<HeaderValue>,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self { error, allow: None }
    }
}

impl Refused {
    fn response(self) -> Response<Body> {
        let mut response = problem(self.error.status(), &self.error.problem());
        if let Error::Agent(error) = &self.error {
            challenge(error, response.headers_mut());
        }
        if let Some(allow) = self.allow {
            response.headers_mut().insert(ALLOW, allow);
        }
        response
    }
}

fn problem(status: StatusCode, problem: &Problem) -> Response<Body> {
    let body = serde_json::to_vec(problem);
    let mut response = json(body.expect("errors are always written").into());
    *response.status_mut() = status;
    response
}

fn json(body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    let media_type = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

fn written(event: &Event) -> Bytes {
    let written = serde_json::to_vec(event);
    written.expect("events are always written").into()
}

/// Writes events of ACP into an event stream. An error that ends the stream is an event too.
struct EventWriter;

impl sse::Write for EventWriter {
    fn reply(&self, out: &mut Vec<u8>, reply: &Bytes) {
        out.extend_from_slice(reply);
    }

    fn error(&self, out: &mut Vec<u8>, error: &a2a::Error) {
        let error = Error::from(error.clone()).problem();
        out.extend_from_slice(&written(&Event::Error { error }));
    }
}
