//! The routes below `/api`.
//!
//! A body is JSON, and so is every answer. What is wrong is said as `{"error": {"code", "message", ...}}`: 400 for a
//! request that cannot be read, 403 for one that its caller may not make, 404 for what is not there, 422 for one that
//! can be read and makes no sense.

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Response, StatusCode};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub mod agent;
pub mod memory;

/// A request that is not fulfilled.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    error: Value,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl std::fmt::Display) -> Self {
        Self {
            status,
            error: json!({ "code": code, "message": message.to_string() }),
        }
    }

    /// The same with one more field.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.error[name] = value;
        self
    }
}

/// What a request gets.
pub(crate) type Answer = Result<Value, Failure>;

/// A body as a type; where it does not fit, which part of it.
pub(crate) fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, Failure> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let problem = error.into_inner();
        let (status, code) = if problem.is_data() {
            (StatusCode::UNPROCESSABLE_ENTITY, "invalid")
        } else {
            (StatusCode::BAD_REQUEST, "not_json")
        };
        Failure::new(status, code, &problem).with("field", path.into())
    })
}

/// The fields of an address.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(crate) fn of(raw: Option<String>) -> Self {
        let raw = raw.unwrap_or_default();
        Self(
            form_urlencoded::parse(raw.as_bytes())
                .into_owned()
                .collect(),
        )
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self
            .0
            .iter()
            .find(|(field, value)| field == name && !value.is_empty());
        found.map(|(_, value)| &**value)
    }
}

/// An answer on its way out.
pub(crate) fn respond(answer: Answer) -> Response<Body> {
    match answer {
        Ok(value) => response(StatusCode::OK, "application/json", value.to_string()),
        Err(Failure { status, error }) => {
            let body = json!({ "error": error });
            response(status, "application/json", body.to_string())
        }
    }
}

pub(crate) fn response(status: StatusCode, kind: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
