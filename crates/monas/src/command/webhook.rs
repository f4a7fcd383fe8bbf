//! `monas webhook`: the operator's requests, from the command line.

use axum::http::{Method, Uri};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches};
use serde_json::{Value, json};

use super::request::{Failure, Server, ask};
use crate::command::client::Secret;
use crate::config::Outbound;
use crate::serve::operator::{DEAD, REPLAY};

/// What is asked of a running server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    server: Server,
    what: What,
    json: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    /// Which webhooks were given up.
    Dead,
    /// These go on; without a name all of them.
    Replay(Vec<String>),
}

/// The command line of it.
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
        .help("What to print");
    let bearer = Arg::new("bearer")
        .long("bearer")
        .value_name("TOKEN")
        .help("Who asks, by a bearer token with the scope operator [A2ACLI_BEARER]");
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
        .about("Look after webhooks of a running server")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(both(
            clap::Command::new("dead").about("List webhooks that were given up"),
        ))
        .subcommand(both(
            clap::Command::new("replay")
                .about("Have webhooks go on that were given up, from where they are")
                .arg(
                    Arg::new("id")
                        .value_name("ID")
                        .action(ArgAction::Append)
                        .help("Which ones, as `monas webhook dead` names them"),
                )
                .arg(
                    Arg::new("all")
                        .long("all")
                        .action(ArgAction::SetTrue)
                        .help("All of them"),
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

impl Asked {
    /// What the matches of [`definition`] say; none if they are not of it.
    pub(crate) fn read(
        matches: &ArgMatches,
        outbound: Outbound,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let (name, matches) = matches.subcommand()?;
        let what = match name {
            "dead" => What::Dead,
            _ => {
                let ids = matches.get_many::<String>("id");
                What::Replay(ids.into_iter().flatten().cloned().collect())
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
            what,
            json: matches
                .get_one::<String>("output")
                .is_some_and(|it| it == "json"),
        })
    }

    /// Asks, and gives each line of what there is to print.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Failure> {
        match &self.what {
            What::Dead => self.list(say).await,
            What::Replay(ids) if ids.is_empty() => self.replay(&json!({ "all": true }), &say).await,
            What::Replay(ids) => {
                for id in ids {
                    self.replay(&json!({ "id": id }), &say).await?;
                }
                Ok(())
            }
        }
    }

    /// One line for each; as JSON, one object for each.
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
            say(&format!("{id} goes on"));
        }
        Ok(())
    }
}
