//! The common part of `monas capability`, `key`, `secret` and `user`: each works on a list of entries that the server keeps as data,
//! with a path for the list and one below it for each entry.

use axum::http::Method;
use clap::{Arg, ArgMatches};
use serde_json::Value;

use crate::command::backend::{Backend, DataOptions};
use crate::error::Error;

/// What is done with entries that are made with a secret and end when they are revoked.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// With the body of the request.
    Create(Value),
    List,
    /// With the id of the entry.
    Revoke(String),
}

impl Action {
    /// Reads the subcommand `name`; `body` makes the body of a request that creates an entry.
    pub(super) fn read(
        name: &str,
        matches: &ArgMatches,
        body: impl Fn(&ArgMatches) -> Value,
    ) -> Self {
        match name {
            "create" => Self::Create(body(matches)),
            "revoke" => Self::Revoke(given(matches, "id")),
            _ => Self::List,
        }
    }

    /// Sends the request about the list at `path`, and returns the reply.
    pub(super) async fn send(&self, backend: &Backend, path: &str) -> Result<String, Error> {
        let (method, path, body) = match self {
            Self::Create(body) => (Method::POST, path.to_owned(), body.to_string()),
            Self::List => (Method::GET, path.to_owned(), String::new()),
            Self::Revoke(id) => (Method::DELETE, entry_path(path, id), String::new()),
        };
        backend.text(method, &path, body).await
    }
}

/// The command `name` with its subcommands; `settings` are the flags of the server, which name the data.
pub(super) fn definition<const N: usize>(
    name: &'static str,
    about: &'static str,
    subcommands: [clap::Command; N],
    settings: &[Arg],
) -> clap::Command {
    clap::Command::new(name)
        .about(about)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(subcommands.map(|command| DataOptions::arguments(command, settings)))
}

/// The argument that names an entry.
pub(super) fn positional(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).value_name(value).required(true).help(help)
}

/// A flag with a value.
pub(super) fn flag(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// The text of an argument; empty if the subcommand has no such argument, or it was not given.
pub(super) fn given(matches: &ArgMatches, name: &str) -> String {
    let text = matches.try_get_one::<String>(name).ok().flatten();
    text.cloned().unwrap_or_default()
}

/// The path of an entry.
pub(super) fn entry_path(list: &str, id: &str) -> String {
    let id: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
    format!("{list}/{id}")
}
