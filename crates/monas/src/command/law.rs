//! `monas law` and `monas why`: what an agent goes by, and why it did something.
//!
//! Whatever is asked is a request to `/api/agent`.

use axum::http::Method;
use clap::{Arg, ArgMatches, value_parser};
use serde_json::Value;

use crate::command::backend::{Backend, DataOptions};
use crate::config::Config;
use crate::error::Error;

/// What is asked about an agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    what: What,
    options: DataOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum What {
    /// Its law, as it is or as it was.
    Law(Option<u64>),
    /// All laws it ever had.
    Laws,
    /// What changed between two of them.
    Diff(Option<u64>, Option<u64>),
    Why(String),
}

/// The command lines; `settings` are the flags of the server that say where the data is.
pub(crate) fn definitions(settings: &[Arg]) -> [clap::Command; 2] {
    let common = |command| DataOptions::arguments(command, settings);
    let version = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..))
            .help(help)
    };
    let show = clap::Command::new("show")
        .about("Show what an agent goes by")
        .arg(version(
            "version",
            "As it was in this version [default: the last one]",
        ));
    let history = clap::Command::new("history").about("List every version of the law, with why");
    let diff = clap::Command::new("diff")
        .about("Show what changed between two versions")
        .args([
            version("from", "The one before [default: the last but one]"),
            version("to", "The one after [default: the last one]"),
        ]);
    let law = clap::Command::new("law")
        .about("Show what an agent goes by, in a running server or in its data")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([show, history, diff].map(common));
    let why = clap::Command::new("why")
        .about("Ask why an agent did something; every sentence cites an event of its journal")
        .arg(
            Arg::new("question")
                .value_name("QUESTION")
                .required(true)
                .help("In words; a task's id asks about that task"),
        );
    [law, common(why)]
}

impl Asked {
    /// What the matches of [`definitions`] say, given where the data is.
    pub(crate) fn read(
        name: &str,
        matches: &ArgMatches,
        config: Config,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let number = |name: &str| matches.get_one::<u64>(name).copied();
        let what = match name {
            "show" => What::Law(number("version")),
            "history" => What::Laws,
            "diff" => What::Diff(number("from"), number("to")),
            _ => What::Why(text("question").unwrap_or_default()),
        };
        Self {
            what,
            options: DataOptions::read(matches, config, environment),
        }
    }

    /// Asks, and says each line of what there is to print.
    pub(crate) async fn perform(&self, say: impl Fn(&str) -> bool) -> Result<(), Error> {
        self.options.require_data()?;
        let backend = Backend::open(&self.options).await?;
        let answer = backend.json(Method::GET, &self.path(), String::new()).await;
        backend.close().await;
        let answer = answer?;
        if self.options.json {
            say(&answer.to_string());
            return Ok(());
        }
        self.show(&answer).iter().all(|line| say(line));
        Ok(())
    }

    fn path(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        if let Some(agent) = &self.options.agent {
            query.append_pair("agent", agent);
        }
        let mut number = |name: &str, value: Option<u64>| {
            if let Some(value) = value {
                query.append_pair(name, &value.to_string());
            }
        };
        let name = match &self.what {
            What::Law(version) => {
                number("version", *version);
                "law"
            }
            What::Laws => "laws",
            What::Diff(from, to) => {
                number("from", *from);
                number("to", *to);
                "diff"
            }
            What::Why(question) => {
                query.append_pair("question", question);
                "why"
            }
        };
        format!("/api/agent/{name}?{}", query.finish())
    }

    fn show(&self, answer: &Value) -> Vec<String> {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let lines = |text: &str| text.lines().map(str::to_owned).collect();
        match &self.what {
            What::Law(_) => {
                let mut shown = vec![format!(
                    "law of {}, version {} ({})",
                    text(&answer["agent"]),
                    answer["version"],
                    text(&answer["hash"]),
                )];
                let rules: Vec<String> = lines(answer["text"].as_str().unwrap_or_default());
                shown.extend(rules);
                shown
            }
            What::Laws => {
                let versions = answer["versions"].as_array().into_iter().flatten();
                versions
                    .map(|it| {
                        format!(
                            "{} {} by {}: {} [{}]",
                            it["version"],
                            text(&it["hash"]),
                            text(&it["by"]),
                            text(&it["why"]),
                            it["event"]
                        )
                    })
                    .collect()
            }
            What::Diff(..) => match answer["lines"].as_array() {
                Some(changed) if !changed.is_empty() => changed.iter().map(text).collect(),
                _ => vec!["nothing changed".to_owned()],
            },
            What::Why(_) => lines(answer["text"].as_str().unwrap_or_default()),
        }
    }
}
