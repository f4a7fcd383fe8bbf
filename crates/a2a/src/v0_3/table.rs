//! The operations of 0.3, and which row of the table each one is.

use bytes::Bytes;
use serde_json::{Map, Value};

use super::{Dialect, Request, Rule, client_reply, client_request, reply, request, types};
use crate::error::Error;
use crate::operation::{Operation, Replies, Route, RouteMatch, Verb, find_among};
use crate::types::Empty;
use crate::types::wire::{MessageDescription, WireMessage};

/// An operation of 0.3.
pub struct Row {
    /// The operation of the table that it is.
    pub operation: &'static str,
    /// Its name in JSON-RPC, if it has one.
    pub method: Option<&'static str>,
    /// Its method in gRPC, if it has one.
    pub rpc: Option<Rpc>,
    /// Where REST has it, below `/v1`.
    pub routes: &'static [Route],
    /// How many replies there are.
    pub replies: Replies,
    /// What a request of 0.3 asks for.
    pub(super) request: fn(Map<String, Value>, Dialect) -> Result<Request, Error>,
    /// A reply, or one of many, as 0.3 writes it.
    pub(super) reply: fn(Value, Dialect) -> Result<Value, Error>,
    /// A request of 1.0 as 0.3 writes it.
    pub(super) ask: fn(Map<String, Value>, Dialect) -> Map<String, Value>,
    /// A reply of 0.3 as 1.0 has it.
    pub(super) hear: fn(Value) -> Result<Value, Error>,
    pub(super) rule: Rule,
    /// Fields of the request that 1.0 calls otherwise: the new name, the old name.
    pub(super) fields: &'static [(&'static str, &'static str)],
}

/// A method of the gRPC service, which passes protobuf on as the JSON that stands for it.
#[derive(Debug)]
pub struct Rpc {
    pub name: &'static str,
    pub request: fn() -> &'static MessageDescription,
    /// What it gives, once or again and again.
    pub reply: fn() -> &'static MessageDescription,
    pub(super) read: fn(Bytes) -> Result<Value, Error>,
    pub(super) write: fn(Value) -> Result<Bytes, Error>,
    /// The same two from the other end.
    pub(super) write_request: fn(Value) -> Result<Bytes, Error>,
    pub(super) read_reply: fn(Bytes) -> Result<Value, Error>,
}

impl Rpc {
    const fn new<Q: WireMessage, R: WireMessage>(name: &'static str) -> Self {
        Self {
            name,
            request: Q::describe,
            reply: R::describe,
            read: read::<Q>,
            write: write::<R>,
            write_request: write::<Q>,
            read_reply: read::<R>,
        }
    }
}

fn read<T: WireMessage>(body: Bytes) -> Result<Value, Error> {
    let message = T::from_protobuf(body)?;
    Ok(serde_json::to_value(message).expect("a message is always JSON"))
}

fn write<T: WireMessage>(json: Value) -> Result<Bytes, Error> {
    let failed = |error| Error::Internal(format!("translate a message: {error}"));
    Ok(T::deserialize(json).map_err(failed)?.to_protobuf())
}

const fn route(verb: Verb, path: &'static str) -> Route {
    Route { verb, path }
}

/// All operations of 0.3, and two that its clients could not call everywhere: listing tasks, and the card.
pub static TABLE: &[Row] = &[
    Row {
        operation: "SendMessage",
        method: Some("message/send"),
        rpc: Some(Rpc::new::<
            types::SendMessageRequest,
            types::SendMessageResponse,
        >("SendMessage")),
        routes: &[route(Verb::Post, "/message:send")],
        replies: Replies::One,
        request: request::send,
        reply: reply::answer,
        ask: client_request::send,
        hear: client_reply::event,
        rule: Rule::Same,
        fields: &[],
    },
    Row {
        operation: "SendStreamingMessage",
        method: Some("message/stream"),
        rpc: Some(
            Rpc::new::<types::SendMessageRequest, types::StreamResponse>("SendStreamingMessage"),
        ),
        routes: &[route(Verb::Post, "/message:stream")],
        replies: Replies::Many,
        request: request::stream,
        reply: reply::event,
        ask: client_request::send,
        hear: client_reply::event,
        rule: Rule::Same,
        fields: &[],
    },
    Row {
        operation: "GetTask",
        method: Some("tasks/get"),
        rpc: Some(Rpc::new::<types::GetTaskRequest, types::Task>("GetTask")),
        routes: &[route(Verb::Get, "/tasks/{id}")],
        replies: Replies::One,
        request: request::get,
        reply: reply::task,
        ask: client_request::about_task,
        hear: client_reply::task,
        rule: Rule::Same,
        fields: &[],
    },
    Row {
        operation: "ListTasks",
        method: Some("tasks/list"),
        rpc: None,
        routes: &[route(Verb::Get, "/tasks")],
        replies: Replies::One,
        request: request::list,
        reply: reply::tasks,
        ask: client_request::list,
        hear: client_reply::tasks,
        rule: Rule::Same,
        fields: &[],
    },
    Row {
        operation: "CancelTask",
        method: Some("tasks/cancel"),
        rpc: Some(Rpc::new::<types::CancelTaskRequest, types::Task>(
            "CancelTask",
        )),
        routes: &[route(Verb::Post, "/tasks/{id}:cancel")],
        replies: Replies::One,
        request: request::cancel,
        reply: reply::task,
        ask: client_request::about_task,
        hear: client_reply::task,
        rule: Rule::Same,
        fields: &[],
    },
    Row {
        operation: "SubscribeToTask",
        method: Some("tasks/resubscribe"),
        rpc: Some(Rpc::new::<
            types::TaskSubscriptionRequest,
            types::StreamResponse,
        >("TaskSubscription")),
        routes: &[
            route(Verb::Get, "/tasks/{id}:subscribe"),
            route(Verb::Post, "/tasks/{id}:subscribe"),
        ],
        replies: Replies::Many,
        request: request::resubscribe,
        reply: reply::event,
        ask: client_request::about_task,
        hear: client_reply::event,
        rule: Rule::EndedIsTheTask,
        fields: &[],
    },
    Row {
        operation: "CreateTaskPushNotificationConfig",
        method: Some("tasks/pushNotificationConfig/set"),
        rpc: Some(Rpc::new::<
            types::CreateTaskPushNotificationConfigRequest,
            types::TaskPushNotificationConfig,
        >("CreateTaskPushNotificationConfig")),
        routes: &[route(Verb::Post, "/tasks/{id}/pushNotificationConfigs")],
        replies: Replies::One,
        request: request::set_push,
        reply: reply::push,
        ask: client_request::set_push,
        hear: client_reply::push,
        rule: Rule::Same,
        fields: &[
            ("id", "pushNotificationConfig.id"),
            ("url", "pushNotificationConfig.url"),
            ("token", "pushNotificationConfig.token"),
            ("authentication", "pushNotificationConfig.authentication"),
        ],
    },
    Row {
        operation: "GetTaskPushNotificationConfig",
        method: Some("tasks/pushNotificationConfig/get"),
        rpc: Some(Rpc::new::<
            types::GetTaskPushNotificationConfigRequest,
            types::TaskPushNotificationConfig,
        >("GetTaskPushNotificationConfig")),
        routes: &[route(
            Verb::Get,
            "/tasks/{id}/pushNotificationConfigs/{pushNotificationConfigId}",
        )],
        replies: Replies::One,
        request: request::get_push,
        reply: reply::push,
        ask: client_request::about_push,
        hear: client_reply::push,
        rule: Rule::Same,
        fields: &[("taskId", "id"), ("id", "pushNotificationConfigId")],
    },
    Row {
        operation: "ListTaskPushNotificationConfigs",
        method: Some("tasks/pushNotificationConfig/list"),
        rpc: Some(Rpc::new::<
            types::ListTaskPushNotificationConfigRequest,
            types::ListTaskPushNotificationConfigResponse,
        >("ListTaskPushNotificationConfig")),
        routes: &[route(Verb::Get, "/tasks/{id}/pushNotificationConfigs")],
        replies: Replies::One,
        request: request::list_push,
        reply: reply::pushes,
        ask: client_request::list_push,
        hear: client_reply::pushes,
        rule: Rule::Same,
        fields: &[("taskId", "id")],
    },
    Row {
        operation: "DeleteTaskPushNotificationConfig",
        method: Some("tasks/pushNotificationConfig/delete"),
        rpc: Some(Rpc::new::<
            types::DeleteTaskPushNotificationConfigRequest,
            Empty,
        >("DeleteTaskPushNotificationConfig")),
        routes: &[route(
            Verb::Delete,
            "/tasks/{id}/pushNotificationConfigs/{pushNotificationConfigId}",
        )],
        replies: Replies::One,
        request: request::delete_push,
        reply: reply::nothing,
        ask: client_request::about_push,
        hear: client_reply::nothing,
        rule: Rule::Same,
        fields: &[("taskId", "id"), ("id", "pushNotificationConfigId")],
    },
    Row {
        operation: "GetExtendedAgentCard",
        method: Some("agent/getAuthenticatedExtendedCard"),
        rpc: None,
        routes: &[],
        replies: Replies::One,
        request: request::card,
        reply: reply::card,
        ask: client_request::nothing,
        hear: client_reply::card,
        rule: Rule::NotOfferedIsNotConfigured,
        fields: &[],
    },
    Row {
        operation: "GetExtendedAgentCard",
        method: None,
        rpc: None,
        routes: &[route(Verb::Get, "/card")],
        replies: Replies::One,
        request: request::card,
        reply: reply::card,
        ask: client_request::nothing,
        hear: client_reply::card,
        rule: Rule::ElsePublic,
        fields: &[],
    },
    Row {
        operation: "GetExtendedAgentCard",
        method: None,
        rpc: Some(Rpc::new::<types::GetAgentCardRequest, types::AgentCard>(
            "GetAgentCard",
        )),
        routes: &[],
        replies: Replies::One,
        request: request::card,
        reply: reply::proto_card,
        ask: client_request::nothing,
        hear: client_reply::card,
        rule: Rule::ElsePublic,
        fields: &[],
    },
];

/// The operation of that name in JSON-RPC.
pub fn named(method: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.method == Some(method))
}

/// The card for a caller of this name who gets the public one where there is no other.
pub(crate) fn card_or_public(method: &str) -> Option<&'static Row> {
    let asked = named(method).filter(|it| it.rule == Rule::NotOfferedIsNotConfigured)?;
    let row = |row: &&Row| row.operation == asked.operation && !row.routes.is_empty();
    TABLE.iter().find(row)
}

/// What an operation of the table was in 0.3.
pub fn of(operation: &Operation) -> Option<&'static Row> {
    let row = |row: &&Row| row.operation == operation.name && row.method.is_some();
    TABLE.iter().find(row)
}

/// The operation of that name in gRPC.
pub fn rpc(name: &str) -> Option<&'static Row> {
    let named = |row: &&Row| row.rpc.as_ref().is_some_and(|rpc| rpc.name == name);
    TABLE.iter().find(named)
}

/// The row of 0.3 for an operation, among those that the wire `has`.
pub(crate) fn asking(operation: &Operation, has: impl Fn(&Row) -> bool) -> Option<&'static Row> {
    TABLE
        .iter()
        .find(|row| row.operation == operation.name && has(row))
}

/// What the paths of REST begin with.
pub const PREFIX: &str = "v1";

/// What REST has at a path, given as its segments, the prefix included.
pub fn at(verb: &str, segments: &[String]) -> RouteMatch<&'static Row> {
    let rows = TABLE.iter().map(|row| (row, row.routes));
    let rest = segments.get(1..).unwrap_or_default();
    find_among(&rows, verb, rest)
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Row")
            .field("method", &self.method)
            .field("routes", &self.routes)
            .finish_non_exhaustive()
    }
}
