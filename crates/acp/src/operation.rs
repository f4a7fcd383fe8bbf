//! The table of operations: one row for each.
//!
//! A binding finds a row by its name (Cap'n Web) or by its route (REST), passes it the request as one JSON object, and gets
//! the reply as bytes or as a stream of events. The row knows the type of the request, so reading it, and the errors of
//! reading it, are the same in every binding. To add an operation, add a row here and a method to `Server`; no binding
//! changes. A test checks that every binding serves every row (`tests/it/wires.rs`).
//!
//! It is a table of its own rather than a part of A2A's, because the two protocols share no operation, only the way to
//! serve one: `a2a::operation` has the routes and the search (`Route`, `find_among`) that both use.

use std::sync::Arc;

use a2a::operation::{Route, Verb};
use a2a::service::Call;
use access::{CallRecord, Outcome, Principal, Rule};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use serde::de::{DeserializeOwned, Deserializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::server::AcpServer;
use crate::types::{Awaited, Event, Message};

/// The version of ACP, for the record of calls.
const VERSION: &str = "0.2";

/// One row of the table.
#[derive(Debug)]
pub struct Operation {
    /// The name, which is the method name in Cap'n Web.
    pub name: &'static str,
    /// The routes in REST; clients should use the first.
    pub routes: &'static [Route],
    /// The fields of the request in the order of positional arguments.
    pub positional: &'static [&'static str],
    /// Whether it can reply with events.
    pub replies: Replies,
    /// What it needs of its caller.
    pub rule: Rule,
    /// The field with the id of the run that it is about. The id of a resource begins with that of its run.
    run: Option<&'static str>,
    perform: fn(Arc<AcpServer>, Call, Map<String, Value>) -> Performing,
}

/// Whether an operation can reply with events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replies {
    One,
    /// A run or its events, as the `mode` of the request says.
    ByMode,
}

/// The reply of an operation to a binding.
pub(crate) enum Reply {
    One(SingleReply),
    /// The events of the run with this id. Events that were ready at the same time come together.
    Many(String, Events),
}

/// Events of a run, up to one for which `Event::ends_streams` is true, or an error.
pub(crate) type Events = BoxStream<'static, Result<Vec<Event>, a2a::Error>>;

#[derive(Debug)]
pub(crate) struct SingleReply {
    /// The id of the run that this call created or resumed.
    pub(crate) run: Option<String>,
    /// The run continues after the reply (202 in REST).
    pub(crate) accepted: bool,
    pub(crate) body: Bytes,
}

impl SingleReply {
    /// A complete reply (200) about no run.
    pub(crate) fn new(body: &impl Serialize) -> Self {
        let body = serde_json::to_vec(body).expect("replies are always written");
        Self {
            run: None,
            accepted: false,
            body: body.into(),
        }
    }
}

type Performing = BoxFuture<'static, Result<Reply, Error>>;

macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $name:ident($($positional:ident),*): $request:ident => $replies:ident,
        by $method:ident, caller $rule:ident $(about $run:ident)?, at $($verb:ident $path:literal),+;
    )*) => {
        /// Every operation of ACP.
        pub static TABLE: &[Operation] = &[$(
            Operation {
                name: stringify!($name),
                routes: &[$(Route { verb: Verb::$verb, path: $path }),+],
                positional: &[$(stringify!($positional)),*],
                replies: Replies::$replies,
                rule: Rule::$rule(stringify!($name)),
                run: operations!(@run $($run)?),
                perform: |server, call, fields| Box::pin(async move {
                    let request = read::<$request>(fields)?;
                    server.$method(call, request).await.map(Into::into)
                }),
            },
        )*];
    };
    (@run) => { None };
    (@run $run:ident) => { Some(stringify!($run)) };
}

operations! {
    /// Replies with an empty object: the server is reachable.
    ping(): NoFields => One, by ping, caller reads, at Get "/ping";
    /// Lists the agents.
    listAgents(limit, offset): ListAgents => One, by list_agents, caller reads, at Get "/agents";
    /// The manifest of one agent.
    getAgent(name): GetAgent => One, by get_agent, caller reads, at Get "/agents/{name}";
    /// Starts a run. The mode decides whether the reply is the run at rest, the run at once, or its events.
    createRun(agent_name, input, mode, session_id): CreateRun => ByMode, by create_run, caller changes, at Post "/runs";
    /// The current state of a run.
    getRun(run_id): RunRequest => One, by get_run, caller reads about run_id, at Get "/runs/{run_id}";
    /// Gives a run the input that it waits for.
    resumeRun(run_id, await_resume, mode): ResumeRun => ByMode, by resume_run, caller changes about run_id, at Post "/runs/{run_id}";
    /// Begins to cancel a run.
    cancelRun(run_id): RunRequest => One, by cancel_run, caller changes about run_id, at Post "/runs/{run_id}/cancel";
    /// The events of a run up to now.
    listRunEvents(run_id): RunRequest => One, by list_run_events, caller reads about run_id, at Get "/runs/{run_id}/events";
    // The specification has the first path, the reference implementation the second.
    /// A session with links to its messages.
    getSession(session_id): SessionRequest => One, by get_session, caller reads,
        at Get "/sessions/{session_id}", Get "/session/{session_id}";
    /// A message of a session.
    getResource(resource_id): ResourceRequest => One, by get_resource, caller reads about resource_id, at Get "/resources/{resource_id}";
}

/// The operation of this name.
pub fn named(name: &str) -> Option<&'static Operation> {
    TABLE.iter().find(|operation| operation.name == name)
}

impl Operation {
    /// Checks that the caller may, reads the request and has the server carry it out.
    pub(crate) async fn perform(
        &self,
        server: Arc<AcpServer>,
        call: Call,
        fields: Map<String, Value>,
    ) -> Result<Reply, Error> {
        // ACP has no reply without a run, so the task server must make a task also for an immediate answer.
        let call = Call {
            always_task: true,
            ..call
        };
        let begun = server.wire.calls.begin(CallRecord {
            origin: call.origin.clone(),
            caller: call.caller.clone(),
            version: VERSION,
            operation: self.name.into(),
        });
        let begun = begun.map_err(a2a::Error::from)?;
        let performed = match self.check(&call.caller, &fields) {
            Ok(()) => {
                let performed = begun.run((self.perform)(server, call, fields)).await;
                performed.unwrap_or_else(|exceeded| Err(a2a::Error::from(exceeded).into()))
            }
            Err(error) => Err(error),
        };
        begun.end(match &performed {
            Ok(_) => Outcome::Ok,
            Err(error) => Outcome::of_status(error.status().as_u16()),
        });
        performed
    }

    /// Whether the caller may, for the run that the request names.
    fn check(&self, caller: &Principal, fields: &Map<String, Value>) -> Result<(), Error> {
        let id = self.run.and_then(|field| fields.get(field)?.as_str());
        // A task id has no dot.
        let run = id.map(|id| id.split_once('.').map_or(id, |(run, _)| run));
        let checked = self.rule.check(caller);
        let checked = checked.and_then(|()| self.rule.check_task(caller, run));
        checked.map_err(|refusal| Error::Agent(refusal.into()))
    }
}

/// The typed request. The error names the path of the faulty field.
fn read<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Error> {
    let read = serde_path_to_error::deserialize(Value::Object(fields));
    read.map_err(|error| {
        let field = match error.path().to_string() {
            // A field is missing at the top level.
            path if path == "." => "request".to_owned(),
            path => path,
        };
        Error::invalid(field, error.into_inner().to_string())
    })
}

impl From<SingleReply> for Reply {
    fn from(answer: SingleReply) -> Self {
        Self::One(answer)
    }
}

/// A request without fields.
#[derive(Debug, Deserialize)]
pub(crate) struct NoFields {}

#[derive(Debug, Deserialize)]
pub(crate) struct ListAgents {
    #[serde(default, deserialize_with = "count")]
    pub(crate) limit: Option<usize>,
    #[serde(default, deserialize_with = "count")]
    pub(crate) offset: Option<usize>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct GetAgent {
    pub(crate) name: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CreateRun {
    pub(crate) agent_name: String,
    pub(crate) input: Vec<Message>,
    #[serde(default)]
    pub(crate) session_id: Option<String>,
    #[serde(default)]
    pub(crate) session: Option<SessionRef>,
    #[serde(default)]
    pub(crate) mode: Option<Mode>,
}

/// The session object of a request. Only its id is used; the history is in the tasks of the context.
#[derive(Debug, Deserialize)]
pub(crate) struct SessionRef {
    pub(crate) id: String,
}

/// What the caller of `createRun` and `resumeRun` waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// The run when it ended or waits for input.
    #[default]
    Sync,
    /// The run as soon as it exists.
    Async,
    /// The events of the run.
    Stream,
}

/// The request of operations on a run.
#[derive(Debug, Deserialize)]
pub(crate) struct RunRequest {
    pub(crate) run_id: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ResumeRun {
    pub(crate) run_id: String,
    pub(crate) await_resume: Awaited,
    #[serde(default)]
    pub(crate) mode: Option<Mode>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct SessionRequest {
    pub(crate) session_id: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ResourceRequest {
    pub(crate) resource_id: String,
}

/// A number, also as text, which is how a query string has it.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(usize),
        Text(String),
    }
    let wrong = || serde::de::Error::custom("is not a whole number of at least 0");
    match Option::<Written>::deserialize(deserializer).map_err(|_| wrong())? {
        None => Ok(None),
        Some(Written::Number(number)) => Ok(Some(number)),
        Some(Written::Text(text)) => text.parse().map(Some).map_err(|_| wrong()),
    }
}
