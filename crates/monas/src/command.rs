//! The command line. Each subcommand has a file or a folder of its name, with its definition and what it does; this file joins
//! them.
//!
//! - `serve`, `mcp`: serve an agent, over all protocols or over MCP on standard input and output
//! - `card`, `send`, `task`, `chat`, `config`: call an agent; `client` is what they share
//! - `law`, `why`, `memory`, `approvals`, `grant`: an agent's data; `backend` is the running server or the opened store that answers them
//! - `models`, `webhook`, `tap` (`capnweb tap`), `completion`; `request` is one HTTP request to a running server

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, StyledStr};
use clap::{Arg, ArgAction, ArgMatches};
use clap_complete::Shell;

use crate::config::settings::{KEYS, Key};
use crate::config::{CONFIG_VARIABLE, Config, Error, Outbound, Sources};

pub(crate) mod approvals;
pub(crate) mod backend;
pub(crate) mod board;
pub(crate) mod card;
mod chat;
pub(crate) mod client;
pub(crate) mod completion;
mod config;
pub(crate) mod law;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod request;
mod send;
pub(crate) mod serve;
pub(crate) mod tap;
mod task;
pub(crate) mod webhook;
pub(crate) mod why;

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;

/// A command line that was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    Serve(Config),
    Mcp(Config),
    Tap(tap::Options),
    Webhook(webhook::WebhookCommand),
    Models(Box<models::ModelsCommand>),
    Memory(Box<memory::MemoryCommand>),
    Board(Box<board::BoardCommand>),
    Law(Box<law::LawCommand>),
    Why(Box<why::WhyCommand>),
    /// `approvals` and `grant`.
    Approvals(Box<approvals::ApprovalsCommand>),
    /// `card key` and `card public-key`; `card get` is an `Ask`.
    Key(card::key::KeyCommand),
    /// One of the commands that call an agent.
    Ask(Box<client::Request>),
    Completion(Shell),
}

impl Command {
    /// Reads the command line, the environment and, for commands that need it, the configuration.
    pub(crate) fn read(
        arguments: impl IntoIterator<Item = OsString>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Refused> {
        let matches = definition().try_get_matches_from(arguments)?;
        match matches.subcommand() {
            Some(("mcp", matches)) => Ok(Self::Mcp(configuration(matches, &environment)?)),
            Some(("models", matches)) => {
                let asked =
                    models::ModelsCommand::read(matches, |it| configuration(it, &environment))?;
                Ok(Self::Models(Box::new(asked)))
            }
            Some(("capnweb", matches)) => {
                let (_, given) = matches.subcommand().ok_or_else(missing)?;
                let outbound = outbound(given, &environment)?;
                let options = tap::Options::read(given, outbound);
                Ok(Self::Tap(options.ok_or_else(missing)?))
            }
            Some(("webhook", matches)) => {
                let (_, given) = matches.subcommand().ok_or_else(missing)?;
                let outbound = outbound(given, &environment)?;
                let asked = webhook::WebhookCommand::read(matches, outbound, &environment);
                Ok(Self::Webhook(asked.ok_or_else(missing)?))
            }
            Some(("memory", matches)) => {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let config = configuration(matches, &environment)?;
                let asked = memory::read(name, matches, config, &environment);
                Ok(Self::Memory(Box::new(asked)))
            }
            Some(("board", matches)) => {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let config = configuration(matches, &environment)?;
                let board = board::BoardCommand::read(name, matches, config, &environment);
                Ok(Self::Board(Box::new(board)))
            }
            Some(("law", matches)) => {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let config = configuration(matches, &environment)?;
                let law = law::LawCommand::read(name, matches, config, &environment);
                Ok(Self::Law(Box::new(law)))
            }
            Some(("why", matches)) => {
                let config = configuration(matches, &environment)?;
                let why = why::WhyCommand::read(matches, config, &environment);
                Ok(Self::Why(Box::new(why)))
            }
            Some((name @ ("approvals" | "grant"), matches)) => {
                let (name, matches) = matches.subcommand().unwrap_or((name, matches));
                let config = configuration(matches, &environment)?;
                let asked = approvals::ApprovalsCommand::read(name, matches, config, &environment);
                Ok(Self::Approvals(Box::new(asked)))
            }
            Some(("completion", matches)) => {
                let shell = matches.get_one("shell").copied();
                Ok(Self::Completion(shell.unwrap_or(Shell::Bash)))
            }
            Some((name, matches))
                if let Some(mut asked) = client::read(name, matches, &environment)? =>
            {
                asked.options.outbound = outbound(matches, &environment)?;
                Ok(Self::Ask(Box::new(asked)))
            }
            Some(("card", matches)) => {
                let asked = matches.subcommand();
                let asked =
                    asked.and_then(|(name, matches)| card::key::KeyCommand::read(name, matches));
                Ok(Self::Key(asked.ok_or_else(missing)?))
            }
            Some((_, matches)) => Ok(Self::Serve(configuration(matches, &environment)?)),
            None => Ok(Self::Serve(configuration(&matches, &environment)?)),
        }
    }

    /// The configuration of commands that serve.
    pub(crate) fn config(&self) -> Option<&Config> {
        match self {
            Self::Serve(config) | Self::Mcp(config) => Some(config),
            _ => None,
        }
    }
}

/// Why a command line was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// It has an error, or asks for help.
    #[error(transparent)]
    Usage(#[from] clap::Error),
    /// A setting is wrong.
    #[error(transparent)]
    Config(#[from] Error),
}

/// The whole command line. Without a subcommand it is `serve`.
fn definition() -> clap::Command {
    let serve =
        |command: clap::Command| command.args(KEYS.iter().filter_map(argument)).arg(config());
    let settings: Vec<Arg> = KEYS.iter().filter_map(argument).chain([config()]).collect();
    serve(clap::Command::new("monas"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("A home for AI agents: one binary, one port, open protocols.")
        .after_help(
            "Without a command it serves. Every setting is also an environment variable and a key of \
             monas.toml; docs/configuration.md lists all of them.",
        )
        .args_conflicts_with_subcommands(true)
        .subcommand(serve(
            clap::Command::new("serve").about("Serve the agent (the default without a command)"),
        ))
        .subcommand(serve(mcp::definition()))
        .subcommands(client::commands())
        .subcommand(completion::definition())
        .subcommand(tap::definition())
        .subcommand(models::definition(serve))
        .subcommand(webhook::definition())
        .subcommand(memory::definition(&settings))
        .subcommand(board::definition(&settings))
        .subcommand(law::definition(&settings))
        .subcommand(why::definition(&settings))
        .subcommands(approvals::definitions(&settings))
}

/// The error for a group of commands without one of them.
fn missing() -> clap::Error {
    clap::Error::new(clap::error::ErrorKind::MissingSubcommand)
}

/// The flag of a setting, if it has one.
fn argument(key: &'static Key) -> Option<Arg> {
    let (flag, value) = key.flag?;
    let help = format!(
        "{} [{}, default: {}]",
        key.help,
        key.variable(),
        key.default
    );
    let argument = Arg::new(flag).long(flag).help(StyledStr::from(help));
    Some(if key.is_switch() {
        argument
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("true|false")
    } else if key.is_list {
        argument.value_name(value).action(ArgAction::Append)
    } else {
        argument.value_name(value)
    })
}

fn config() -> Arg {
    Arg::new("config")
        .long("config")
        .value_name("FILE")
        .value_parser(PathBufValueParser::new())
        .help(format!(
            "The configuration file. [{CONFIG_VARIABLE}, default: ~/.config/monas/monas.toml if it is there]"
        ))
}

/// Reads how a command that has no server settings makes connections.
fn outbound(
    matches: &ArgMatches,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Outbound, Error> {
    Config::read_outbound(&Given {
        matches,
        environment,
    })
}

/// The flag of the setting `ca_cert`, for commands that do not take all settings.
fn ca_cert() -> Arg {
    Arg::new("ca-cert").long("ca-cert").value_name("FILE").help(
        "Certificate authorities to trust besides the public ones, a PEM file [MONAS_CA_CERT]",
    )
}

fn configuration(
    matches: &ArgMatches,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Config, Error> {
    Config::read(&Given {
        matches,
        environment,
    })
}

/// The sources of settings: the command line and the environment.
struct Given<'a> {
    matches: &'a ArgMatches,
    environment: &'a dyn Fn(&str) -> Option<String>,
}

impl Given<'_> {
    /// A folder of the user: that of an XDG variable, else this one in the home folder.
    fn user_folder(&self, variable: &str, at_home: &str) -> Option<PathBuf> {
        // The XDG specification ignores an empty or relative path.
        let absolute = |path: String| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
        let named = self.variable(variable).and_then(absolute);
        let home = || Some(self.variable("HOME").and_then(absolute)?.join(at_home));
        Some(named.or_else(home)?.join("monas"))
    }
}

impl Sources for Given<'_> {
    fn flag(&self, name: &str) -> Option<String> {
        let values = self.matches.try_get_many::<String>(name).ok()??;
        let values: Vec<_> = values.cloned().collect();
        Some(values.join(","))
    }

    fn variable(&self, name: &str) -> Option<String> {
        (self.environment)(name)
    }

    fn file(&self) -> Option<PathBuf> {
        let flag = self.matches.try_get_one::<PathBuf>("config");
        let flag = flag.ok().flatten().cloned();
        flag.or_else(|| self.variable(CONFIG_VARIABLE).map(PathBuf::from))
            .or_else(|| {
                let usual = self
                    .user_folder("XDG_CONFIG_HOME", ".config")?
                    .join("monas.toml");
                usual.exists().then_some(usual)
            })
    }

    fn data_folder(&self) -> Option<PathBuf> {
        self.user_folder("XDG_DATA_HOME", ".local/share")
    }
}
