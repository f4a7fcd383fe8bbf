//! THE TABLE: every operation of the protocol, once.
//!
//! A row says what an operation is called, its REST routes, its request and reply, whether it replies once or with a
//! stream, what it needs of its caller, and what the card must offer for it. From the row come: dispatch in all five bindings, the gRPC descriptors
//! that reflection serves, the method of [`Client`], the TypeScript declarations, and the tests
//! that run every operation over every binding. A binding finds a row by name or route, hands over the request as
//! bytes in one of two formats, and gets the reply as bytes; it never sees a typed request. So a binding cannot forget an
//! operation, and five bindings cannot disagree about one.
//!
//! [`Operation::perform`] has a fixed order: first whether the card offers the operation and the caller knows the
//! required extensions, then whether the caller may ([`Rule`]), then decoding, then the fields from path or query (they
//! win over the body), then the check of required fields, all faults at once, then whether the caller may do this to the
//! task that the request names, and only then the service. A caller is authenticated before, by the binding.
//!
//! To add an operation: a row here, a method of [`Service`], and for 0.3 a row in
//! [`v0_3`](crate::v0_3). A `match` on operations anywhere else is a sign that a column is missing here.

use std::sync::Arc;

use access::Rule;
use bytes::Bytes;
use futures_core::future::BoxFuture;
use futures_core::stream::BoxStream;
use futures_util::{StreamExt as _, TryFutureExt as _};
use serde_json::{Map, Value as Json};

#[cfg(feature = "client")]
use crate::client::{self, Client, Events};
use crate::error::Error;
use crate::event::{self, Format};
use crate::generation::{Generations, Hide};
use crate::service::{Call, Service};
use crate::types::wire::{FieldDescription, MessageDescription, WireMessage};
use crate::types::*;

#[cfg(any(feature = "client", feature = "http"))]
pub(crate) use capnweb::beside;

/// Does the work at once: nothing here is served.
#[cfg(not(any(feature = "client", feature = "http")))]
pub(crate) async fn beside<T>(_: usize, work: impl FnOnce() -> T) -> T {
    work()
}

mod route;
#[cfg(test)]
#[path = "operation/route_tests.rs"]
mod route_tests;

pub use route::{Fields, Route, RouteMatch, Verb, find, find_among};

/// One row: an operation.
#[derive(Debug)]
pub struct Operation {
    /// Its name: the method of JSON-RPC, the rpc of gRPC.
    pub name: &'static str,
    /// Where REST has it; the first is the one to call.
    pub routes: &'static [Route],
    /// The fields of the request in the order of positional arguments.
    pub positional: &'static [&'static str],
    /// How many replies there are.
    pub replies: Replies,
    /// What it is called where its replies go to an object of the caller's.
    pub calling_back: Option<&'static str>,
    /// What the card must offer for it to be served.
    pub needs: Need,
    /// What it needs of its caller.
    pub rule: Rule,
    pub request: fn() -> &'static MessageDescription,
    /// What it gives, once or again and again.
    pub reply: fn() -> &'static MessageDescription,
    perform: fn(&dyn Service, Call, Input) -> Performing,
}

/// Whether an operation has one reply or a stream of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replies {
    One,
    /// Any number, in order.
    Many,
}

/// What the card must offer for an operation to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it is always served.
    Nothing,
    Streaming,
    Push,
    ExtendedCard,
}

/// A request as a binding hands it over.
#[derive(Clone, Debug)]
pub struct Input {
    /// How the body is written, and how the reply is to be.
    pub format: Format,
    /// The request; empty for one without fields.
    pub body: Bytes,
    /// Fields that came beside the body, in a path or a query. They win over the body's.
    pub fields: Fields,
}

/// A reply as a binding gets it.
pub enum Reply {
    One(Bytes),
    /// The replies, in portions that were there at the same moment.
    Many(BoxStream<'static, Result<Vec<Frame>, Error>>),
}

/// One of many replies.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Where a caller that lost the connection after this one goes on.
    pub cursor: Option<u64>,
    pub body: Bytes,
    /// The event that it is and how it is shown, unless it was translated: what is made of that is made once for all who get it.
    #[cfg(feature = "http")]
    pub(crate) event: Option<(Arc<event::Event>, Generations)>,
}

impl Frame {
    /// A reply in other words than those of its event.
    pub fn translated(cursor: Option<u64>, body: Bytes) -> Self {
        Self {
            cursor,
            body,
            #[cfg(feature = "http")]
            event: None,
        }
    }
}

type Performing = BoxFuture<'static, Result<Reply, Error>>;

macro_rules! operations {
    ($(
        $(#[$doc:meta])*
        $name:ident($($positional:ident),*): $request:ident => $replies:ident $reply:ident,
        by $method:ident, needs $need:ident, caller $rule:ident$(.$strict:ident())? $(about $task:ident)?,
        $(calling back $calling_back:literal,)?
        at $($verb:ident $path:literal),+;
    )*) => {
        /// All operations, in the order of the specification.
        pub static TABLE: &[Operation] = &[$(
            Operation {
                name: stringify!($name),
                routes: &[$(Route { verb: Verb::$verb, path: $path }),+],
                positional: &[$(stringify!($positional)),*],
                replies: Replies::$replies,
                calling_back: operations!(@calling_back $($calling_back)?),
                needs: Need::$need,
                rule: Rule::$rule(stringify!($name))$(.$strict())?,
                request: $request::describe,
                reply: $reply::describe,
                perform: |service, call, input| {
                    let (format, generations) = (input.format, call.generations);
                    let checked = input.read().and_then(|request: $request| {
                        let rule = Rule::$rule(stringify!($name));
                        rule.check_task(&call.caller, operations!(@task call request $($task)?))?;
                        Ok(request)
                    });
                    match checked {
                        Ok(request) => {
                            operations!(@$replies service.$method(call, request), format, generations)
                        }
                        Err(error) => Box::pin(std::future::ready(Err(error))),
                    }
                },
            },
        )*];

        /// The operations, asked of an agent somewhere.
        #[cfg(feature = "client")]
        impl Client {$(
            $(#[$doc])*
            pub async fn $method(
                &self,
                request: $request,
            ) -> Result<operations!(@$replies $reply), client::Error> {
                let row = named(stringify!($name)).expect("this very row");
                operations!(@$replies self, row, request)
            }
        )*}
    };
    (@task $call:ident $request:ident) => { None };
    // A list shows what the caller may see: of a caller that may see one task, that one.
    (@task $call:ident $request:ident listed) => { $call.caller.bounds().task.as_deref() };
    (@task $call:ident $request:ident message) => {
        $request.message.as_ref().map(|it| &*it.task_id).filter(|id| !id.is_empty())
    };
    (@task $call:ident $request:ident $field:ident) => { Some(&*$request.$field) };
    (@calling_back) => { None };
    (@calling_back $name:literal) => { Some($name) };
    (@One $reply:ident) => { $reply };
    (@Many $reply:ident) => { Events };
    (@One $client:ident, $row:ident, $request:ident) => { $client.one($row, $request).await };
    (@Many $client:ident, $row:ident, $request:ident) => { $client.many($row, $request).await };
    (@One $replying:expr, $format:ident, $generations:ident) => {
        Box::pin($replying.map_ok(move |reply| Reply::One(encode(reply, $format, $generations))))
    };
    (@Many $replying:expr, $format:ident, $generations:ident) => {
        Box::pin($replying.map_ok(move |events| {
            Reply::Many(Box::pin(events.map(move |portion| {
                let frame = |event: &Arc<event::Event>| Frame {
                    cursor: event.cursor(),
                    body: event.encode($format, $generations),
                    #[cfg(feature = "http")]
                    event: Some((event.clone(), $generations)),
                };
                portion.map(|events| events.iter().map(frame).collect())
            })))
        }))
    };
}

operations! {
    /// Sends a message; the answer is a message, or the task it led to.
    SendMessage(message, configuration, metadata): SendMessageRequest => One SendMessageResponse,
        by send_message, needs Nothing, caller changes about message, at Post "/message:send";
    /// Sends a message; what comes of it is streamed.
    SendStreamingMessage(message, configuration, metadata): SendMessageRequest => Many StreamResponse,
        by send_streaming_message, needs Streaming, caller changes about message, calling back "sendMessageStreaming",
        at Post "/message:stream";
    /// A task as it is now, or once it has passed a generation.
    GetTask(id, history_length, current_generation): GetTaskRequest => One Task,
        by get_task, needs Nothing, caller reads about id, at Get "/tasks/{id}";
    /// The caller's tasks, those that changed last first.
    ListTasks(context_id, status, page_size, page_token, history_length, status_timestamp_after, include_artifacts):
        ListTasksRequest => One ListTasksResponse,
        by list_tasks, needs Nothing, caller reads about listed, at Get "/tasks";
    /// Ends a task that has not ended.
    CancelTask(id, metadata): CancelTaskRequest => One Task,
        by cancel_task, needs Nothing, caller changes about id, at Post "/tasks/{id}:cancel";
    // The text of the specification says POST, its proto says GET.
    /// A task as it is now, then what happens to it.
    SubscribeToTask(id): SubscribeToTaskRequest => Many StreamResponse,
        by subscribe_to_task, needs Streaming, caller reads about id, calling back "subscribeToPushNotifications",
        at Post "/tasks/{id}:subscribe", Get "/tasks/{id}:subscribe";
    /// Has what happens to a task posted to an address.
    CreateTaskPushNotificationConfig(task_id, url, token, authentication, id):
        TaskPushNotificationConfig => One TaskPushNotificationConfig,
        by create_push_config, needs Push, caller changes about task_id, at Post "/tasks/{task_id}/pushNotificationConfigs";
    /// One webhook of a task.
    GetTaskPushNotificationConfig(task_id, id): GetTaskPushNotificationConfigRequest => One TaskPushNotificationConfig,
        by get_push_config, needs Push, caller reads about task_id, at Get "/tasks/{task_id}/pushNotificationConfigs/{id}";
    /// The webhooks of a task.
    ListTaskPushNotificationConfigs(task_id, page_size, page_token):
        ListTaskPushNotificationConfigsRequest => One ListTaskPushNotificationConfigsResponse,
        by list_push_configs, needs Push, caller reads about task_id, at Get "/tasks/{task_id}/pushNotificationConfigs";
    /// Deletes a webhook of a task.
    DeleteTaskPushNotificationConfig(task_id, id): DeleteTaskPushNotificationConfigRequest => One Empty,
        by delete_push_config, needs Push, caller changes about task_id, at Delete "/tasks/{task_id}/pushNotificationConfigs/{id}";
    /// The card for callers who are known.
    GetExtendedAgentCard(): GetExtendedAgentCardRequest => One AgentCard,
        by get_extended_card, needs ExtendedCard, caller reads.named(), at Get "/extendedAgentCard";
}

/// The row of that name.
pub fn named(name: &str) -> Option<&'static Operation> {
    TABLE.iter().find(|operation| operation.name == name)
}

/// The row that a method of an object stands for: its name, which may begin with a small letter.
pub fn method(name: &str) -> Option<&'static Operation> {
    let (first, rest) = name.split_at_checked(1)?;
    TABLE.iter().find(|operation| {
        let row = operation.name.split_at(1);
        row.0.eq_ignore_ascii_case(first) && row.1 == rest
    })
}

/// The row of a method that sends its replies to a callback of the caller.
pub fn calling_back(name: &str) -> Option<&'static Operation> {
    TABLE
        .iter()
        .find(|operation| operation.calling_back == Some(name))
}

/// The row that follows a task, given nothing but its id.
pub fn following() -> Option<&'static Operation> {
    TABLE
        .iter()
        .find(|operation| operation.replies == Replies::Many && operation.positional == ["id"])
}

impl Operation {
    /// Whether it can be performed twice without harm: what REST does not have by POST alone.
    pub fn is_safe(&self) -> bool {
        self.routes.iter().any(|route| route.verb != Verb::Post)
    }

    /// Whether it sends a message, which has an id by which repetitions are recognised.
    pub fn is_send(&self) -> bool {
        self.positional.first() == Some(&"message")
    }

    /// Whether it shows the task of an id, and no more.
    pub fn shows_a_task(&self) -> bool {
        self.replies == Replies::One && self.is_safe() && self.positional.first() == Some(&"id")
    }

    /// A field of its request, by its name in protobuf.
    pub fn field(&self, name: &str) -> Option<FieldDescription> {
        (self.request)().fields().find(|field| field.name == name)
    }

    /// Performs a call: checks that it is offered and that the caller may, reads the request, has the service answer it
    /// and writes the reply.
    pub async fn perform(
        &self,
        service: &dyn Service,
        call: Call,
        input: Input,
    ) -> Result<Reply, Error> {
        self.admit(service.card(), &call)?;
        self.rule.check(&call.caller)?;
        let (bytes, begin) = (input.body.len(), || (self.perform)(service, call, input));
        beside(bytes, begin).await.await
    }

    /// Whether the card offers the operation, and the caller knows every extension it requires.
    fn admit(&self, card: &AgentCard, call: &Call) -> Result<(), Error> {
        let none = AgentCapabilities::default();
        let offered = card.capabilities.as_ref().unwrap_or(&none);
        let missing =
            |what: &str| Error::UnsupportedOperation(format!("this agent offers no {what}"));
        match self.needs {
            Need::Streaming if offered.streaming != Some(true) => return Err(missing("streaming")),
            Need::ExtendedCard if offered.extended_agent_card != Some(true) => {
                return Err(missing("extended card"));
            }
            Need::Push if offered.push_notifications != Some(true) => {
                return Err(Error::PushNotificationNotSupported);
            }
            _ => {}
        }
        let required = offered
            .extensions
            .iter()
            .filter(|extension| extension.required);
        match required
            .map(|extension| &extension.uri)
            .find(|uri| !call.extensions.contains(uri))
        {
            Some(uri) => Err(Error::ExtensionSupportRequired(uri.clone())),
            None => Ok(()),
        }
    }
}

impl Reply {
    /// The reply with each of its bodies translated.
    pub(crate) fn translated(
        self,
        translate: impl Fn(&Bytes) -> Result<Bytes, Error> + Send + 'static,
    ) -> Result<Self, Error> {
        Ok(match self {
            Self::One(body) => Self::One(translate(&body)?),
            Self::Many(portions) => Self::Many(Box::pin(portions.map(move |portion| {
                let frame = |Frame { cursor, body, .. }| {
                    translate(&body).map(|body| Frame::translated(cursor, body))
                };
                portion?.into_iter().map(frame).collect()
            }))),
        })
    }
}

impl Input {
    /// A request that is JSON, with nothing beside it.
    pub(crate) fn json(request: &Map<String, Json>) -> Self {
        let body = serde_json::to_vec(request).expect("JSON is always written");
        Self {
            format: Format::Json,
            body: body.into(),
            fields: Vec::new(),
        }
    }

    /// The typed request: complete, or an error that names every field that will not do.
    fn read<T: WireMessage>(self) -> Result<T, Error> {
        let mut request = match self.format {
            _ if self.body.is_empty() => T::default(),
            Format::Json => T::from_json(&self.body)?,
            Format::Protobuf => T::from_protobuf(self.body)?,
        };
        for (field, text) in &self.fields {
            // Unknown fields are ignored, as they are in a body.
            request.set_text(field, text)?;
        }
        let violations = request.violations();
        if violations.is_empty() {
            Ok(request)
        } else {
            Err(Error::violated(violations))
        }
    }
}

fn encode(mut reply: impl WireMessage + Hide, format: Format, generations: Generations) -> Bytes {
    if generations == Generations::Hidden {
        reply.hide_generations();
    }
    match format {
        Format::Json => reply.to_json(),
        Format::Protobuf => reply.to_protobuf(),
    }
}

impl std::fmt::Debug for Reply {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One(body) => f.debug_tuple("One").field(body).finish(),
            Self::Many(_) => f.write_str("Many(..)"),
        }
    }
}
