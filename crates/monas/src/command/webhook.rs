//! `monas webhook`: lists and restarts webhooks that a running server has given up. Requests go to `/operator`.

use axum::http::{Method, Uri};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches};
use serde_json::{Value, json};

use super::request::{Failure, Server, ask};
use crate::command::client::Secret;
use crate::config::Outbound;
use crate::serve::operator::{DEAD, REPLAY};

/// A command about the webhooks of a running server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WebhookCommand {
    server: Server,
    action: Action,
    json: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    /// List the webhooks that were given up.
    Dead,
    /// Restart these webhooks; all of them without an id.
    Replay(Vec<String>),
}

/// The command line of `monas webhook`.
pub(crate) fn definition() -> clap::Command {
    let server = Arg::new("server")
        .long("server")
        .value_name("URL")
        .default_value("http://127.0.0.1:8080")
        .value_parser(address)
        .help("The running server");
    let output = Arg::new("output")
        .short('o')
        .long("output")
        .value_parser(PossibleValuesParser::new(["text", "json"]))
        .default_value("text")
        .help("The output format");
    let bearer = Arg::new("bearer")
        .long("bearer")
        .value_name("TOKEN")
        .help("A bearer token with the scope operator [A2ACLI_BEARER]");
    let both = |command: clap::Command| {
        let arguments = [
            server.clone(),
            output.clone(),
            bearer.clone(),
            super::ca_cert(),
        ];
        command.args(arguments)
    };
    clap::Command::new("webhook")
        .about("List and restart webhooks that a running server has given up")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(both(
            clap::Command::new("dead").about("List webhooks that were given up"),
        ))
        .subcommand(both(
            clap::Command::new("replay")
                .about("Restart webhooks that were given up, after their last delivered event")
                .arg(
                    Arg::new("id")
                        .value_name("ID")
                        .action(ArgAction::Append)
                        .help("The webhooks, by the ids that `monas webhook dead` prints"),
                )
                .arg(
                    Arg::new("all")
                        .long("all")
                        .action(ArgAction::SetTrue)
                        .help("Restart all of them"),
                )
                .group(ArgGroup::new("which").args(["id", "all"]).required(true)),
        ))
}

fn address(text: &str) -> Result<Uri, &'static str> {
    let expected = "expected an address such as http://127.0.0.1:8080";
    let uri: Uri = text.parse().map_err(|_| expected)?;
    let known = matches!(uri.scheme_str(), Some("http" | "https"));
    if known && uri.host().is_some() {
        Ok(uri)
    } else {
        Err(expected)
    }
}

impl WebhookCommand {
    /// Reads the matches of [`definition`]; none without a subcommand.
    pub(crate) fn read(
        matches: &ArgMatches,
        outbound: Outbound,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let (name, matches) = matches.subcommand()?;
        let action = match name {
            "dead" => Action::Dead,
            _ => {
                let ids = matches.get_many::<String>("id");
                Action::Replay(ids.into_iter().flatten().cloned().collect())
            }
        };
        Some(Self {
            server: Server {
                address: matches.get_one::<Uri>("server")?.clone(),
                bearer: matches
                    .get_one::<String>("bearer")
                    .cloned()
                    .or_else(|| environment("A2ACLI_BEARER"))
                    .map(Secret::new),
                outbound,
            },
            action,
            json: matches
                .get_one::<String>("output")
                .is_some_and(|it| it == "json"),
        })
    }

    /// Sends the requests; lines go to `say`.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Failure> {
        match &self.action {
            Action::Dead => self.list(say).await,
            Action::Replay(ids) if ids.is_empty() => {
                self.replay(&json!({ "all": true }), &say).await
            }
            Action::Replay(ids) => {
                for id in ids {
                    self.replay(&json!({ "id": id }), &say).await?;
                }
                Ok(())
            }
        }
    }

    /// Prints one line for each webhook, or one JSON object.
    async fn list(&self, say: impl Fn(&str) -> bool) -> Result<(), Failure> {
        let mut after = String::new();
        loop {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("after", &after)
                .finish();
            let path = format!("{DEAD}?{query}");
            let page = ask(&self.server, Method::GET, &path, &Value::Null).await?;
            for webhook in page["webhooks"].as_array().into_iter().flatten() {
                let read = if self.json {
                    say(&webhook.to_string())
                } else {
                    let text = |name: &str| match &webhook[name] {
                        Value::String(text) => text.clone(),
                        other => other.to_string(),
                    };
                    let (at, id, url) = (text("at"), text("id"), text("url"));
                    let (delivered, reason) = (text("delivered"), text("reason"));
                    say(&format!("{id}  {url}  after {delivered}, {at}: {reason}"))
                };
                if !read {
                    return Ok(());
                }
            }
            match page["next"].as_str() {
                None | Some("") => return Ok(()),
                Some(next) => next.clone_into(&mut after),
            }
        }
    }

    async fn replay(&self, which: &Value, say: impl Fn(&str) -> bool) -> Result<(), Failure> {
        let answer = ask(&self.server, Method::POST, REPLAY, which).await?;
        if self.json {
            say(&answer.to_string());
            return Ok(());
        }
        let replayed = answer["replayed"].as_array().map_or(&[][..], Vec::as_slice);
        if replayed.is_empty() {
            say("no webhook was given up");
        }
        for id in replayed.iter().filter_map(Value::as_str) {
            say(&format!("{id} restarted"));
        }
        Ok(())
    }
}
