//! JSON-RPC, served.

use access::{Origin, UnreadCall};
use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::State;
use axum::routing::post;
use bytes::Bytes;
use futures_util::stream;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response};
use serde_json::json;

use super::envelope::{Envelope, Id};
use super::metadata;
use crate::binding::versioned_operation::VersionedOperation;
use crate::binding::{Wire, http_call, sse};
use crate::error::Error;
use crate::event::Format;
use crate::operation::{Input, Reply, beside};

/// At the address of the card, and at the root, where samples and test kits of the protocol look for it.
pub fn routes(wire: Wire) -> Router {
    Router::new()
        .route("/a2a/jsonrpc", post(answer).fallback(refuse_verb))
        .route("/", post(answer))
        .with_state(wire)
}

async fn answer(State(wire): State<Wire>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    // Who is not let in is not read.
    let caller = match wire.admit(&head) {
        Ok(caller) => caller,
        Err(error) => {
            http_call::turn_away(body, &wire.limits).await;
            return refuse(&Id::null(), &error);
        }
    };
    let mut unread = match wire.calls.admit(&caller, Origin::of(wire.name, &head)) {
        Ok(unread) => unread,
        Err(limit) => {
            let id = id_of_refused(&wire, body).await;
            return refuse(&id, &limit.into());
        }
    };
    let fails = |unread: UnreadCall, id: &Id, error: &Error| {
        unread.end(error.outcome());
        refuse(id, error)
    };
    let envelope = match read(&wire, &head, body, &mut unread).await {
        Ok(envelope) => envelope,
        Err((id, error)) => return fails(unread, &id, &error),
    };
    let Envelope { id, method, params } = envelope;
    let params = match beside(params.len(), || metadata::placed(params)).await {
        Ok(params) => params,
        Err(error) => return fails(unread, &id, &error),
    };
    let Some(asked) = VersionedOperation::named(&method) else {
        return fails(unread, &id, &Error::MethodNotFound(method));
    };
    let call = match http_call::call(wire.name, &caller, &head, asked.versioned()) {
        Ok(call) => call,
        Err(error) => return fails(unread, &id, &error),
    };
    let extensions = http_call::activated(&call, wire.service.card());
    let input = Input {
        format: Format::Json,
        body: params,
        fields: Vec::new(),
    };
    let mut response = match asked.perform_read(&wire, unread, call, input).await {
        Ok(Reply::One(result)) => reply(result_of(&id, &result)),
        Ok(Reply::Many(frames)) => sse::response(frames, Under(id), wire.limits.keep_alive),
        Err(error) if asked.fails_in_stream() => {
            let failed = Box::pin(stream::iter([Err(error)]));
            sse::response(failed, Under(id), wire.limits.keep_alive)
        }
        Err(error) => refuse(&id, &error),
    };
    if let Some(extensions) = extensions {
        let header = asked.versioned().extensions_header();
        response.headers_mut().insert(header, extensions);
    }
    response
}

/// Requests come by POST alone.
async fn refuse_verb(method: Method) -> Response<Body> {
    let error = Error::VerbNotAllowed {
        verb: method.to_string(),
        allowed: "POST".to_owned(),
    };
    let mut response = refuse(&Id::null(), &error);
    let allowed = HeaderValue::from_static("POST");
    response.headers_mut().insert(ALLOW, allowed);
    response
}

/// The id under which a refusal is sent that came before the request was read. It is looked for in small requests alone.
async fn id_of_refused(wire: &Wire, body: Body) -> Id {
    if body.size_hint().upper().is_none_or(|most| most > SMALL) {
        http_call::turn_away(body, &wire.limits).await;
        return Id::null();
    }
    match http_call::read(body, &wire.limits).await {
        Ok(body) => id_in(&body),
        Err(_) => Id::null(),
    }
}

/// The longest request, in bytes, that is read only to find its id.
pub(in crate::binding) const SMALL: u64 = 16 << 10;

/// The id of a request, or null.
pub(in crate::binding) fn id_in(request: &Bytes) -> Id {
    match Envelope::read(request) {
        Ok(envelope) => envelope.id,
        Err((id, _)) => id,
    }
}

/// Reads a request that was charged to its caller. A body without a length is charged when it is there, before it is parsed.
async fn read(
    wire: &Wire,
    head: &http::request::Parts,
    body: Body,
    unread: &mut UnreadCall,
) -> Result<Envelope, (Id, Error)> {
    let media_type = http_call::media_type(&head.headers);
    if media_type != "application/json" {
        return Err((Id::null(), Error::MediaTypeNotSupported(media_type)));
    }
    let body = http_call::read(body, &wire.limits)
        .await
        .map_err(|error| (Id::null(), error))?;
    unread
        .hold(body.len() as u64)
        .map_err(|exceeded| (Id::null(), exceeded.into()))?;
    beside(body.len(), || Envelope::read(&body)).await
}

fn result_of(id: &Id, result: &Bytes) -> Vec<u8> {
    let mut out = Vec::with_capacity(result.len() + id.as_bytes().len() + 40);
    write_result(&mut out, id, result);
    out
}

pub(in crate::binding) fn write_result(out: &mut Vec<u8>, id: &Id, result: &Bytes) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","result":"#);
    out.extend_from_slice(result);
    out.push(b'}');
}

pub(in crate::binding) fn write_error(out: &mut Vec<u8>, id: &Id, error: &Error) {
    let error = json!({
        "code": error.code().json_rpc,
        "message": error.to_string(),
        "data": error.details(),
    });
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    out.extend_from_slice(id.as_bytes());
    out.extend_from_slice(br#","error":"#);
    out.extend_from_slice(error.to_string().as_bytes());
    out.push(b'}');
}

fn reply(body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// An error travels with status 200, unless HTTP itself could not take the request.
fn refuse(id: &Id, error: &Error) -> Response<Body> {
    let mut out = Vec::new();
    write_error(&mut out, id, error);
    let mut response = reply(out);
    if matches!(
        error,
        Error::MediaTypeNotSupported(_)
            | Error::VerbNotAllowed { .. }
            | Error::TooLarge { .. }
            | Error::TooManyValues(_)
            | Error::TooSlow
            | Error::RateLimited(_)
            | Error::Unauthenticated(_)
            | Error::Unauthorized(_)
    ) {
        *response.status_mut() = http_call::status(error);
        http_call::challenge(error, response.headers_mut());
    }
    response
}

/// Every event of a stream is a whole response under the id of the request.
struct Under(Id);

impl sse::Write for Under {
    fn reply(&self, out: &mut Vec<u8>, reply: &Bytes) {
        write_result(out, &self.0, reply);
    }

    fn error(&self, out: &mut Vec<u8>, error: &Error) {
        write_error(out, &self.0, error);
    }
}
