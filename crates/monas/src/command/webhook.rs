//! `monas webhook`: lists and restarts webhooks that a running server has given up. Requests go to `/operator`.

use axum::http::Method;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches};
use serde_json::{Value, json};

use super::client::flags::{self, Options, Output, Scope};
use super::request::{Failure, RunningServer, ask};
use crate::serve::operator::{DEAD, REPLAY};

/// A command about the webhooks of a running server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WebhookCommand {
    pub(crate) options: Options,
    action: Action,
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
    let both = |command: clap::Command| {
        command
            .args(flags::arguments(Scope::Servers))
            .arg(super::config_file())
    };
    clap::Command::new("webhook")
        .about("List and restart webhooks that a running server has given up")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(both(
            clap::Command::new("dead")
                .about("List webhooks that were given up")
                .after_help("monas webhook dead -o json"),
        ))
        .subcommand(both(
            clap::Command::new("replay")
                .about("Restart webhooks that were given up, after their last delivered event")
                .after_help("monas webhook replay --all")
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

impl WebhookCommand {
    /// Reads the subcommand `name` of [`definition`].
    pub(crate) fn read(name: &str, matches: &ArgMatches, options: Options) -> Self {
        let action = match name {
            "dead" => Action::Dead,
            _ => {
                let ids = matches.get_many::<String>("id");
                Action::Replay(ids.into_iter().flatten().cloned().collect())
            }
        };
        Self { options, action }
    }

    /// Sends the requests; lines go to `say`.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Failure> {
        let server = RunningServer::find(&self.options);
        match &self.action {
            Action::Dead => self.list(&server, say).await,
            Action::Replay(ids) if ids.is_empty() => {
                self.replay(&server, &json!({ "all": true }), &say).await
            }
            Action::Replay(ids) => {
                for id in ids {
                    self.replay(&server, &json!({ "id": id }), &say).await?;
                }
                Ok(())
            }
        }
    }

    fn json(&self) -> bool {
        self.options.output == Output::Json
    }

    /// Prints one line for each webhook, or one JSON object.
    async fn list(
        &self,
        server: &RunningServer,
        say: impl Fn(&str) -> bool,
    ) -> Result<(), Failure> {
        let mut after = String::new();
        loop {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("after", &after)
                .finish();
            let path = format!("{DEAD}?{query}");
            let page = ask(server, Method::GET, &path, &Value::Null).await?;
            for webhook in page["webhooks"].as_array().into_iter().flatten() {
                let read = if self.json() {
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

    async fn replay(
        &self,
        server: &RunningServer,
        which: &Value,
        say: impl Fn(&str) -> bool,
    ) -> Result<(), Failure> {
        let answer = ask(server, Method::POST, REPLAY, which).await?;
        if self.json() {
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
