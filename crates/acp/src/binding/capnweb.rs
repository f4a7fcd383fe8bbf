//! Cap'n Web, served: an object whose methods are the operations.
//!
//! Methods take positional arguments, in the order that the table gives, or the whole request as one object. What
//! happens to a run is a stream; who passes a function has it called with each event instead, and gets the run
//! as it is then.

use std::sync::Arc;

use ::capnweb::observe::Tracing;
use ::capnweb::{
    Arguments, Capability, Description, Error as RpcError, Member, Options, OriginPolicy,
    ReadableStream, Reply as Answering, Server as Sessions, Target, Type, Value,
};
use a2a::binding::capnweb::value::{from_json, of_reply, to_json};
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
use crate::server::Server;
use crate::types::Event;

/// The one address.
pub(super) fn routes(server: Arc<Server>) -> Router {
    let options = Options::default()
        .tasks(server.wire.tasks.clone())
        .metrics(&server.wire.metrics)
        .layer(Tracing::new());
    let door = server.clone();
    let sessions = Sessions::for_requests(move |request: &Parts, _| {
        Capability::new(Agents {
            caller: server.wire.call(request),
            server: server.clone(),
        })
    })
    .options(options)
    // Whoever listens has looked where the request comes from.
    .origins(OriginPolicy::Any);
    Router::new()
        .route(CAPNWEB_PATH, sessions.route())
        .layer(from_fn_with_state(door, admit))
}

/// Who shows nothing may say later who it is; who shows something wrong gets no session.
async fn admit(
    State(server): State<Arc<Server>>,
    request: HttpRequest,
    next: Next,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    match server.wire.call(&head) {
        Err(a2a::Error::Unauthenticated(refusal)) if refusal.is_of_stranger() => {}
        Err(error) => return rest::refused(error.into()),
        Ok(_) => {}
    }
    next.run(HttpRequest::from_parts(head, body)).await
}

/// The agents, as a session's first object.
struct Agents {
    server: Arc<Server>,
    /// Who calls, or why nobody is known to.
    caller: Result<Call, a2a::Error>,
}

/// Gives the same agents, for whoever the credentials belong to that it is called with.
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
            None if method == AUTHENTICATE => Answering::future(async move {
                let known = self.authenticate(arguments);
                known.map_err(|error| failure(&error.into()))
            }),
            None => Answering::no_such_method(method),
        }
    }

    fn interface(&self) -> &'static str {
        "AcpAgents"
    }

    fn describe(&self) -> Description {
        let agents = Description::new("AcpAgents", "Agents of ACP, and what is asked of them.");
        let names = TABLE.iter().map(|row| row.name).chain([AUTHENTICATE]);
        names.fold(agents, |agents, name| {
            agents.method(name, "", Vec::new(), Type::Any)
        })
    }
}

impl Agents {
    fn authenticate(&self, arguments: Vec<Value>) -> Result<Value, a2a::Error> {
        let shown = arguments.into_iter().next().unwrap_or(Value::Null);
        let caller = match self.server.wire.door.asks() {
            true => Ok(self.server.wire.call_with(shown)?),
            false => self.caller.clone(),
        };
        let server = self.server.clone();
        Ok(Value::Stub(Capability::new(Self { server, caller })))
    }

    async fn perform(
        &self,
        operation: &'static Operation,
        arguments: Vec<Value>,
    ) -> Result<Value, Error> {
        let call = self.caller.clone()?;
        call.check()?;
        let request = Request::read(operation, arguments)?;
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

/// Events as values of a stream, whose failure is the error that ends it.
fn values(events: Events) -> impl stream::Stream<Item = Result<Value, RpcError>> + Send {
    events.flat_map(|portion| {
        let values: Vec<_> = match portion {
            Ok(events) => events.iter().map(|event| Ok(value(event))).collect(),
            Err(error) => vec![Err(failure(&error.into()))],
        };
        stream::iter(values)
    })
}

/// Calls a function with each event, one after the other, as long as it takes them. The answer is the run as the
/// last one has it.
async fn tell(mut events: Events, listener: &Capability) -> Result<Value, Error> {
    let mut last = Value::Undefined;
    while let Some(portion) = events.next().await {
        for event in portion? {
            if let Some(run) = event.run() {
                last = from_json(serde_json::to_value(run).expect("runs are always written"));
            }
            if listener.invoke((value(&event),)).await.is_err() {
                // Whoever does not listen any more can still want to know how it stands.
                return Ok(last);
            }
        }
    }
    Ok(last)
}

fn value(event: &Event) -> Value {
    from_json(serde_json::to_value(event).expect("events are always written"))
}

/// A call as its arguments describe it.
#[derive(Default)]
struct Request {
    fields: Map<String, Json>,
    /// Whom to tell what happens.
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
                    // What is not given is not there.
                    if !value.is_nullish() {
                        let value = to_json(value, name)?;
                        request.fields.insert((*name).to_owned(), value);
                    }
                }
            }
            (_, positional) => {
                let most = format!("there are at most {}", positional.len());
                return Err(Error::invalid("arguments", most));
            }
        }
        if request.listener.is_some() {
            if operation.replies == Replies::One {
                return Err(Error::invalid("arguments", "there is nothing to listen to"));
            }
            // Who listens has chosen how.
            request.fields.insert("mode".to_owned(), "stream".into());
        }
        Ok(request)
    }
}

/// A failed call, as its caller sees it: an `Error` with what ACP says, and the status REST would have.
fn failure(error: &Error) -> RpcError {
    let problem = error.problem();
    let data = problem.data.map_or(Value::Undefined, from_json);
    RpcError::new(problem.message)
        .with_code(problem.code.as_str())
        .with_prop("status", f64::from(error.status().as_u16()))
        .with_prop("data", data)
}
