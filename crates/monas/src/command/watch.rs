//! `monas watch`: the alerts of the watchdog, its rules, and what a person says of both. Requests go to `/api/watch`; `test` needs
//! no server.

use std::path::{Path, PathBuf};

use ::watch::{Notice, Tested, test_rules};
use axum::http::Method;
use clap::{Arg, ArgMatches, value_parser};
use serde_json::{Value, json};

use crate::command::backend::{Backend, DataOptions};
use crate::config::Config;
use crate::error::Error;

/// A command about the watchdog.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WatchCommand {
    action: Action,
    pub(crate) options: DataOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum Action {
    Alerts {
        state: Option<String>,
    },
    Rules,
    /// With the word of the person.
    Judge {
        alert: String,
        body: Value,
    },
    /// A whole rule, for so many minutes.
    Mute {
        rule: String,
        minutes: i64,
    },
    Test {
        rule: PathBuf,
        file: PathBuf,
    },
}

/// The command line of `monas watch`; `settings` are the flags of the server, which name the data.
pub(crate) fn definition(settings: &[Arg]) -> clap::Command {
    let common = |command| DataOptions::arguments(command, settings);
    let named = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).value_name(value).required(true).help(help)
    };
    let minutes = || {
        Arg::new("minutes")
            .long("minutes")
            .value_name("N")
            .value_parser(value_parser!(i64))
            .default_value("1440")
            .help("For how long; 0 ends it")
    };
    let file = |name: &'static str, value: &'static str, help: &'static str| {
        named(name, value, help).value_parser(value_parser!(PathBuf))
    };
    let alerts = clap::Command::new("alerts")
        .about("List the alerts, the last one first")
        .after_help("monas watch alerts --state open")
        .arg(
            Arg::new("state")
                .long("state")
                .value_name("STATE")
                .help("Only alerts in this state"),
        );
    let rules = clap::Command::new("rules")
        .about("List the rules with how often they matched")
        .after_help("monas watch rules");
    let ack = clap::Command::new("ack")
        .about("Say that an alert was seen")
        .after_help("monas watch ack alert-0123456789abcdef")
        .arg(named("alert", "ALERT", "The id of the alert"));
    let wrong = clap::Command::new("false-alarm")
        .about("Say that an alert is none; it counts against its rule")
        .after_help("monas watch false-alarm alert-0123456789abcdef")
        .arg(named("alert", "ALERT", "The id of the alert"));
    let mute = clap::Command::new("mute")
        .about("Hear nothing of an alert or of a rule for a time")
        .after_help("monas watch mute loop-cycle --minutes 60")
        .arg(named(
            "id",
            "ALERT|RULE",
            "The id of the alert or of the rule",
        ))
        .arg(minutes());
    let test = clap::Command::new("test")
        .about("Try rules on a file of events, without a server")
        .after_help("monas watch test my-rules.yml events.jsonl")
        .arg(file("rule", "RULE", "A file of Sigma rules"))
        .arg(file(
            "file",
            "FILE",
            "Records of a journal or facts, one in a line",
        ));
    clap::Command::new("watch")
        .about("See what the watchdog found, and try rules")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([alerts, rules, ack, wrong, mute, test].map(common))
}

impl WatchCommand {
    /// Reads the subcommand `name` of [`definition`].
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        let text = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
        let path = |name: &str| {
            matches
                .get_one::<PathBuf>(name)
                .cloned()
                .unwrap_or_default()
        };
        let action = match name {
            "rules" => Action::Rules,
            "ack" => Action::Judge {
                alert: text("alert"),
                body: json!({ "judgement": "acknowledge" }),
            },
            "false-alarm" => Action::Judge {
                alert: text("alert"),
                body: json!({ "judgement": "false_alarm" }),
            },
            "mute" => {
                let minutes = matches
                    .get_one::<i64>("minutes")
                    .copied()
                    .unwrap_or_default();
                match text("id") {
                    alert if alert.starts_with("alert-") => Action::Judge {
                        alert,
                        body: json!({ "judgement": "mute", "minutes": minutes }),
                    },
                    rule => Action::Mute { rule, minutes },
                }
            }
            "test" => Action::Test {
                rule: path("rule"),
                file: path("file"),
            },
            _ => Action::Alerts {
                state: matches.get_one::<String>("state").cloned(),
            },
        };
        Ok(Self {
            action,
            options: DataOptions::read(matches, config, environment)?,
        })
    }

    /// Sends the request and prints the reply.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        if let Action::Test { rule, file } = &self.action {
            for line in tested(rule, file)? {
                if !say(&line) {
                    break;
                }
            }
            return Ok(());
        }
        let lines = async |backend: &Backend| self.lines(backend).await;
        self.options.print(say, lines).await
    }

    async fn lines(&self, backend: &Backend) -> Result<Vec<String>, Error> {
        let (method, path, body) = match &self.action {
            Action::Alerts { state } => {
                let state = state.as_deref().unwrap_or_default();
                (
                    Method::GET,
                    format!("/api/watch/alerts?state={state}"),
                    String::new(),
                )
            }
            Action::Rules => (Method::GET, "/api/watch/rules".to_owned(), String::new()),
            Action::Judge { alert, body } => (
                Method::POST,
                format!("/api/watch/alerts/{alert}"),
                body.to_string(),
            ),
            Action::Mute { rule, minutes } => {
                let body = json!({ "minutes": minutes });
                (
                    Method::POST,
                    format!("/api/watch/rules/{rule}"),
                    body.to_string(),
                )
            }
            Action::Test { .. } => return Ok(Vec::new()),
        };
        let reply = backend.text(method, &path, body).await?;
        if self.options.json {
            return Ok(vec![reply]);
        }
        let reply: Value = backend.parse(&reply)?;
        let list = |name: &str| reply[name].as_array().cloned().unwrap_or_default();
        Ok(match &self.action {
            Action::Alerts { .. } => list("alerts").iter().map(alert).collect(),
            Action::Rules => list("rules").iter().map(rule).collect(),
            Action::Judge { .. } => vec![alert(&reply["alert"])],
            _ => vec![format!(
                "{} is muted until {}",
                word(&reply["rule"]),
                word(&reply["until"])
            )],
        })
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn alert(alert: &Value) -> String {
    let action = alert["action"]
        .as_str()
        .map(|it| format!("; {it}"))
        .unwrap_or_default();
    format!(
        "{} {:8} {:12} {}x {} [{}] {}{action}",
        word(&alert["alert_id"]),
        word(&alert["severity"]),
        word(&alert["state"]),
        alert["count"],
        word(&alert["title"]),
        word(&alert["agent"]),
        word(&alert["last"]),
    )
}

fn rule(rule: &Value) -> String {
    format!(
        "{:24} {:8} {:10} matched {}, alerts {}, false {}: {}",
        word(&rule["id"]),
        word(&rule["severity"]),
        word(&rule["pack"]),
        rule["matches"],
        rule["alerts"],
        rule["false_alarms"],
        word(&rule["title"]),
    )
}

/// What rules say about a file of events.
fn tested(rule: &Path, file: &Path) -> Result<Vec<String>, Error> {
    let text = |path: &Path| {
        std::fs::read_to_string(path)
            .map_err(|error| Error::Watch(format!("{}: {error}", path.display())))
    };
    let tested = test_rules(&text(rule)?, &text(file)?)
        .map_err(|error| Error::Watch(format!("{}: {error}", rule.display())))?;
    Ok(told(&tested))
}

fn told(tested: &Tested) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (number, notice) in &tested.notices {
        if let Notice::Alert { alert, change, .. } = notice {
            lines.push(format!(
                "line {number}: {change:?} {} {}: {}",
                alert.severity.name(),
                alert.title,
                alert.description
            ));
        }
    }
    for (number, problem) in &tested.unread {
        lines.push(format!("line {number} was not read: {problem}"));
    }
    lines.push(format!(
        "{} events, {} notices",
        tested.events,
        tested.notices.len()
    ));
    lines
}
