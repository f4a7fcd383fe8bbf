//! `monas law`: an agent's law, its versions and their differences. Requests go to `/api/agent`.

use axum::http::Method;
use clap::{Arg, ArgMatches, value_parser};
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
    clap::Command::new("law")
        .about("Show the law of an agent, from a running server or its data")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([show, history, diff].map(common))
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
        Self {
            action: match name {
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
        let reply = backend.text(Method::GET, &self.path(), String::new()).await;
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
            Action::Show(version) => ("law", [number("version", version), None]),
            Action::History => ("laws", [None, None]),
            Action::Diff(from, to) => ("diff", [number("from", from), number("to", to)]),
        };
        let mut query = self.options.query();
        query.extend_pairs(numbers.into_iter().flatten());
        format!("/api/agent/{name}?{}", query.finish())
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
                match diff.lines.is_empty() {
                    true => vec!["nothing changed".to_owned()],
                    false => diff.lines,
                }
            }
        })
    }
}
