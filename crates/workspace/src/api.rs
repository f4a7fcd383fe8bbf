//! The routes below `/api`.
//!
//! Bodies and replies are JSON. An error is `{"error": MESSAGE, "code": WORD}`, with `field` where one is to blame and `hint`
//! where there is a way out. Its status is 400 for a body that is not JSON, 401 for a caller that is not known (`unauthorized`
//! without credentials, `invalid token` with wrong ones), 403 for a caller without the right, 404 for something that does not
//! exist, 422 for a body with wrong content, 429 for one call too many (`rate limit exceeded`), and 503 where nothing can be
//! recorded because no space is left.

use std::fmt;
use std::sync::Arc;

use access::Principal;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Response, StatusCode};
use axum::routing::{MethodRouter, get};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

pub mod agent;
pub mod agents;
pub mod approvals;
pub mod boards;
pub mod capabilities;
pub mod command;
pub mod files;
pub mod journal;
pub mod keys;
pub mod memory;
pub mod one_session;
pub mod openapi;
pub mod reply;
pub mod rules;
pub mod search;
pub mod secrets;
pub mod session;
pub mod sessions;
pub mod status;
pub mod tasks;
#[cfg(target_os = "linux")]
pub mod terminals;
#[cfg(not(target_os = "linux"))]
#[path = "api/no_terminals.rs"]
pub mod terminals;
mod time;
pub mod users;
pub mod watch;

/// An error reply: its status and its body.
#[derive(Debug)]
pub(crate) struct Failure {
    status: StatusCode,
    error: Value,
}

impl Failure {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl std::fmt::Display) -> Self {
        Self {
            status,
            error: json!({ "error": message.to_string(), "code": code }),
        }
    }

    /// Its code and its message.
    pub(crate) fn told(&self) -> (&str, &str) {
        let text = |name: &str| self.error[name].as_str().unwrap_or_default();
        (text("code"), text("error"))
    }

    /// Its status and its body.
    pub(crate) fn parts(&self) -> (StatusCode, &Value) {
        (self.status, &self.error)
    }

    /// Adds a field to the error.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.error[name] = value;
        self
    }
}

/// The error of a field with wrong content.
pub(crate) fn invalid(field: &str, problem: impl std::fmt::Display) -> Failure {
    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", problem).with("field", field.into())
}

/// Reads a body; the error names the field that does not fit.
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
            // The whole body does not fit.
            "." => failure,
            path => failure.with("field", path.into()),
        }
    })
}

/// The body of a request; fails if it is too long or was cut off.
pub(crate) fn whole(body: Result<Bytes, BytesRejection>) -> Result<Bytes, Failure> {
    body.map_err(|problem| {
        let code = match problem.status() {
            StatusCode::PAYLOAD_TOO_LARGE => "too_large",
            _ => "unreadable",
        };
        Failure::new(problem.status(), code, problem.body_text())
    })
}

/// The caller, which the access check in front of the routes puts among the request's extensions. Without such a check
/// there is none.
pub(crate) type Caller = Option<Extension<Principal>>;

/// The agent of requests that name none, and which callers may ask about which agents.
#[derive(Clone)]
pub struct Rights {
    agent: Arc<str>,
    may: Arc<May>,
    /// The caller of requests that passed no access check.
    unchecked: Principal,
}

/// Whether a caller may ask about an agent.
type May = dyn Fn(&Principal, &str) -> bool + Send + Sync;

impl Rights {
    /// Every caller may ask about every agent. `agent` is meant where a request names none.
    pub fn unrestricted(agent: &str) -> Self {
        Self {
            agent: agent.into(),
            may: Arc::new(|_, _| true),
            unchecked: Principal::anonymous(),
        }
    }

    /// Restricts callers to the agents for which `may` is true.
    #[must_use]
    pub fn only(self, may: impl Fn(&Principal, &str) -> bool + Send + Sync + 'static) -> Self {
        Self {
            may: Arc::new(may),
            ..self
        }
    }

    /// Names the caller of requests that pass no access check, as those of a command that opened the files itself.
    #[must_use]
    pub fn unchecked(self, caller: Principal) -> Self {
        Self {
            unchecked: caller,
            ..self
        }
    }

    /// Whether this agent is meant where a request names none.
    pub(crate) fn is_default(&self, agent: &str) -> bool {
        &*self.agent == agent
    }

    /// The caller of a request.
    pub(crate) fn caller(&self, caller: &Caller) -> Principal {
        match caller {
            Some(Extension(caller)) => caller.clone(),
            None => self.unchecked.clone(),
        }
    }

    /// The id of the agent that a request is about.
    pub(crate) fn agent<'a>(
        &'a self,
        caller: &Caller,
        named: Option<&'a str>,
    ) -> Result<&'a str, Failure> {
        let agent = named.filter(|name| !name.is_empty()).unwrap_or(&self.agent);
        let caller = self.caller(caller);
        match (self.may)(&caller, agent) {
            true => Ok(agent),
            false => {
                let why = format!("{caller} is not on the allow list of agent {agent:?}");
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

/// The fields of a query string.
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

/// What the routes of one part of the API are about, found by the id of an agent: its memory, or the agent itself.
pub(crate) trait Part: Clone + Send + Sync + 'static {
    type Subject: Send + 'static;

    fn find(
        &self,
        id: &str,
        caller: Principal,
    ) -> impl Future<Output = Result<Self::Subject, Failure>> + Send;
}

/// A part of the API, behind the rights of its callers.
#[derive(Clone, Debug)]
pub(crate) struct Guarded<P> {
    pub(crate) part: P,
    pub(crate) rights: Rights,
}

impl<P: Part> Guarded<P> {
    /// The subject of a request by this caller about this agent, or about the default one.
    pub(crate) async fn subject(
        &self,
        caller: &Caller,
        agent: Option<&str>,
    ) -> Result<P::Subject, Failure> {
        let id = self.rights.agent(caller, agent)?;
        self.part.find(id, self.rights.caller(caller)).await
    }
}

/// A GET route; the query string is its request.
pub(crate) fn by_query<P, F, T, R>(reply: F) -> MethodRouter<Guarded<P>>
where
    P: Part,
    F: Fn(P::Subject, Fields) -> T + Clone + Send + Sync + 'static,
    T: Future<Output = Result<R, Failure>> + Send + 'static,
    R: Serialize + 'static,
{
    get(
        async move |State(guarded): State<Guarded<P>>, caller: Caller, RawQuery(raw): RawQuery| {
            let fields = Fields::of(raw);
            match guarded.subject(&caller, fields.get("agent")).await {
                Ok(subject) => respond(reply(subject, fields).await),
                Err(failure) => respond::<R>(Err(failure)),
            }
        },
    )
}

/// Writes a reply or an error.
pub(crate) fn respond<R: Serialize>(reply: Result<R, Failure>) -> Response<Body> {
    match reply {
        Ok(reply) => {
            let body = serde_json::to_string(&reply).expect("replies have text keys");
            response(StatusCode::OK, "application/json", body)
        }
        Err(Failure { status, error }) => response(status, "application/json", error.to_string()),
    }
}

/// An error in the form of all errors below `/api`, for what refuses a request before it reaches a route.
pub fn refusal(status: StatusCode, code: &str, message: &str) -> Response<Body> {
    respond::<()>(Err(Failure::new(status, code, message)))
}

/// The refusal of a request with a field that will not do.
pub fn refusal_of_field(field: &str, message: &str) -> Response<Body> {
    let failure = Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message);
    respond::<()>(Err(failure.with("field", field.into())))
}

/// A reply of a route that is not in this crate.
pub fn reply_json(reply: &Value) -> Response<Body> {
    respond(Ok(reply))
}

pub(crate) fn response(status: StatusCode, kind: &'static str, body: String) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
