//! The command line of the commands that call an agent: what they share. Each command's own flags are in its file.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::flags::{self, Options, Scope};
use crate::command::Refused;
use crate::command::send::Sending;
use crate::command::task::TaskAction;
use crate::command::{card, chat, config, send, task};

/// A command that calls an agent, and the flags that say how to reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) options: Options,
    pub(crate) action: Action,
}

/// The commands that call an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Card,
    Send(Box<Sending>),
    Task(TaskAction),
    Chat {
        /// The conversation to continue.
        context: Option<String>,
        /// The mode of the agent.
        mode: Option<String>,
    },
    Config,
}

/// The definitions of all commands that call an agent.
pub(crate) fn commands() -> [Command; 5] {
    [
        card::definition(),
        send::definition(),
        task::definition(),
        chat::definition(),
        config::definition(),
    ]
}

/// Reads one of these commands; none if it is another one. `options` reads the flags that all of them have.
pub(crate) fn read(
    name: &str,
    matches: &ArgMatches,
    options: impl FnOnce(&ArgMatches) -> Result<Options, Refused>,
) -> Result<Option<Request>, Refused> {
    let (action, matches) = match (name, matches.subcommand()) {
        ("card", Some(("get", matches))) => (Action::Card, matches),
        ("config", Some(("show", matches))) => (Action::Config, matches),
        ("chat", _) => {
            let text = |name: &str| matches.get_one::<String>(name).cloned();
            let (context, mode) = (text("context-id"), text("mode"));
            (Action::Chat { context, mode }, matches)
        }
        ("send", _) => (Action::Send(Box::new(Sending::read(matches))), matches),
        ("task", Some((name, matches))) => {
            let (action, matches) = TaskAction::read(name, matches);
            (Action::Task(action), matches)
        }
        _ => return Ok(None),
    };
    let options = options(matches)?;
    Ok(Some(Request { options, action }))
}

/// Adds the flags that say which agent is called, and how.
pub(in crate::command) fn calling(command: Command) -> Command {
    command
        .args(flags::arguments(Scope::Agents))
        .arg(crate::command::config_file())
}

/// A command that only groups subcommands.
pub(in crate::command) fn group(name: &'static str, about: &'static str) -> Command {
    Command::new(name)
        .about(about)
        .subcommand_required(true)
        .arg_required_else_help(true)
}

/// A flag with a value.
pub(in crate::command) fn option(
    name: &'static str,
    value: &'static str,
    help: &'static str,
) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// A flag with a value that may be given several times.
pub(in crate::command) fn many(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    option(name, value, help).action(ArgAction::Append)
}

/// A flag without a value.
pub(in crate::command) fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .help(help)
        .action(ArgAction::SetTrue)
}
