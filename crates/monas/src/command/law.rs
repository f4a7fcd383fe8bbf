//! `monas law`: an agent's law, its versions and their differences, and how it is changed. Requests go to `/api/agent`.

use axum::http::Method;
use clap::{Arg, ArgMatches, value_parser};
use serde_json::{Value, json};
use workspace::api::reply::{LawDiff, LawHistory, LawText, LawVersion};

use crate::command::backend::{Backend, DataOptions};
use crate::config::Config;
use crate::error::Error;

/// A command about the law of an agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LawCommand {
    action: Action,
    options: DataOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    /// One version, or the current one.
    Show(Option<u64>),
    History,
    /// From one version to another; without them, the last change.
    Diff(Option<u64>, Option<u64>),
    Set {
        path: String,
        value: Value,
        why: String,
    },
    /// What the manifest and the law file say now becomes the law.
    Accept {
        why: String,
    },
}

/// The command line of `monas law`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let common = |command| DataOptions::arguments(command, settings);
    let version = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..))
            .help(help)
    };
    let show = clap::Command::new("show")
        .about("Show the rules of an agent")
        .arg(version("version", "A version [default: the current one]"));
    let history =
        clap::Command::new("history").about("List all versions of the law, each with its reason");
    let diff = clap::Command::new("diff")
        .about("Show what changed between two versions")
        .args([
            version("from", "The older version [default: the one before]"),
            version("to", "The newer version [default: the current one]"),
        ]);
    let why = || {
        Arg::new("why")
            .long("why")
            .value_name("REASON")
            .required(true)
            .help("The reason, which the history of the law keeps")
    };
    let set = clap::Command::new("set")
        .about("Change a rule")
        .long_about(
            "Changes one place of the law and keeps the reason. Bounds hold, and axioms and safety cannot be changed. \
             The value is JSON or a text; `+=`, `-=` and `*=` before it change a number, add to a list or remove from it; \
             `null` removes a rule. An operator that begins with a hyphen comes after `--`.\n\n\
             monas law set attention.turns 2 --why 'one model'\n\
             monas law set memory.rules[0].condition.min_confidence += 0.1 --why 'a wrong claim was believed'\n\
             monas law set skill_selection += '{\"skill\": \"terminal\", \"then\": \"ask\"}' --why 'it is powerful'\n\
             monas law set goal_priority[0].words --why 'everybody says it' -- -= urgent",
        )
        .arg(
            Arg::new("path")
                .value_name("PATH")
                .required(true)
                .help("The place in the law: memory.rules[0].condition.min_confidence"),
        )
        .arg(
            Arg::new("value")
                .value_name("VALUE")
                .required(true)
                .num_args(1..)
                .allow_negative_numbers(true)
                .help("The new value, or an operator and its operand: += 0.1"),
        )
        .arg(why());
    let accept = clap::Command::new("accept")
        .about("Accept what the edited manifest and law file say; `law diff` shows it")
        .arg(why());
    clap::Command::new("law")
        .about("Show or change the law of an agent, of a running server or its data")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([show, history, diff, set, accept].map(common))
}

impl LawCommand {
    /// Reads the subcommand `name` of [`definition`].
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let number = |name: &str| matches.get_one::<u64>(name).copied();
        let text = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
        Self {
            action: match name {
                "set" => Action::Set {
                    path: text("path"),
                    value: value(matches),
                    why: text("why"),
                },
                "accept" => Action::Accept { why: text("why") },
                "history" => Action::History,
                "diff" => Action::Diff(number("from"), number("to")),
                _ => Action::Show(number("version")),
            },
            options: DataOptions::read(matches, config, environment),
        }
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        self.options.require_data()?;
        let backend = Backend::open(&self.options).await?;
        let (method, body) = self.body();
        let reply = backend.text(method, &self.path(), body).await;
        let lines = reply.and_then(|reply| match self.options.json {
            true => Ok(vec![reply]),
            false => self.show(&backend, &reply),
        });
        backend.close().await;
        lines?.iter().all(|line| say(line));
        Ok(())
    }

    fn path(&self) -> String {
        let number = |name, value: Option<u64>| Some((name, value?.to_string()));
        let (name, numbers) = match self.action {
            Action::Set { .. } => ("law", [None, None]),
            Action::Accept { .. } => ("law/accept", [None, None]),
            Action::Show(version) => ("law", [number("version", version), None]),
            Action::History => ("laws", [None, None]),
            Action::Diff(from, to) => ("diff", [number("from", from), number("to", to)]),
        };
        let mut query = self.options.query();
        query.extend_pairs(numbers.into_iter().flatten());
        format!("/api/agent/{name}?{}", query.finish())
    }

    /// The method and the body of the request.
    fn body(&self) -> (Method, String) {
        match &self.action {
            Action::Set { path, value, why } => {
                let body = json!({ "path": path, "value": value, "why": why });
                (Method::PUT, body.to_string())
            }
            Action::Accept { why } => (Method::POST, json!({ "why": why }).to_string()),
            _ => (Method::GET, String::new()),
        }
    }

    /// The reply as lines of text.
    fn show(&self, backend: &Backend, reply: &str) -> Result<Vec<String>, Error> {
        Ok(match &self.action {
            Action::Show(_) => {
                let law: LawText = backend.parse(reply)?;
                let (agent, version) = (&law.agent, &law.version);
                let head = format!(
                    "law of {agent}, version {} ({})",
                    version.version, version.hash
                );
                let mut shown = vec![head];
                shown.extend(law.text.lines().map(str::to_owned));
                shown
            }
            Action::History => {
                let history: LawHistory = backend.parse(reply)?;
                let line = |it: &LawVersion| {
                    let LawVersion {
                        version,
                        hash,
                        by,
                        why,
                        event,
                    } = it;
                    format!("{version} {hash} by {by}: {why} [{event}]")
                };
                history.versions.iter().map(line).collect()
            }
            Action::Diff(..) => {
                let diff: LawDiff = backend.parse(reply)?;
                let mut shown = match diff.lines.is_empty() {
                    true => vec!["nothing changed".to_owned()],
                    false => {
                        let LawDiff {
                            from, to, by, why, ..
                        } = &diff;
                        vec![format!("version {from} to {to}, by {by}: {why}")]
                    }
                };
                shown.extend(diff.lines);
                if let Some(accept) = &diff.accept {
                    shown.push(
                        "the manifest or the law file was edited; it would change:".to_owned(),
                    );
                    shown.extend(diff.offered);
                    shown.push(format!("to accept it: {accept}"));
                }
                shown
            }
            Action::Set { .. } | Action::Accept { .. } => {
                let diff: LawDiff = backend.parse(reply)?;
                let mut shown = vec![format!("law of {}, version {}", diff.agent, diff.to)];
                shown.extend(diff.lines);
                shown
            }
        })
    }
}

/// The value of `law set`: JSON, else a text. An operator and its operand are a text.
fn value(matches: &ArgMatches) -> Value {
    let words = matches.get_many::<String>("value").into_iter().flatten();
    let words: Vec<&str> = words.map(String::as_str).collect();
    let text = words.join(" ");
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}
