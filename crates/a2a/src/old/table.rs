//! The operations of 0.3, and which row of the table each one is.

use serde_json::{Map, Value};

use super::{Dialect, Request, Rule, reply, request};
use crate::error::Error;
use crate::operation::{Found, Replies, Route, Verb, find_among};

/// An operation of 0.3.
pub struct Row {
    /// Its name in JSON-RPC, if it has one.
    pub method: Option<&'static str>,
    /// Where REST has it, below `/v1`.
    pub routes: &'static [Route],
    /// How many replies there are.
    pub replies: Replies,
    /// What a request of 0.3 asks for.
    pub(super) request: fn(Map<String, Value>, Dialect) -> Result<Request, Error>,
    /// A reply, or one of many, as 0.3 writes it.
    pub(super) reply: fn(Value, Dialect) -> Result<Value, Error>,
    pub(super) rule: Rule,
    /// Fields of the request that 1.0 calls otherwise: the new name, the old name.
    pub(super) fields: &'static [(&'static str, &'static str)],
}

const fn route(verb: Verb, path: &'static str) -> Route {
    Route { verb, path }
}

/// All operations of 0.3, and two that its clients could not call everywhere: listing tasks, and the card.
pub static TABLE: &[Row] = &[
    Row {
        method: Some("message/send"),
        routes: &[route(Verb::Post, "/message:send")],
        replies: Replies::One,
        request: request::send,
        reply: reply::answer,
        rule: Rule::Same,
        fields: &[],
    },
    Row {
        method: Some("message/stream"),
        routes: &[route(Verb::Post, "/message:stream")],
        replies: Replies::Many,
        request: request::stream,
        reply: reply::event,
        rule: Rule::Same,
        fields: &[],
    },
    Row {
        method: Some("tasks/get"),
        routes: &[route(Verb::Get, "/tasks/{id}")],
        replies: Replies::One,
        request: request::get,
        reply: reply::task,
        rule: Rule::Same,
        fields: &[],
    },
    Row {
        method: Some("tasks/list"),
        routes: &[route(Verb::Get, "/tasks")],
        replies: Replies::One,
        request: request::list,
        reply: reply::tasks,
        rule: Rule::Same,
        fields: &[],
    },
    Row {
        method: Some("tasks/cancel"),
        routes: &[route(Verb::Post, "/tasks/{id}:cancel")],
        replies: Replies::One,
        request: request::cancel,
        reply: reply::task,
        rule: Rule::Same,
        fields: &[],
    },
    Row {
        method: Some("tasks/resubscribe"),
        routes: &[
            route(Verb::Get, "/tasks/{id}:subscribe"),
            route(Verb::Post, "/tasks/{id}:subscribe"),
        ],
        replies: Replies::Many,
        request: request::resubscribe,
        reply: reply::event,
        rule: Rule::EndedIsTheTask,
        fields: &[],
    },
    Row {
        method: Some("tasks/pushNotificationConfig/set"),
        routes: &[route(Verb::Post, "/tasks/{id}/pushNotificationConfigs")],
        replies: Replies::One,
        request: request::set_push,
        reply: reply::push,
        rule: Rule::Same,
        fields: &[
            ("id", "pushNotificationConfig.id"),
            ("url", "pushNotificationConfig.url"),
            ("token", "pushNotificationConfig.token"),
            ("authentication", "pushNotificationConfig.authentication"),
        ],
    },
    Row {
        method: Some("tasks/pushNotificationConfig/get"),
        routes: &[route(
            Verb::Get,
            "/tasks/{id}/pushNotificationConfigs/{pushNotificationConfigId}",
        )],
        replies: Replies::One,
        request: request::get_push,
        reply: reply::push,
        rule: Rule::Same,
        fields: &[("taskId", "id"), ("id", "pushNotificationConfigId")],
    },
    Row {
        method: Some("tasks/pushNotificationConfig/list"),
        routes: &[route(Verb::Get, "/tasks/{id}/pushNotificationConfigs")],
        replies: Replies::One,
        request: request::list_push,
        reply: reply::pushes,
        rule: Rule::Same,
        fields: &[("taskId", "id")],
    },
    Row {
        method: Some("tasks/pushNotificationConfig/delete"),
        routes: &[route(
            Verb::Delete,
            "/tasks/{id}/pushNotificationConfigs/{pushNotificationConfigId}",
        )],
        replies: Replies::One,
        request: request::delete_push,
        reply: reply::nothing,
        rule: Rule::Same,
        fields: &[("taskId", "id"), ("id", "pushNotificationConfigId")],
    },
    Row {
        method: Some("agent/getAuthenticatedExtendedCard"),
        routes: &[],
        replies: Replies::One,
        request: request::card,
        reply: reply::card,
        rule: Rule::NotOfferedIsNotConfigured,
        fields: &[],
    },
    Row {
        method: None,
        routes: &[route(Verb::Get, "/card")],
        replies: Replies::One,
        request: request::card,
        reply: reply::card,
        rule: Rule::ElsePublic,
        fields: &[],
    },
];

/// The operation of that name in JSON-RPC.
pub fn named(method: &str) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.method == Some(method))
}

/// What the paths of REST begin with.
pub const PREFIX: &str = "v1";

/// What REST has at a path, given as its segments, the prefix included.
pub fn at(verb: &str, segments: &[String]) -> Found<&'static Row> {
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
