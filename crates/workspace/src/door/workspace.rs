//! The workspace of a caller: a method for each route, and the streams.

use std::sync::Arc;

use ::capnweb::{
    Arguments, Capability, Description, Error as RpcError, Member, Peer, Reply, Target, Type, Value,
};
use a2a::binding::capnweb::value::{from_json, of_reply, to_json};
use a2a::server::end_of_credentials;
use a2a::service::Call;
use access::calls::BegunCall;
use access::{CallRecord, FoundRule, Origin, Outcome, Principal, RouteRule};
use axum::Extension;
use axum::body::to_bytes;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use serde_json::{Map, Value as Json, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::AbortOnDropHandle;
use tower::ServiceExt as _;

use super::follow::Follower;
use super::table::Row;
use super::{DoorCaller, Shared, alerts, chat, files, journal, questions, tasks, terminals, wire};
use crate::api::one_session::check_route;
use crate::api::{Caller, Failure};

/// The most streams of one session.
const MAX_STREAMS: usize = 64;

/// The longest reply of a route, in bytes.
const MAX_REPLY: usize = 32 << 20;

/// The streams, and the routes with the same access rules.
const STREAMS: [(Stream, &str, (&str, &str)); 11] = [
    (Stream::SignedIn, "signedIn", ("GET", "/api/session")),
    (Stream::Chat, "followChat", ("GET", "/ws/chat")),
    (Stream::Journal, "followJournal", ("GET", "/api/journal")),
    (
        Stream::Questions,
        "followQuestions",
        ("GET", "/api/approvals"),
    ),
    (Stream::Files, "followFiles", ("GET", "/api/files/tree")),
    (Stream::Alerts, "followAlerts", ("GET", "/api/watch/alerts")),
    (Stream::Wire, "followWire", ("GET", "/api/audit")),
    (Stream::Task, "followTask", ("GET", "/api/tasks/{id}")),
    (Stream::Terminals, "terminals", ("GET", "/api/terminals")),
    (
        Stream::OpenTerminal,
        "openTerminal",
        ("POST", "/api/terminals"),
    ),
    (
        Stream::AttachTerminal,
        "attachTerminal",
        ("POST", "/api/terminals"),
    ),
];

/// Methods that are no routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stream {
    SignedIn,
    Chat,
    Journal,
    Questions,
    Alerts,
    Files,
    Wire,
    Task,
    Terminals,
    OpenTerminal,
    AttachTerminal,
}

/// The workspace of a caller. Clones are the same.
#[derive(Clone)]
pub(super) struct WorkspaceObject(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    caller: Principal,
    origin: Origin,
    /// The token that a sign-in link became, and when it expires.
    issued: Option<(String, String)>,
    /// Counts the streams of the caller in this session.
    streams: Arc<Semaphore>,
    /// Ends the session with the credentials.
    _watch: Option<AbortOnDropHandle<()>>,
}

impl WorkspaceObject {
    /// The workspace of a caller. The session ends with its credentials.
    pub(super) fn new(
        shared: Arc<Shared>,
        caller: Principal,
        origin: Origin,
        peer: &Peer,
        issued: Option<(String, String)>,
    ) -> Self {
        let over = end_of_credentials(&caller);
        let peer = peer.clone();
        let watch = tokio::spawn(async move {
            let refusal = over.await;
            peer.abort(&failed(&refusal.into()));
        });
        Self(Arc::new(Inner {
            shared,
            caller,
            origin,
            issued,
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            _watch: Some(AbortOnDropHandle::new(watch)),
        }))
    }

    /// The workspace of a sign-in link, which is over when it has become a token; the session goes on.
    pub(super) fn of_link(shared: Arc<Shared>, caller: Principal, origin: Origin) -> Self {
        Self(Arc::new(Inner {
            shared,
            caller,
            origin,
            issued: None,
            streams: Arc::new(Semaphore::new(0)),
            _watch: None,
        }))
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.0.shared
    }

    pub(super) fn caller(&self) -> &Principal {
        &self.0.caller
    }

    pub(super) fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// The caller as the routes know it.
    pub(super) fn as_caller(&self) -> Caller {
        Some(Extension(self.0.caller.clone()))
    }

    fn with_row(
        self,
        row: Row,
        mut arguments: Vec<Value>,
    ) -> impl Future<Output = Result<Value, RpcError>> {
        let weight: usize = arguments.iter().map(Value::weight).sum();
        let fields = match arguments.is_empty() {
            true => Value::Undefined,
            false => arguments.swap_remove(0),
        };
        async move {
            let fields = object(fields)?;
            self.perform(&row, fields, weight).await
        }
    }

    /// Carries a method out by its route.
    async fn perform(
        &self,
        row: &Row,
        fields: Map<String, Json>,
        weight: usize,
    ) -> Result<Value, RpcError> {
        let (status, kind, body) = self.answer(row, fields, weight).await?;
        if !status.is_success() {
            return Err(refusal(status, &body));
        }
        if body.is_empty() {
            return Ok(Value::Null);
        }
        // Not `application/jsonl`, which is a text of lines.
        if kind.split(';').next().map(str::trim) == Some("application/json") {
            return of_reply(&body).map_err(|error| failed(&error));
        }
        Ok(match String::from_utf8(body.into()) {
            Ok(text) => Value::String(text),
            Err(bytes) => Value::bytes(bytes.into_bytes()),
        })
    }

    /// The JSON that a method gives.
    pub(super) async fn ask(
        &self,
        name: &str,
        fields: Map<String, Json>,
    ) -> Result<Json, RpcError> {
        let row = self.0.shared.table.get(name).cloned();
        let row = row.ok_or_else(|| RpcError::type_error(format!("there is no method {name}")))?;
        let (status, _, body) = self.answer(&row, fields, 0).await?;
        match status.is_success() {
            true => Ok(serde_json::from_slice(&body).unwrap_or_default()),
            false => Err(refusal(status, &body)),
        }
    }

    async fn answer(
        &self,
        row: &Row,
        fields: Map<String, Json>,
        weight: usize,
    ) -> Result<(StatusCode, String, bytes::Bytes), RpcError> {
        self.check()?;
        let mut request = row.request(fields).map_err(|failure| said(&failure))?;
        request.extensions_mut().insert(DoorCaller {
            caller: self.0.caller.clone(),
            origin: Origin {
                bytes: weight as u64,
                ..self.0.origin.clone()
            },
        });
        let routes = self.0.shared.parts.routes.clone();
        let response = match routes.oneshot(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        let (head, body) = response.into_parts();
        let kind = head.headers.get(CONTENT_TYPE);
        let kind = kind.and_then(|it| it.to_str().ok()).unwrap_or_default();
        let body = to_bytes(body, MAX_REPLY).await.map_err(|_| {
            let why =
                format!("the reply is longer than {MAX_REPLY} bytes, or was cut off: ask for less");
            RpcError::new(why)
                .with_code("too_large")
                .with_prop("status", 413.0)
        })?;
        Ok((head.status, kind.to_owned(), body))
    }

    /// Whether the credentials still count.
    fn check(&self) -> Result<(), RpcError> {
        let checked = Call::by(self.0.caller.clone()).check();
        checked.map_err(|error| failed(&error))
    }

    /// Announces something that is no route, after the check of the rule of the route with the same meaning.
    fn begin(&self, name: &'static str, (verb, path): (&str, &str)) -> Result<BegunCall, RpcError> {
        self.check()?;
        let parts = &self.0.shared.parts;
        let asked = CallRecord {
            origin: self.0.origin.clone(),
            caller: self.0.caller.clone(),
            version: "",
            operation: name.into(),
        };
        let rule = RouteRule::find(parts.rows.iter(), verb, path);
        let Some(FoundRule::Rule(rule)) = rule else {
            return Err(RpcError::new(format!("{name} has no access rule")));
        };
        let checked = check_route(&rule, &self.0.caller, path);
        checked.map_err(|refusal| {
            let error = a2a::Error::from(refusal);
            parts.wire.calls.refused(&asked, error.outcome());
            failed(&error)
        })?;
        parts.wire.calls.begin(asked).map_err(|limit| {
            let code = match limit {
                access::Limit::Calls(_) => "rate_limited",
                access::Limit::Budget(_) => "budget_exceeded",
            };
            let error = RpcError::new(limit.to_string());
            error.with_code(code).with_prop("status", 429.0)
        })
    }

    async fn stream(
        &self,
        (stream, name, rule): (Stream, &'static str, (&str, &str)),
        arguments: Vec<Value>,
    ) -> Result<Value, RpcError> {
        let begun = self.begin(name, rule)?;
        let opened = begun.run(self.open(stream, arguments)).await;
        let opened = opened.unwrap_or_else(|exceeded| {
            let error = RpcError::new(exceeded.to_string());
            Err(error
                .with_code("budget_exceeded")
                .with_prop("status", 429.0))
        });
        begun.end(match &opened {
            Ok(_) => Outcome::Ok,
            Err(error) => match error.prop("status") {
                Some(Value::Number(status)) => Outcome::of_status(*status as u16),
                _ => Outcome::Rejected,
            },
        });
        opened
    }

    async fn open(&self, stream: Stream, mut arguments: Vec<Value>) -> Result<Value, RpcError> {
        let mut callback = None;
        arguments.retain_mut(|argument| match argument {
            Value::Stub(stub) => {
                callback = Some(stub.clone());
                false
            }
            _ => true,
        });
        let what = object(arguments.into_iter().next().unwrap_or(Value::Undefined))?;
        let what = What(what);
        let follower = |callback: Option<Capability>| -> Result<Follower, RpcError> {
            let callback = callback.ok_or_else(|| {
                let error = RpcError::type_error(
                    "the second argument is a function that is called with what happens",
                );
                error.with_code("invalid").with_prop("field", "on")
            })?;
            let wire = &self.0.shared.parts.wire;
            Ok(Follower::new(
                callback,
                &wire.limits,
                &wire.tasks,
                self.place()?,
            ))
        };
        match stream {
            Stream::SignedIn => self.signed_in().await,
            Stream::Terminals => terminals::list(self, &what).await,
            Stream::Chat => chat::follow(self, &what, follower(callback)?).await,
            Stream::Journal => journal::follow(self, &what, follower(callback)?).await,
            Stream::Questions => questions::follow(self, follower(callback)?).await,
            Stream::Alerts => Ok(alerts::follow(self, follower(callback)?)),
            Stream::Files => files::follow(self, &what, follower(callback)?).await,
            Stream::Wire => wire::follow(self, &what, follower(callback)?),
            Stream::Task => tasks::follow(self, &what, follower(callback)?).await,
            Stream::OpenTerminal => terminals::open(self, &what, follower(callback)?).await,
            Stream::AttachTerminal => terminals::attach(self, &what, follower(callback)?).await,
        }
    }

    /// The right to one more stream.
    fn place(&self) -> Result<OwnedSemaphorePermit, RpcError> {
        let place = self.0.streams.clone().try_acquire_owned();
        place.map_err(|_| {
            let why =
                format!("this session follows {MAX_STREAMS} things: dispose one of them first");
            let error = RpcError::new(why).with_code("too_many");
            error.with_prop("status", 429.0)
        })
    }

    /// The caller's name and permissions, with the token that it is to keep.
    async fn signed_in(&self) -> Result<Value, RpcError> {
        let session = self.ask("getSession", Map::new()).await?;
        let mut signed_in = json!({
            "caller": session["user"],
            "role": session.get("role"),
            "permissions": session["permissions"],
        });
        for name in ["expires", "read_only", "session"] {
            if let Some(known) = session.get(name) {
                signed_in[name] = known.clone();
            }
        }
        if let Some((token, expires)) = &self.0.issued {
            signed_in["token"] = token.as_str().into();
            signed_in["expires"] = expires.as_str().into();
        }
        Ok(from_json(signed_in))
    }
}

/// The fields that say what is followed.
#[derive(Debug, Default)]
pub(super) struct What(Map<String, Json>);

impl What {
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, RpcError> {
        match self.0.get(name) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) => {
                Ok(Some(text).filter(|it| !it.is_empty()).map(String::as_str))
            }
            Some(_) => Err(said(&crate::api::invalid(
                name,
                format!("{name} is a text"),
            ))),
        }
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, RpcError> {
        match self.0.get(name) {
            None | Some(Json::Null) => Ok(None),
            Some(given) => match given.as_u64() {
                Some(number) => Ok(Some(number)),
                None => {
                    let why = format!("{name} is a whole number that is not negative");
                    Err(said(&crate::api::invalid(name, why)))
                }
            },
        }
    }
}

fn object(value: Value) -> Result<Map<String, Json>, RpcError> {
    if value.is_nullish() {
        return Ok(Map::new());
    }
    match to_json(value, "").map_err(|error| failed(&error))? {
        Json::Object(fields) => Ok(fields),
        _ => {
            let error = RpcError::type_error("the argument is an object of fields");
            Err(error.with_code("invalid").with_prop("status", 422.0))
        }
    }
}

/// A refusal of a route, as a call rejects with it.
fn refusal(status: StatusCode, body: &[u8]) -> RpcError {
    let said: Json = serde_json::from_slice(body).unwrap_or_default();
    told(status, &said)
}

/// The same of a failure that no route wrote.
pub(super) fn said(failure: &Failure) -> RpcError {
    let (status, error) = failure.parts();
    told(status, error)
}

fn told(status: StatusCode, said: &Json) -> RpcError {
    let message = said["error"].as_str();
    let message = message.map_or_else(|| status.to_string(), str::to_owned);
    let mut error = RpcError::new(message).with_prop("status", f64::from(status.as_u16()));
    if let Json::Object(members) = said {
        for (name, value) in members.iter().filter(|(name, _)| *name != "error") {
            error = error.with_prop(name.clone(), from_json(value.clone()));
        }
    }
    error
}

/// A refusal by the access rules, in the words that the routes use.
pub(super) fn failed(error: &a2a::Error) -> RpcError {
    let (code, message) = match error {
        a2a::Error::Unauthenticated(it) if it.has_no_credentials() => {
            ("unauthorized", "unauthorized".to_owned())
        }
        a2a::Error::Unauthenticated(_) => ("invalid_token", "invalid token".to_owned()),
        a2a::Error::Unauthorized(_) => ("denied", error.to_string()),
        error => ("failed", error.to_string()),
    };
    let status = f64::from(error.code().http);
    RpcError::new(message)
        .with_code(code)
        .with_prop("status", status)
}

impl Target for WorkspaceObject {
    fn member(&self, name: &str) -> Member {
        let known = self.0.shared.table.get(name).is_some() || stream(name).is_some();
        match known {
            true => Member::Method,
            false => Member::Absent,
        }
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Reply {
        let own = Self::clone(&self);
        if let Some(row) = self.0.shared.table.get(method) {
            let reply = Reply::future(own.with_row(row.clone(), arguments.rest()));
            // A change is made also if the caller does not wait for the answer.
            return match row.changes {
                true => reply,
                false => reply.cancellable(),
            };
        }
        match stream(method) {
            Some(stream) => {
                let arguments = arguments.rest();
                Reply::future(async move { own.stream(stream, arguments).await })
            }
            None => Reply::no_such_method(method),
        }
    }

    fn interface(&self) -> &'static str {
        "Workspace"
    }

    fn describe(&self) -> Description {
        let workspace = Description::new("Workspace", "What a caller may do.");
        let streams = STREAMS.iter().map(|(_, name, _)| *name);
        let names = self.0.shared.table.names().chain(streams);
        names.fold(workspace, |workspace, name| {
            workspace.method(name.to_owned(), "", Vec::new(), Type::Any)
        })
    }
}

fn stream(name: &str) -> Option<(Stream, &'static str, (&'static str, &'static str))> {
    STREAMS.iter().find(|it| it.1 == name).copied()
}
