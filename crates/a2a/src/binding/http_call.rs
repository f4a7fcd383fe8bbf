//! What is the same in every HTTP request: version, extensions, cursor, body.

use std::task::Poll;

use axum::body::Body;
use bytes::Bytes;
use futures_util::poll;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use tokio::time::timeout;

use super::{VERSION, Wire};
use crate::error::Error;
use crate::limits::{DISCARD_TIME, Limits};
use crate::service::Call;
use crate::types::AgentCard;

/// Names the version of the protocol; a query parameter of the same name does, too.
pub(super) const VERSION_HEADER: HeaderName = HeaderName::from_static("a2a-version");
/// Lists the extensions that a caller understands, and in the reply those in use.
pub(super) const EXTENSIONS_HEADER: HeaderName = HeaderName::from_static("a2a-extensions");
/// The cursor after which a stream goes on.
pub(super) const CURSOR_HEADER: HeaderName = HeaderName::from_static("last-event-id");

/// What a binding takes an absent version for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unversioned {
    /// A2A 3.6.2: 0.3.
    Old,
    /// The address of the call already says which version it is.
    #[cfg(feature = "grpc")]
    Known,
}

/// The call that the head of a request describes.
pub(super) fn call(wire: &Wire, head: &Parts, unversioned: Unversioned) -> Result<Call, Error> {
    check_version(head, unversioned)?;
    Ok(Call {
        caller: wire.caller.clone(),
        extensions: extensions(&head.headers),
        cursor: cursor(&head.headers)?,
    })
}

/// A2A 3.6: only major and minor count.
fn check_version(head: &Parts, unversioned: Unversioned) -> Result<(), Error> {
    let named = head
        .headers
        .get(VERSION_HEADER)
        .map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let query = head.uri.query().unwrap_or_default();
    let asked = || {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs
            .find(|(name, _)| name.eq_ignore_ascii_case(VERSION_HEADER.as_str()))
            .map(|(_, value)| value.into_owned())
    };
    let version = named.or_else(asked).unwrap_or_default();
    let mut numbers = version.trim().split('.');
    let spoken = match (numbers.next(), numbers.next()) {
        (Some(""), None) => match unversioned {
            Unversioned::Old => false,
            #[cfg(feature = "grpc")]
            Unversioned::Known => true,
        },
        (Some(major), Some(minor)) => VERSION.split_once('.') == Some((major, minor)),
        _ => false,
    };
    if spoken {
        Ok(())
    } else {
        let named = if version.is_empty() {
            "0.3".to_owned()
        } else {
            version
        };
        Err(Error::VersionNotSupported(named))
    }
}

fn extensions(headers: &HeaderMap) -> Vec<String> {
    let lists = headers
        .get_all(EXTENSIONS_HEADER)
        .iter()
        .filter_map(|value| value.to_str().ok());
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
pub(super) async fn read(mut body: Body, limits: &Limits) -> Result<Bytes, Error> {
    let limit = limits.max_body;
    let mut reading = std::pin::pin!(Limited::new(&mut body, limit).collect());
    // Most bodies are there with their head, and need no clock.
    let read = match poll!(reading.as_mut()) {
        Poll::Ready(read) => Ok(read),
        Poll::Pending => timeout(limits.body_time, reading).await,
    };
    match read {
        Ok(Ok(read)) => Ok(read.to_bytes()),
        Ok(Err(error)) if has_cause(&*error, |it| it.is::<LengthLimitError>()) => {
            // Who still writes when the connection closes may never read why.
            let _ = timeout(DISCARD_TIME, discard(body, limit)).await;
            Err(Error::TooLarge { limit })
        }
        // Whoever brought the body may have a limit of its own.
        Ok(Err(error)) if has_cause(&*error, is_late) => Err(Error::TooSlow),
        Ok(Err(error)) => Err(Error::InvalidRequest(format!(
            "the body broke off: {error}"
        ))),
        Err(_) => Err(Error::TooSlow),
    }
}

/// Takes what is left of a body that is too large, up to as much again as would have been allowed.
async fn discard(mut body: Body, mut most: usize) {
    while let Some(Ok(frame)) = body.frame().await {
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
