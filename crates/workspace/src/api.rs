//! The routes below `/api`.
//!
//! A body is JSON, and so is every answer. What is wrong is said as `{"error": {"code", "message", ...}}`: 400 for a
//! request that cannot be read, 403 for one that its caller may not make, 404 for what is not there, 422 for one that
//! can be read and makes no sense.

use std::fmt;
use std::sync::Arc;

use access::Principal;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
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
        let failure = Failure::new(status, code, &problem);
        match &*path {
            // It is about the whole.
            "." => failure,
            path => failure.with("field", path.into()),
        }
    })
}

/// The body of a request, unless it is too long or was cut off.
pub(crate) fn whole(body: Result<Bytes, BytesRejection>) -> Result<Bytes, Failure> {
    body.map_err(|problem| {
        let code = match problem.status() {
            StatusCode::PAYLOAD_TOO_LARGE => "too_large",
            _ => "unreadable",
        };
        Failure::new(problem.status(), code, problem.body_text())
    })
}

/// Who calls, if it was asked: whoever lets callers in says so, by a [`Principal`] among the request's extensions.
pub(crate) type Caller = Option<Extension<Principal>>;

/// About which agent a request is that names none, and who may ask about which.
#[derive(Clone)]
pub struct Rights {
    agent: Arc<str>,
    may: Arc<May>,
}

/// Whether a caller may ask about an agent.
type May = dyn Fn(&Principal, &str) -> bool + Send + Sync;

impl Rights {
    /// Everybody who was let in may ask about every agent; about this one, if none is named.
    pub fn everybody(agent: &str) -> Self {
        Self {
            agent: agent.into(),
            may: Arc::new(|_, _| true),
        }
    }

    /// The same for those alone of whom this says so.
    #[must_use]
    pub fn only(self, may: impl Fn(&Principal, &str) -> bool + Send + Sync + 'static) -> Self {
        Self {
            may: Arc::new(may),
            ..self
        }
    }

    /// The agent that a request is about.
    pub(crate) fn agent<'a>(
        &'a self,
        caller: &Caller,
        named: Option<&'a str>,
    ) -> Result<&'a str, Failure> {
        let agent = named.filter(|name| !name.is_empty()).unwrap_or(&self.agent);
        let anonymous = Principal::anonymous();
        let caller = caller.as_ref().map_or(&anonymous, |Extension(it)| it);
        match (self.may)(caller, agent) {
            true => Ok(agent),
            false => {
                let why = format!("{caller} is none of those for whom {agent:?} is");
                Err(Failure::new(StatusCode::FORBIDDEN, "denied", why))
            }
        }
    }
}

impl fmt::Debug for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rights")
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
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
