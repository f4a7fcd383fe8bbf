//! Error responses of providers as our errors.

use std::time::{Duration, SystemTime};

use http::header::RETRY_AFTER;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::error::Error;
use crate::limits::quote;

/// The error for a status, with the message of the provider.
pub(super) fn of_status(status: StatusCode, body: &str, headers: &HeaderMap) -> Error {
    let message = message(status, body);
    match status.as_u16() {
        401 | 403 => Error::Auth(message),
        402 => Error::Quota(message),
        429 if is_out_of_quota(body) => Error::Quota(message),
        429 => Error::RateLimited {
            retry_after: retry_after(headers, SystemTime::now()),
            message,
        },
        408 | 500..=599 => Error::Server(message),
        _ => Error::Refused(message),
    }
}

/// The message in the body of an error response, or all of the body.
fn message(status: StatusCode, body: &str) -> String {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    // Gemini wraps it in a list.
    let value = value.get(0).unwrap_or(&value);
    let error = value.get("error").unwrap_or(value);
    let said = error.as_str().or_else(|| error.get("message")?.as_str());
    match quote(said.unwrap_or(body)) {
        said if said.is_empty() => status.to_string(),
        said => format!("{said} ({})", status.as_u16()),
    }
}

/// Whether an error says that the account has nothing left, rather than that it asks too often.
fn is_out_of_quota(body: &str) -> bool {
    let value: Value = serde_json::from_str(body).unwrap_or_default();
    let error = value.get("error").unwrap_or(&value);
    let says = |name: &str| error.get(name).and_then(Value::as_str);
    ["code", "type"].into_iter().any(|name| {
        matches!(
            says(name),
            Some("insufficient_quota" | "billing_hard_limit_reached")
        )
    })
}

/// The header `Retry-After`: seconds, or a date.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|it| it.parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let said = text(RETRY_AFTER.as_str())?;
    match said.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => {
            let then = httpdate::parse_http_date(said).ok()?;
            Some(then.duration_since(now).unwrap_or_default())
        }
    }
}

/// An error frame inside a streamed reply.
pub(super) fn of_event(body: &Value) -> Error {
    let error = body.get("error").unwrap_or(body);
    let text = |name| error.get(name).and_then(Value::as_str);
    let said = text("message").or_else(|| error.as_str());
    let message = quote(&said.map_or_else(|| error.to_string(), str::to_owned));
    match text("type").or_else(|| text("status")).unwrap_or_default() {
        "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => Error::RateLimited {
            retry_after: None,
            message,
        },
        "insufficient_quota" => Error::Quota(message),
        "authentication_error" | "permission_error" => Error::Auth(message),
        "invalid_request_error" | "INVALID_ARGUMENT" => Error::Refused(message),
        _ => Error::Server(message),
    }
}
