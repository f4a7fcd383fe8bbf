//! The table: every operation of ACP, once.
//!
//! A binding finds a row by its name or by its route, hands it the request as one object and gets the reply
//! as bytes. To add an operation is a row here and a method of the server.

use std::sync::Arc;

use a2a::operation::{Route, Verb};
use a2a::service::Call;
use bytes::Bytes;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use serde::de::{DeserializeOwned, Deserializer};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::server::Server;
use crate::types::{Awaited, Event, Message};

/// One row: an operation.
#[derive(Debug)]
pub struct Operation {
    /// Its name: the method of the object that Cap'n Web serves.
    pub name: &'static str,
    /// Where REST has it; the first is the one to call.
    pub routes: &'static [Route],
    /// The fields of the request in the order of positional arguments.
    pub positional: &'static [&'static str],
    /// How many replies there are.
    pub replies: Replies,
    perform: fn(Arc<Server>, Call, Map<String, Value>) -> Performing,
}

/// How many replies an operation has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replies {
    /// One.
    One,
    /// A run, or what happens to it: `mode` decides.
    ByMode,
}

/// A reply as a binding gets it.
pub(crate) enum Reply {
    One(Answer),
    /// What happens to the run of this id, in portions that were there at the same moment.
    Many(String, Events),
}

/// Events of a run. The last one is an end, or an error is.
pub(crate) type Events = BoxStream<'static, Result<Vec<Event>, a2a::Error>>;

/// The one reply.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The run that it is about, if it was begun or went on with this call.
    pub(crate) run: Option<String>,
    /// The work goes on.
    pub(crate) accepted: bool,
    pub(crate) body: Bytes,
}

impl Answer {
    /// A reply that is all.
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
        by $method:ident, at $($verb:ident $path:literal),+;
    )*) => {
        /// All operations.
        pub static TABLE: &[Operation] = &[$(
            Operation {
                name: stringify!($name),
                routes: &[$(Route { verb: Verb::$verb, path: $path }),+],
                positional: &[$(stringify!($positional)),*],
                replies: Replies::$replies,
                perform: |server, call, fields| Box::pin(async move {
                    let request = read::<$request>(fields)?;
                    server.$method(call, request).await.map(Into::into)
                }),
            },
        )*];
    };
}

operations! {
    /// Whether anybody is there.
    ping(): Nothing => One, by ping, at Get "/ping";
    /// Who can be asked.
    listAgents(limit, offset): ListAgents => One, by list_agents, at Get "/agents";
    /// What is said of one of them.
    getAgent(name): GetAgent => One, by get_agent, at Get "/agents/{name}";
    /// Asks an agent, and waits for what comes of it, or does not, or follows it.
    createRun(agent_name, input, mode, session_id): CreateRun => ByMode, by create_run, at Post "/runs";
    /// A run as it is now.
    getRun(run_id): OfRun => One, by get_run, at Get "/runs/{run_id}";
    /// Answers what a run waits for.
    resumeRun(run_id, await_resume, mode): ResumeRun => ByMode, by resume_run, at Post "/runs/{run_id}";
    /// Asks that a run end.
    cancelRun(run_id): OfRun => One, by cancel_run, at Post "/runs/{run_id}/cancel";
    /// All that happened to a run.
    listRunEvents(run_id): OfRun => One, by list_run_events, at Get "/runs/{run_id}/events";
    // The description of the interface says one, its implementation the other.
    /// A conversation.
    getSession(session_id): OfSession => One, by get_session,
        at Get "/sessions/{session_id}", Get "/session/{session_id}";
    /// A message of a conversation.
    getResource(resource_id): OfResource => One, by get_resource, at Get "/resources/{resource_id}";
}

/// The row of that name.
pub fn named(name: &str) -> Option<&'static Operation> {
    TABLE.iter().find(|operation| operation.name == name)
}

impl Operation {
    /// Performs a call: reads the request and has the server answer it.
    pub(crate) async fn perform(
        &self,
        server: Arc<Server>,
        call: Call,
        fields: Map<String, Value>,
    ) -> Result<Reply, Error> {
        // ACP knows nothing but runs, so there is a task, whatever the answer.
        let call = Call {
            always_task: true,
            ..call
        };
        (self.perform)(server, call, fields).await
    }
}

/// The typed request, or what is wrong with it and where.
fn read<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, Error> {
    let read = serde_path_to_error::deserialize(Value::Object(fields));
    read.map_err(|error| {
        let field = match error.path().to_string() {
            // It is the request itself that lacks something.
            path if path == "." => "request".to_owned(),
            path => path,
        };
        Error::invalid(field, error.into_inner().to_string())
    })
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Self {
        Self::One(answer)
    }
}

/// Asks for nothing in particular.
#[derive(Debug, Deserialize)]
pub(crate) struct Nothing {}

/// Asks for agents.
#[derive(Debug, Deserialize)]
pub(crate) struct ListAgents {
    #[serde(default, deserialize_with = "count")]
    pub(crate) limit: Option<usize>,
    #[serde(default, deserialize_with = "count")]
    pub(crate) offset: Option<usize>,
}

/// Asks for an agent.
#[derive(Debug, Deserialize)]
pub(crate) struct GetAgent {
    pub(crate) name: String,
}

/// Asks an agent.
#[derive(Debug, Deserialize)]
pub(crate) struct CreateRun {
    pub(crate) agent_name: String,
    pub(crate) input: Vec<Message>,
    #[serde(default)]
    pub(crate) session_id: Option<String>,
    #[serde(default)]
    pub(crate) session: Option<Conversation>,
    #[serde(default)]
    pub(crate) mode: Option<Mode>,
}

/// A conversation as a caller describes it. What else is in it is found in the tasks of the context.
#[derive(Debug, Deserialize)]
pub(crate) struct Conversation {
    pub(crate) id: String,
}

/// What a caller waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    /// The run once it rests.
    #[default]
    Sync,
    /// The run as soon as it exists.
    Async,
    /// What happens to the run.
    Stream,
}

/// Names a run.
#[derive(Debug, Deserialize)]
pub(crate) struct OfRun {
    pub(crate) run_id: String,
}

/// Answers what a run waits for.
#[derive(Debug, Deserialize)]
pub(crate) struct ResumeRun {
    pub(crate) run_id: String,
    pub(crate) await_resume: Awaited,
    #[serde(default)]
    pub(crate) mode: Option<Mode>,
}

/// Names a conversation.
#[derive(Debug, Deserialize)]
pub(crate) struct OfSession {
    pub(crate) session_id: String,
}

/// Names a message.
#[derive(Debug, Deserialize)]
pub(crate) struct OfResource {
    pub(crate) resource_id: String,
}

/// A number, which queries have as text.
fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(usize),
        Text(String),
    }
    let wrong = || serde::de::Error::custom("is no whole number, or a negative one");
    match Option::<Written>::deserialize(deserializer).map_err(|_| wrong())? {
        None => Ok(None),
        Some(Written::Number(number)) => Ok(Some(number)),
        Some(Written::Text(text)) => text.parse().map(Some).map_err(|_| wrong()),
    }
}
