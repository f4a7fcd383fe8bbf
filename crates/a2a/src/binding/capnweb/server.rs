//! Cap'n Web, served.

use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use ::capnweb::observe::Tracing;
use ::capnweb::{
    Arguments, Capability, Description, Limits as SessionLimits, Member, Options, OriginPolicy,
    Peer, ReadableStream, Reply as CapnwebReply, Server, Target, Type, Value,
};
use access::capability::PREFIX;
use access::{Credentials, Origin, Principal};
use axum::Router;
use axum::body::{Body, HttpBody as _};
use axum::extract::{Request as HttpRequest, State};
use axum::middleware::{Next, from_fn_with_state};
use futures_util::{StreamExt as _, stream};
use http::request::Parts;
use http::{Method, Response};
use serde_json::{Map, Value as Json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::PATH;
use super::lend::{self, GrantObject, failed};
use super::request::{Request, credentials};
use super::task::TaskObject;
use super::value::{failure, from_json, of_frame, of_reply};
use crate::binding::Wire;
use crate::binding::http_call::{Connection, VersionSource};
use crate::binding::versioned_operation::VersionedOperation;
use crate::binding::{Parameters, http_call};
use crate::error::Error;
use crate::limits::{HELD_AT_LEAST, HELD_MESSAGES, MAX_SUBSCRIPTIONS};
use crate::operation::{self, Operation, Replies, Reply, TABLE, beside};
use crate::v0_3;
use crate::version::Version;

pub fn routes(wire: Wire) -> Router {
    let options = options(&wire);
    let door = wire.clone();
    let server = Server::for_requests(move |request: &Parts, peer| {
        let caller: Option<Principal> = request.extensions.get().cloned();
        if caller.is_none() {
            peer.restrict(wire.limits.guests());
        }
        let connection = Connection::of(request);
        Capability::new(AgentObject {
            wire: wire.clone(),
            caller,
            peer: peer.clone(),
            head: Arc::new(http_call::head(request.headers.clone(), &connection)),
            connection,
            written: Arc::default(),
            batch: request.method == Method::POST,
            borrowed: false,
            subscriptions: Arc::new(Semaphore::new(MAX_SUBSCRIPTIONS)),
        })
    })
    .options(options)
    // The listener has checked the origin of the request.
    .origins(OriginPolicy::Any);
    Router::new()
        .route(PATH, server.route())
        .layer(from_fn_with_state(door, admit))
}

/// The options of all sessions of objects: the limits of the wire in the terms of Cap'n Web, its tasks and its metrics.
pub fn options(wire: &Wire) -> Options {
    let defaults = SessionLimits::default();
    let body = wire.limits.max_body;
    // A session keeps the server holding some messages of the largest size: those of running calls, and results.
    let several = body.saturating_mul(HELD_MESSAGES);
    Options::default()
        .limits(SessionLimits {
            max_message_bytes: body,
            // A task may be larger than each of the messages that led to it.
            max_sent_bytes: Some(defaults.max_message_bytes.max(body)),
            max_held_bytes: several.clamp(HELD_AT_LEAST, defaults.max_held_bytes),
            max_blob_bytes: body.min(defaults.max_blob_bytes),
            ..defaults
        })
        .tasks(wire.tasks.clone())
        .metrics(&wire.metrics)
        .layer(Tracing::new())
}

/// Finds out which caller opens a session. A caller without credentials gets an agent that can be asked for its card
/// and told the credentials; a caller with wrong ones gets none.
async fn admit(State(wire): State<Wire>, request: HttpRequest, next: Next) -> Response<Body> {
    let (mut head, body) = request.into_parts();
    match wire.recognise(&head) {
        Ok(caller) => _ = head.extensions.insert(caller),
        Err(error) if is_guest(&error, &body, &wire) => {}
        Err(error) => {
            wire.refused(&head, &error);
            http_call::turn_away(body, &wire.limits).await;
            return http_call::refused(&error);
        }
    }
    next.run(HttpRequest::from_parts(head, body)).await
}

/// Whether a caller that was not recognised may go on: it showed no credentials, and its batch is no longer than one
/// without credentials may be. A longer batch needs them in its header, as on other wires.
pub fn is_guest(error: &Error, body: &Body, wire: &Wire) -> bool {
    let small = body.size_hint().lower() <= wire.limits.guests().max_message_bytes as u64;
    matches!(error, Error::Unauthenticated(refusal) if refusal.has_no_credentials()) && small
}

/// The agent, as a session's first object.
#[derive(Clone)]
pub(super) struct AgentObject {
    pub(super) wire: Wire,
    /// The caller; `None` until the session is authenticated.
    caller: Option<Principal>,
    /// The session's other side, which is bounded until it is authenticated.
    peer: Peer,
    /// What the handshake says of every call.
    head: Arc<Parts>,
    connection: Connection,
    /// How the session writes, once a request of it has shown so.
    written: Arc<OnceLock<Version>>,
    /// Whether the session is an HTTP batch, which is over when its answer is sent.
    batch: bool,
    /// Whether it was lent by an object that can take it back: then it cannot be saved.
    borrowed: bool,
    /// Counts the callbacks that the session has subscribed.
    subscriptions: Arc<Semaphore>,
}

/// A method of the agent.
enum AgentMethod {
    Operation(&'static Operation),
    /// An operation that sends its replies to a callback.
    Streamed(&'static Operation),
    Card,
    /// The same agent, for the owner of these credentials.
    Authenticate,
    /// The same agent with less, for others.
    Attenuate,
    /// A token by which this agent object is restored.
    Save,
    /// The agent object that was saved as this token.
    Restore,
}

impl AgentMethod {
    fn named(name: &str) -> Option<Self> {
        match name {
            "getAgentCard" => Some(Self::Card),
            "authenticate" => Some(Self::Authenticate),
            "attenuate" => Some(Self::Attenuate),
            "save" => Some(Self::Save),
            "restore" => Some(Self::Restore),
            name => operation::method(name)
                .map(Self::Operation)
                .or_else(|| operation::calling_back(name).map(Self::Streamed)),
        }
    }
}

impl Target for AgentObject {
    fn member(&self, name: &str) -> Member {
        match AgentMethod::named(name) {
            Some(_) => Member::Method,
            None => Member::Absent,
        }
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> CapnwebReply {
        let arguments = arguments.rest();
        match AgentMethod::named(method) {
            Some(AgentMethod::Operation(operation)) => CapnwebReply::future(async move {
                let weight = arguments.iter().map(Value::weight).sum();
                let request = beside(weight, || Request::read(operation, 0, arguments)).await;
                let performed = match request {
                    Ok(request) => self.perform(operation, request).await,
                    Err(error) => Err(error),
                };
                performed.map_err(|error| failure(&error))
            }),
            Some(AgentMethod::Streamed(operation)) => CapnwebReply::future(async move {
                let begun = TaskObject::begin(&self, operation, arguments).await;
                begun
                    .map(|task| Value::Stub(Capability::new(task)))
                    .map_err(|error| failure(&error))
            }),
            Some(AgentMethod::Card) => {
                let card = serde_json::to_value(self.wire.service.card());
                let card = card.expect("a card is always JSON");
                // For whichever version its reader knows.
                CapnwebReply::ready(from_json(v0_3::union(card)))
            }
            Some(AgentMethod::Authenticate) => match self.authenticate(arguments) {
                Ok(agent) => CapnwebReply::ready(Value::Stub(Capability::new(agent))),
                Err(error) => failed(&error),
            },
            Some(AgentMethod::Restore) => match self.restore(arguments) {
                Ok(agent) => CapnwebReply::ready(Value::Stub(Capability::new(agent))),
                Err(error) => failed(&error),
            },
            Some(AgentMethod::Attenuate) => match GrantObject::new(&self, arguments) {
                Ok(grant) => CapnwebReply::ready(Value::Stub(Capability::new(grant))),
                Err(error) => failed(&error),
            },
            Some(AgentMethod::Save) => CapnwebReply::future(async move {
                let saved = lend::save(&self, arguments).await;
                saved.map_err(|error| failure(&error))
            }),
            None => CapnwebReply::no_such_method(method),
        }
    }

    fn interface(&self) -> &'static str {
        "Agent"
    }

    fn describe(&self) -> Description {
        let own = [
            "getAgentCard",
            "authenticate",
            "attenuate",
            "save",
            "restore",
        ];
        let own = own.map(str::to_owned);
        let rows = TABLE.iter().flat_map(|row| {
            let (first, rest) = row.name.split_at(1);
            let small = format!("{}{rest}", first.to_ascii_lowercase());
            let calling_back = row.calling_back.map(str::to_owned);
            [row.name.to_owned(), small].into_iter().chain(calling_back)
        });
        let agent = Description::new("Agent", "An agent, and its operations.");
        own.into_iter().chain(rows).fold(agent, |agent, name| {
            agent.method(name, "", Vec::new(), Type::Any)
        })
    }
}

impl AgentObject {
    /// The same agent, for the owner of these credentials.
    fn authenticate(&self, arguments: Vec<Value>) -> Result<Self, Error> {
        let shown = arguments.into_iter().next().unwrap_or(Value::Null);
        self.recognised(&credentials(shown)?)
    }

    /// The same agent, as the one that was saved as a token.
    fn restore(&self, arguments: Vec<Value>) -> Result<Self, Error> {
        self.recognised(&lend::token(arguments)?)
    }

    fn recognised(&self, credentials: &Credentials) -> Result<Self, Error> {
        let is_lent = matches!(credentials, Credentials::Bearer(it) if it.starts_with(PREFIX));
        if !self.wire.door.asks() && !is_lent {
            let why = "no scheme is configured here: every caller is the anonymous one, without authenticate";
            return Err(Error::UnsupportedOperation(why.to_owned()));
        }
        let recognised = self.wire.door.recognise(credentials, SystemTime::now());
        let origin = Origin::of(self.wire.name, &self.head);
        let caller = self.wire.authenticated(origin, recognised)?;
        self.peer.admit();
        Ok(Self {
            borrowed: false,
            ..self.for_caller(caller)
        })
    }

    /// The same agent for another caller.
    pub(super) fn for_caller(&self, caller: Principal) -> Self {
        Self {
            caller: Some(caller),
            ..self.clone()
        }
    }

    /// The same agent, which its holder cannot save.
    pub(super) fn borrowed(&self) -> Self {
        Self {
            borrowed: true,
            ..self.clone()
        }
    }

    pub(super) fn is_borrowed(&self) -> bool {
        self.borrowed
    }

    /// The same agent, which takes requests that show no version for requests of the version of this one.
    pub(super) fn in_version_of(&self, request: &Request) -> Result<Self, Error> {
        let written = self.written(&request.parameters, &request.fields);
        Ok(Self {
            written: Arc::new(OnceLock::from(written)),
            ..self.clone()
        })
    }

    /// Refuses what needs a session that is still there after the answer.
    pub(super) fn reaches_back(&self, what: &str) -> Result<(), Error> {
        if !self.batch {
            return Ok(());
        }
        let why = format!(
            "an HTTP batch is over with its answer, and {what} has no use there: open a WebSocket at this address, \
             or ask with getTask"
        );
        Err(Error::UnsupportedOperation(why))
    }

    /// The right to subscribe one more callback.
    pub(super) fn place_for_a_subscription(&self) -> Result<OwnedSemaphorePermit, Error> {
        let place = self.subscriptions.clone().try_acquire_owned();
        place.map_err(|_| {
            let why = format!(
                "this session has {MAX_SUBSCRIPTIONS} subscriptions: dispose one of them first"
            );
            Error::Unavailable(why)
        })
    }

    /// Performs an operation. Many replies are a stream.
    pub(super) async fn perform(
        &self,
        operation: &'static Operation,
        request: Request,
    ) -> Result<Value, Error> {
        if operation.replies == Replies::Many {
            self.reaches_back("a stream")?;
        }
        match self.reply(operation, request).await? {
            Reply::One(reply) => of_reply(&reply),
            Reply::Many(portions) => {
                let values = portions.flat_map(|portion| {
                    let values: Vec<_> = match portion {
                        Ok(frames) => frames.iter().map(of_frame).collect(),
                        Err(error) => vec![Err(error)],
                    };
                    stream::iter(values)
                });
                let values = values.map(|value| value.map_err(|error| failure(&error)));
                Ok(Value::Readable(ReadableStream::new(values)))
            }
        }
    }

    pub(super) async fn reply(
        &self,
        operation: &'static Operation,
        mut request: Request,
    ) -> Result<Reply, Error> {
        let written = self.written(&request.parameters, &request.fields);
        let own = self.own_head(std::mem::take(&mut request.parameters))?;
        let head = own.as_ref().unwrap_or(&self.head);
        let asked = VersionedOperation::written(operation, written);
        let call = http_call::call(self.wire.name, self.caller()?, head, VersionSource::Request)?;
        let input = beside(request.weight, || asked.input(request.fields)).await;
        asked.perform(&self.wire, call, input).await
    }

    pub(super) fn caller(&self) -> Result<&Principal, Error> {
        let caller = self.caller.as_ref();
        caller.ok_or_else(|| self.wire.door.without_credentials().into())
    }

    /// What the handshake says, and over it a call's own parameters, where it has any.
    fn own_head(&self, parameters: Parameters) -> Result<Option<Parts>, Error> {
        if parameters.is_empty() {
            return Ok(None);
        }
        let headers = http_call::with_parameters(&self.head.headers, parameters)?;
        Ok(Some(http_call::head(headers, &self.connection)))
    }

    /// The version of a request: the one it shows, else the one that its own parameters name, else that of the first one
    /// that showed any, else the one that the handshake names, else 1.0.
    fn written(&self, own: &Parameters, fields: &Map<String, Json>) -> Version {
        if let Some(shown) = v0_3::version_of(fields) {
            self.written.get_or_init(|| shown);
            return shown;
        }
        let version_of = |named: &str| match named.trim().starts_with(v0_3::VERSION) {
            true => Version::V0_3,
            false => Version::V1_0,
        };
        let is_version = |name: &str| name.eq_ignore_ascii_case(http_call::VERSION_HEADER.as_str());
        let named = own.iter().find(|(name, _)| is_version(name));
        match (named, self.written.get()) {
            (Some((_, named)), _) => version_of(named),
            (None, Some(first)) => *first,
            (None, None) => version_of(&http_call::version(&self.head)),
        }
    }
}
