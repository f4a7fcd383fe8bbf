//! The common part of every HTTP request: version, extensions, cursor, body.

use std::task::Poll;

use ::capnweb::weight::{self, TooHeavy};
use access::{Origin, Principal, calls};
use axum::body::{Body, HttpBody as _};
use bytes::Bytes;
use futures_util::poll;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{NEXT_VERSION, Parameters, VERSION};
use crate::error::Error;
use crate::generation::Generations;
use crate::limits::{DISCARD_PAUSE, DISCARD_TIME, Limits, MAX_ID};
use crate::operation::beside;
use crate::service::{Call, REPEATABLE};
use crate::types::AgentCard;
use crate::v0_3;

#[cfg(test)]
#[path = "http_call_tests.rs"]
mod tests;

/// Names the version of the protocol; a query parameter of the same name does, too.
pub(super) const VERSION_HEADER: HeaderName = HeaderName::from_static("a2a-version");
/// Lists the extensions that a caller understands, and in the reply those in use.
pub(super) const EXTENSIONS_HEADER: HeaderName = HeaderName::from_static("a2a-extensions");
/// The same, as 0.3 called it.
pub(super) const EXTENSIONS_HEADER_V0_3: HeaderName = HeaderName::from_static("x-a2a-extensions");
/// The cursor after which a stream goes on.
pub(super) const CURSOR_HEADER: HeaderName = HeaderName::from_static("last-event-id");

/// Names a send that the caller may repeat.
const KEY_HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// What says which version a call is written in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum VersionSource {
    /// The parameter alone. A2A 3.6.2: without it, it is 0.3.
    Parameter,
    /// The package of a gRPC service.
    #[cfg(feature = "grpc")]
    Package,
    /// An address at which it is 1.0, unless the parameter says otherwise.
    Address,
    /// A name or an address that only 0.3 has.
    NameOfV0_3,
    /// The request, by how it is written. The parameter may name either version.
    Request,
}

impl VersionSource {
    /// The header in which a reply tells what extensions are in use.
    pub(super) fn extensions_header(self) -> HeaderName {
        match self {
            Self::NameOfV0_3 => EXTENSIONS_HEADER_V0_3,
            _ => EXTENSIONS_HEADER,
        }
    }
}

/// The headers of a call: those of the handshake, and over them the call's own.
pub(super) fn with_parameters(handshake: &HeaderMap, own: Parameters) -> Result<HeaderMap, Error> {
    let mut headers = handshake.clone();
    for (name, value) in own {
        let pair = (
            HeaderName::from_bytes(name.as_bytes()),
            HeaderValue::from_str(&value),
        );
        let (Ok(name), Ok(value)) = pair else {
            let why = format!("the service parameter {name:?} cannot be a header");
            return Err(Error::InvalidRequest(why));
        };
        headers.insert(name, value);
    }
    Ok(headers)
}

/// The head of a call that is no request of HTTP, and has no more than headers and a connection.
pub(super) fn head(headers: HeaderMap, connection: &Connection) -> Parts {
    let (mut head, ()) = http::Request::new(()).into_parts();
    head.headers = headers;
    connection.put(&mut head);
    head
}

/// The connection of a session with many calls: for the record of each.
#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    session: calls::Session,
    peer: Option<calls::Peer>,
}

impl Connection {
    /// A new one, which the request opens.
    pub(super) fn of(head: &Parts) -> Self {
        Self {
            session: calls::Session::next(),
            peer: head.extensions.get().copied(),
        }
    }

    /// Makes the head of a call one of this connection, and of nothing else that a request had beside it.
    pub(super) fn put(&self, head: &mut Parts) {
        head.extensions.clear();
        head.extensions.insert(self.session);
        if let Some(peer) = self.peer {
            head.extensions.insert(peer);
        }
    }
}

/// The call that the head of a request on a wire describes, by a caller who is known still.
pub(super) fn call(
    wire: &'static str,
    caller: &Principal,
    head: &Parts,
    versioned: VersionSource,
) -> Result<Call, Error> {
    let call = Call::by(caller.clone());
    call.check()?;
    let is_next = check_version(head, versioned)?;
    let extensions = extensions(&head.headers);
    let sees = is_next || extensions.iter().any(|uri| uri == REPEATABLE);
    Ok(Call {
        extensions,
        generations: match sees {
            true => Generations::Shown,
            false => Generations::Hidden,
        },
        cursor: cursor(&head.headers)?,
        idempotency_key: idempotency_key(&head.headers)?,
        origin: Origin::of(wire, head),
        ..call
    })
}

/// An error as HTTP has it: a status, what would be taken instead of what was shown, and a body that says why.
pub fn refused(error: &Error) -> Response<Body> {
    let mut response = Response::new(Body::from(described(error).to_string()));
    *response.status_mut() = status(error);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    challenge(error, response.headers_mut());
    response
}

/// The body of an error.
pub(super) fn described(error: &Error) -> Value {
    let code = error.code();
    json!({
        "error": {
            "code": code.http,
            "status": code.status,
            "message": error.to_string(),
            "details": error.details(),
        }
    })
}

/// The status of an error.
pub(super) fn status(error: &Error) -> StatusCode {
    StatusCode::from_u16(error.code().http).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Says what a caller could show to be let in, or when it may call again.
pub fn challenge(error: &Error, headers: &mut HeaderMap) {
    let wait = match error {
        Error::RateLimited(limit) => Some(limit.seconds()),
        Error::BudgetExceeded(exceeded) => exceeded.seconds(),
        _ => None,
    };
    if let Some(seconds) = wait {
        headers.insert(RETRY_AFTER, seconds.into());
    }
    for challenge in error.challenges() {
        if let Ok(challenge) = HeaderValue::from_str(challenge) {
            headers.append(WWW_AUTHENTICATE, challenge);
        }
    }
}

/// Whether the version that a call names is spoken, and whether it is the coming one. A2A 3.6: only major and minor count.
fn check_version(head: &Parts, versioned: VersionSource) -> Result<bool, Error> {
    let version = version(head);
    let mut numbers = version.trim().split('.');
    let mut is_next = false;
    let spoken = match (numbers.next(), numbers.next()) {
        (Some(""), None) => versioned != VersionSource::Parameter,
        (Some(major), Some(minor)) => {
            let is = |version: &str| version.split_once('.') == Some((major, minor));
            is_next = is(NEXT_VERSION);
            // A name of 0.3 means the operation of 0.3, also from a caller that names 1.0.
            let either = matches!(
                versioned,
                VersionSource::NameOfV0_3 | VersionSource::Request
            );
            is(VERSION) || is_next || (either && is(v0_3::VERSION))
        }
        _ => false,
    };
    if spoken {
        Ok(is_next)
    } else {
        let named = if version.is_empty() {
            v0_3::VERSION.to_owned()
        } else {
            version
        };
        Err(Error::VersionNotSupported(named))
    }
}

/// The version that a request names, or nothing. One that names several names all of them, and so none that is spoken: a proxy
/// in front may have read another one than we would.
pub(super) fn version(head: &Parts) -> String {
    let named = head.headers.get_all(VERSION_HEADER).iter();
    let named = named.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let query = head.uri.query().unwrap_or_default();
    let asked = form_urlencoded::parse(query.as_bytes());
    let asked = asked.filter(|(name, _)| name.eq_ignore_ascii_case(VERSION_HEADER.as_str()));
    let mut versions: Vec<String> = Vec::new();
    for version in named.chain(asked.map(|(_, value)| value.into_owned())) {
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    versions.join(", ")
}

fn extensions(headers: &HeaderMap) -> Vec<String> {
    let names = [EXTENSIONS_HEADER, EXTENSIONS_HEADER_V0_3];
    let lists = names.iter().flat_map(|name| headers.get_all(name));
    let lists = lists.filter_map(|value| value.to_str().ok());
    let uris = lists.flat_map(|list| list.split(',')).map(str::trim);
    uris.filter(|uri| !uri.is_empty())
        .map(str::to_owned)
        .collect()
}

fn cursor(headers: &HeaderMap) -> Result<Option<u64>, Error> {
    let Some(value) = headers.get(CURSOR_HEADER) else {
        return Ok(None);
    };
    match value.to_str().map(str::trim) {
        Ok("") => Ok(None),
        Ok(text) if text.bytes().all(|byte| byte.is_ascii_digit()) && text.len() < 20 => {
            Ok(text.parse().ok())
        }
        _ => Err(Error::invalid_field("Last-Event-ID", "is not a generation")),
    }
}

/// The key as it came, with its quotes if it has some: it is compared and never read.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Error> {
    let Some(value) = headers.get(KEY_HEADER) else {
        return Ok(None);
    };
    let refused = |why: String| Error::invalid_field("Idempotency-Key", why);
    match value.to_str().map(str::trim) {
        Ok("") => Err(refused("is empty".to_owned())),
        Ok(key) if key.len() > MAX_ID => {
            Err(refused(format!("is longer than {MAX_ID} characters")))
        }
        Ok(key) => Ok(Some(key.to_owned())),
        Err(_) => Err(refused("has characters beyond ASCII".to_owned())),
    }
}

/// The extensions that the caller and the card both name.
pub(super) fn activated(call: &Call, card: &AgentCard) -> Option<HeaderValue> {
    if call.extensions.is_empty() {
        return None;
    }
    let offered = card.capabilities.iter().flat_map(|it| &it.extensions);
    let shared: Vec<&str> = offered
        .map(|it| &*it.uri)
        .filter(|uri| call.extensions.iter().any(|it| it == uri))
        .collect();
    let list = (!shared.is_empty()).then(|| shared.join(", "))?;
    HeaderValue::from_str(&list).ok()
}

/// The media type of a body, lower-case and without parameters; empty when there is none.
pub(super) fn media_type(headers: &HeaderMap) -> String {
    let given = headers
        .get(CONTENT_TYPE)
        .map(HeaderValue::as_bytes)
        .unwrap_or_default();
    let given = String::from_utf8_lossy(given);
    given
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// The whole body, if it is small enough and comes soon enough.
pub async fn read(mut body: Body, limits: &Limits) -> Result<Bytes, Error> {
    let limit = limits.max_body;
    if body.size_hint().lower() > limit as u64 {
        turn_away(body, limits).await;
        return Err(Error::TooLarge { limit });
    }
    let mut reading = std::pin::pin!(Limited::new(&mut body, limit).collect());
    // Most bodies are there with their head, and need no clock.
    let read = match poll!(reading.as_mut()) {
        Poll::Ready(read) => Ok(read),
        Poll::Pending => timeout(limits.body_time, reading).await,
    };
    match read {
        Ok(Ok(read)) => weighed(read.to_bytes()).await,
        Ok(Err(error)) if has_cause(&*error, |it| it.is::<LengthLimitError>()) => {
            turn_away(body, limits).await;
            Err(Error::TooLarge { limit })
        }
        // The listener may have a time limit of its own.
        Ok(Err(error)) if has_cause(&*error, is_late) => Err(Error::TooSlow),
        Ok(Err(error)) => Err(Error::InvalidRequest(format!(
            "the body broke off: {error}"
        ))),
        Err(_) => Err(Error::TooSlow),
    }
}

/// JSON that does not take too much memory once it is parsed.
pub(super) async fn weighed(json: Bytes) -> Result<Bytes, Error> {
    let heavy = |heavy: TooHeavy| Error::TooManyValues(heavy.to_string());
    beside(json.len(), || weight::check(&json))
        .await
        .map_err(heavy)?;
    Ok(json)
}

/// Reads and discards the rest of a refused body, up to twice the limit on bodies and while it flows: a client that is
/// still writing when the connection closes may never read the refusal. A client that pauses is answered.
pub async fn turn_away(body: Body, limits: &Limits) {
    let most = limits.max_body.saturating_mul(2);
    let _ = timeout(DISCARD_TIME, discard(body, most)).await;
}

async fn discard(mut body: Body, mut most: usize) {
    while let Ok(Some(Ok(frame))) = timeout(DISCARD_PAUSE, body.frame()).await {
        let length = frame.data_ref().map_or(0, Bytes::len);
        match most.checked_sub(length) {
            Some(left) => most = left,
            None => return,
        }
    }
}

type Cause = dyn std::error::Error + 'static;

/// Whether an error, or one that it comes from, is of a kind.
fn has_cause(error: &Cause, is: impl Fn(&Cause) -> bool) -> bool {
    std::iter::successors(Some(error), |error| error.source()).any(is)
}

fn is_late(error: &Cause) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::TimedOut)
}
