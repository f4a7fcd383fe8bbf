//! Cap'n Web: an object with one method for each operation.
//!
//! Methods take positional arguments, in the order of the table, or the whole request as one object. The events of a run
//! are a stream; if the caller passes a function, it is called with each event instead, and the method returns the run as
//! the last event has it.

use std::sync::Arc;

use ::capnweb::{
    Arguments, Capability, Description, Error as RpcError, Member, OriginPolicy, Peer,
    ReadableStream, Reply as Answering, Server as Sessions, Target, Type, Value,
};
use a2a::binding::capnweb::server::{is_guest, options};
use a2a::binding::capnweb::value::{from_json, of_reply, to_json};
use a2a::binding::{beside, turn_away};
use a2a::service::Call;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request as HttpRequest, State};
use axum::middleware::{Next, from_fn_with_state};
use futures_util::{StreamExt as _, stream};
use http::Response;
use http::request::Parts;
use serde_json::{Map, Value as Json};

use super::{CAPNWEB_PATH, rest};
use crate::error::Error;
use crate::operation::{self, Events, Operation, Replies, Reply, TABLE};
use crate::server::AcpServer;
use crate::types::Event;

pub(super) fn routes(server: Arc<AcpServer>) -> Router {
    let options = options(&server.wire);
    let door = server.clone();
    let sessions = Sessions::for_requests(move |request: &Parts, peer| {
        let caller = server.wire.call_in_session(request);
        if caller.is_err() {
            peer.restrict(server.wire.limits.guests());
        }
        Capability::new(Agents {
            caller,
            server: server.clone(),
            peer: peer.clone(),
        })
    })
    .options(options)
    // The listener has checked the origin of the request already.
    .origins(OriginPolicy::Any);
    Router::new()
        .route(CAPNWEB_PATH, sessions.route())
        .layer(from_fn_with_state(door, admit))
}

/// Refuses a session to a caller with invalid credentials. A caller without any gets a session and may call
/// `authenticate` in it.
async fn admit(
    State(server): State<Arc<AcpServer>>,
    request: HttpRequest,
    next: Next,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    match server.wire.call_in_session(&head) {
        Err(error) if is_guest(&error, &body, &server.wire) => {}
        Err(error) => {
            server.wire.refused(&head, &error);
            turn_away(body, &server.wire.limits).await;
            return rest::refused(error.into());
        }
        Ok(_) => {}
    }
    next.run(HttpRequest::from_parts(head, body)).await
}

/// The main object of a session.
struct Agents {
    server: Arc<AcpServer>,
    /// The session's other side, which is bounded until it is authenticated.
    peer: Peer,
    /// The caller, or the error that every operation fails with.
    caller: Result<Call, a2a::Error>,
}

/// The method that takes credentials and returns the same object for their principal.
const AUTHENTICATE: &str = "authenticate";

impl Target for Agents {
    fn member(&self, name: &str) -> Member {
        match operation::named(name) {
            None if name != AUTHENTICATE => Member::Absent,
            _ => Member::Method,
        }
    }

    fn call(self: Arc<Self>, method: &str, arguments: Arguments) -> Answering {
        let arguments = arguments.rest();
        match operation::named(method) {
            Some(operation) => Answering::future(async move {
                let performed = self.perform(operation, arguments).await;
                performed.map_err(|error| failure(&error))
            }),
            // At once, so that the next message of the session may be a large one.
            None if method == AUTHENTICATE => match self.authenticate(arguments) {
                Ok(known) => Answering::ready(known),
                Err(error) => {
                    let error = failure(&error.into());
                    Answering::future(async move { Err::<Value, _>(error) })
                }
            },
            None => Answering::no_such_method(method),
        }
    }

    fn interface(&self) -> &'static str {
        "AcpAgents"
    }

    fn describe(&self) -> Description {
        let agents = Description::new(
            "AcpAgents",
            "The ACP agents of this server, and their runs.",
        );
        let names = TABLE.iter().map(|row| row.name).chain([AUTHENTICATE]);
        names.fold(agents, |agents, name| {
            agents.method(name, "", Vec::new(), Type::Any)
        })
    }
}

impl Agents {
    fn authenticate(&self, arguments: Vec<Value>) -> Result<Value, a2a::Error> {
        if !self.server.wire.door.asks() {
            let why = "no scheme is configured here: every caller is the anonymous one, without authenticate";
            return Err(a2a::Error::UnsupportedOperation(why.to_owned()));
        }
        let shown = arguments.into_iter().next().unwrap_or(Value::Null);
        let caller = Ok(self.server.wire.call_with(shown)?);
        self.peer.admit();
        Ok(Value::Stub(Capability::new(Self {
            server: self.server.clone(),
            peer: self.peer.clone(),
            caller,
        })))
    }

    async fn perform(
        &self,
        operation: &'static Operation,
        arguments: Vec<Value>,
    ) -> Result<Value, Error> {
        let call = self.caller.clone()?;
        call.check()?;
        let weight = arguments.iter().map(Value::weight).sum();
        let request = beside(weight, || Request::read(operation, arguments)).await?;
        let performed = operation.perform(self.server.clone(), call, request.fields);
        match performed.await? {
            Reply::One(answer) => Ok(of_reply(&answer.body)?),
            Reply::Many(_, events) => match request.listener {
                Some(listener) => tell(events, &listener).await,
                None => Ok(Value::Readable(ReadableStream::new(values(events)))),
            },
        }
    }
}

/// Events as values of a stream. An error ends the stream.
fn values(events: Events) -> impl stream::Stream<Item = Result<Value, RpcError>> + Send {
    events.flat_map(|portion| {
        let values: Vec<_> = match portion {
            Ok(events) => events.iter().map(|event| Ok(value(event))).collect(),
            Err(error) => vec![Err(failure(&error.into()))],
        };
        stream::iter(values)
    })
}

/// Calls a function with each event and waits for each call, until the function fails. Returns the run of the last event
/// that has one.
async fn tell(mut events: Events, listener: &Capability) -> Result<Value, Error> {
    let mut last = Value::Undefined;
    while let Some(portion) = events.next().await {
        for event in portion? {
            if let Some(run) = event.run() {
                last = from_json(serde_json::to_value(run).expect("runs are always written"));
            }
            if listener.invoke((value(&event),)).await.is_err() {
                // The function failed, but the caller may still use the reply.
                return Ok(last);
            }
        }
    }
    Ok(last)
}

fn value(event: &Event) -> Value {
    from_json(serde_json::to_value(event).expect("events are always written"))
}

/// The arguments of a call.
#[derive(Default)]
struct Request {
    fields: Map<String, Json>,
    /// The function to call with each event.
    listener: Option<Capability>,
}

impl Request {
    fn read(operation: &Operation, arguments: Vec<Value>) -> Result<Self, Error> {
        let mut request = Self::default();
        let mut data = Vec::new();
        for argument in arguments {
            match argument {
                Value::Stub(listener) => request.listener = Some(listener),
                argument => data.push(argument),
            }
        }
        match (&mut data[..], operation.positional) {
            ([Value::Object(_)], _) => {
                if let Json::Object(whole) = to_json(data.remove(0), "")? {
                    request.fields = whole;
                }
            }
            (given, positional) if given.len() <= positional.len() => {
                for (name, value) in positional.iter().zip(data) {
                    // `null` and `undefined` are the same as an argument that is missing.
                    if !value.is_nullish() {
                        let value = to_json(value, name)?;
                        request.fields.insert((*name).to_owned(), value);
                    }
                }
            }
            (_, positional) => {
                let most = format!("at most {} are allowed", positional.len());
                return Err(Error::invalid("arguments", most));
            }
        }
        if request.listener.is_some() {
            if operation.replies == Replies::One {
                return Err(Error::invalid(
                    "arguments",
                    "a function is not allowed: this operation has no events",
                ));
            }
            // A function implies the mode.
            request.fields.insert("mode".to_owned(), "stream".into());
        }
        Ok(request)
    }
}

/// An error of Cap'n Web with the code, message and data of ACP, and the status that REST would have.
fn failure(error: &Error) -> RpcError {
    let problem = error.problem();
    let data = problem.data.map_or(Value::Undefined, from_json);
    RpcError::new(problem.message)
        .with_code(problem.code.as_str())
        .with_prop("status", f64::from(error.status().as_u16()))
        .with_prop("data", data)
}
