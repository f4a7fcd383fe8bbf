//! The common part of every HTTP response that a client gets.

use std::sync::Arc;

use bytes::Bytes;
use dial::Body;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, stream};
use http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderMap, Response, StatusCode, Uri};
use serde_json::Value;

use super::sse;
use crate::client::channel::Piece;
use crate::client::dial::Dialer;
use crate::client::{Error, Refusal};
use crate::error::Code;

/// An address of HTTP.
pub(super) fn address(url: &str) -> Result<Uri, Error> {
    let parsed = url.parse::<Uri>().ok();
    let web =
        |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
    let wrong = || Error::Card(format!("not an HTTP address: {url:?}"));
    parsed.filter(web).ok_or_else(wrong)
}

/// Whether a response is a stream of events.
pub(super) fn is_stream(response: &Response<Body>) -> bool {
    let value = response.headers().get(CONTENT_TYPE);
    let value = value
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    value
        .trim_start()
        .to_ascii_lowercase()
        .starts_with("text/event-stream")
}

/// The events of a response, each read in the way of a binding; some are nothing.
pub(super) fn stream(
    response: Response<Body>,
    dialer: &Arc<Dialer>,
    read: impl Fn(sse::Event) -> Result<Option<Piece>, Error> + Send + 'static,
) -> BoxStream<'static, Result<Piece, Error>> {
    let reader = sse::Reader::new(dialer.max_reply());
    let portions = stream::unfold(Some((response.into_body(), reader)), |state| async move {
        let (mut body, mut reader) = state?;
        let events = match body.chunk().await? {
            Ok(data) => reader
                .take(&data)
                .map_err(|error| Error::unclear(error.to_string())),
            Err(error) => Err(Error::lost(error)),
        };
        let state = events.is_ok().then_some((body, reader));
        Some((events, state))
    });
    let pieces = portions.flat_map(move |portion| {
        let pieces: Vec<Result<Piece, Error>> = match portion {
            Ok(events) => events
                .into_iter()
                .filter_map(|it| read(it).transpose())
                .collect(),
            Err(error) => vec![Err(error)],
        };
        stream::iter(pieces)
    });
    Box::pin(pieces)
}

/// What a response says that is neither a reply nor a refusal of the protocol.
pub(super) fn refused(status: StatusCode, headers: &HeaderMap, body: &Bytes) -> Error {
    let said: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = said.get("error").unwrap_or(&said);
    let message = [&error["message"], error, &said["detail"], &said["title"]]
        .into_iter()
        .find_map(Value::as_str);
    let message = match message {
        Some(message) => message.to_owned(),
        None => {
            let wanted = headers.get(WWW_AUTHENTICATE);
            let wanted = wanted.and_then(|value| value.to_str().ok());
            wanted.map_or_else(
                || status.to_string(),
                |wanted| format!("{status}: {wanted}"),
            )
        }
    };
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Error::Unauthorized {
            status: status.as_u16(),
            message,
        };
    }
    let details = match &error["details"] {
        Value::Array(details) => details.clone(),
        _ => Vec::new(),
    };
    // Some say it by the status alone.
    let code = Code::ALL.iter().find(|code| code.http == status.as_u16());
    let by_number = error["code"].as_i64();
    let by_number = Code::ALL
        .iter()
        .find(|code| by_number == Some(i64::from(code.json_rpc)));
    Refusal::new(by_number.or(code).copied(), message, details).into()
}
