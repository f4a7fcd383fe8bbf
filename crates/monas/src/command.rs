//! The command line. Each subcommand has a file or a folder of its name, with its definition and what it does; this file joins
//! them.
//!
//! - `serve`, `mcp`: serve an agent, over all protocols or over MCP on standard input and output
//! - `card`, `send`, `task`, `chat`, `config`: call an agent; `client` is what they share
//! - `law`, `why`, `audit`, `memory`, `approvals`, `grant`, `status`, `pause`, `resume`, `agents`: an agent's data; `backend` is the running server or the opened store that answers them
//! - `board`: the boards that agents share
//! - `backup` (also `restore`): all data in one file; `database` (`migrate`, `import`, `export`): a store in a database
//! - `user`, `key`, `secret`: users, their API keys, and the secrets that agents use; `capability`: what callers lend to others; `entries` is
//!   what they share; `token` (also `open`): tokens of the server itself
//! - `login` (also `logout`): tokens of the issuer that a server trusts
//! - `models`, `webhook`, `tap` (`capnweb tap`), `tls`, `completion`; `request` is one HTTP request to a running server

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PathBufValueParser, StyledStr};
use clap::{Arg, ArgAction, ArgMatches};
use clap_complete::Shell;

use client::Options;
use client::flags::Scope;

use crate::config::settings::{KEYS, Key};
use crate::config::{CONFIG_VARIABLE, Config, Error, Outbound, Sources};

pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod backend;
pub(crate) mod backup;
pub(crate) mod board;
pub(crate) mod capability;
pub(crate) mod card;
mod chat;
pub(crate) mod client;
pub(crate) mod completion;
mod config;
pub(crate) mod database;
mod entries;
pub(crate) mod key;
pub(crate) mod law;
pub(crate) mod login;
pub(crate) mod mcp;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod request;
pub(crate) mod secret;
mod send;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod tap;
mod task;
pub(crate) mod tls;
pub(crate) mod token;
pub(crate) mod user;
pub(crate) mod webhook;
pub(crate) mod why;

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;

/// A command line that was read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    Serve(Box<Config>),
    Mcp(Box<mcp::McpCommand>),
    Tap(tap::Options),
    Webhook(Box<webhook::WebhookCommand>),
    Models(Box<models::ModelsCommand>),
    Memory(Box<memory::MemoryCommand>),
    Board(Box<board::BoardCommand>),
    Capability(Box<capability::CapabilityCommand>),
    User(Box<user::UserCommand>),
    /// `key`: API keys of users.
    ApiKey(Box<key::ApiKeyCommand>),
    Secret(Box<secret::SecretCommand>),
    Law(Box<law::LawCommand>),
    Why(Box<why::WhyCommand>),
    Audit(Box<audit::AuditCommand>),
    /// `approvals` and `grant`.
    Approvals(Box<approvals::ApprovalsCommand>),
    /// `token` and `open`.
    Token(Box<token::TokenCommand>),
    /// `card key` and `card public-key`; `card get` is an `Ask`.
    Key(card::key::KeyCommand),
    /// One of the commands that call an agent.
    Ask(Box<client::Request>),
    /// `backup` and `restore`.
    Backup(Box<backup::BackupCommand>),
    /// `migrate`, `import` and `export`.
    Database(Box<database::DatabaseCommand>),
    /// `status`, `pause`, `resume` and `agents`.
    Status(Box<status::StatusCommand>),
    /// `tls init`.
    Tls(tls::TlsCommand),
    /// `login` and `logout`.
    Login(Box<login::LoginCommand>),
    Completion(Shell),
    Version,
}

impl Command {
    /// Reads the command line, the environment and, for commands that need it, the configuration.
    pub(crate) fn read(
        arguments: impl IntoIterator<Item = OsString>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Refused> {
        let matches = definition().try_get_matches_from(arguments)?;
        match matches.subcommand() {
            Some(("mcp", matches)) => {
                let config = configuration(matches, &environment)?;
                let asked = mcp::read(matches, config, &environment);
                Ok(Self::Mcp(Box::new(asked)))
            }
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
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let options = calling(matches, &environment, Scope::Servers)?;
                let asked = webhook::WebhookCommand::read(name, matches, options);
                Ok(Self::Webhook(Box::new(asked)))
            }
            Some((name @ ("login" | "logout"), matches)) => {
                let options = calling(matches, &environment, Scope::Servers)?;
                let asked = login::LoginCommand::read(name, matches, options, &environment);
                Ok(Self::Login(Box::new(asked)))
            }
            Some(("version", _)) => Ok(Self::Version),
            Some(("memory", matches)) => {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let config = configuration(matches, &environment)?;
                let asked = memory::read(name, matches, config, &environment)?;
                Ok(Self::Memory(Box::new(asked)))
            }
            Some(("board", matches)) => {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let config = configuration(matches, &environment)?;
                let board = board::BoardCommand::read(name, matches, config, &environment)?;
                Ok(Self::Board(Box::new(board)))
            }
            Some(("capability", matches)) => {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let config = configuration(matches, &environment)?;
                let asked =
                    capability::CapabilityCommand::read(name, matches, config, &environment)?;
                Ok(Self::Capability(Box::new(asked)))
            }
            Some(("user", matches)) => {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let config = configuration(matches, &environment)?;
                let asked = user::UserCommand::read(name, matches, config, &environment)?;
                Ok(Self::User(Box::new(asked)))
            }
            Some(("key", matches)) => {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let config = configuration(matches, &environment)?;
                let asked = key::ApiKeyCommand::read(name, matches, config, &environment)?;
                Ok(Self::ApiKey(Box::new(asked)))
            }
            Some(("secret", matches)) => {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let config = configuration(matches, &environment)?;
                let asked = secret::SecretCommand::read(name, matches, config, &environment)?;
                Ok(Self::Secret(Box::new(asked)))
            }
            Some(("law", matches)) => {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let config = configuration(matches, &environment)?;
                let law = law::LawCommand::read(name, matches, config, &environment)?;
                Ok(Self::Law(Box::new(law)))
            }
            Some(("why", matches)) => {
                let config = configuration(matches, &environment)?;
                let why = why::WhyCommand::read(matches, config, &environment)?;
                Ok(Self::Why(Box::new(why)))
            }
            Some(("audit", matches)) => {
                let config = configuration(matches, &environment)?;
                let audit = audit::AuditCommand::read(matches, config, &environment)?;
                Ok(Self::Audit(Box::new(audit)))
            }
            Some((name @ ("token" | "open"), matches)) => {
                let config = configuration(matches, &environment)?;
                let asked = token::TokenCommand::read(name, matches, config);
                Ok(Self::Token(Box::new(asked.ok_or_else(missing)?)))
            }
            Some((name @ ("approvals" | "grant"), matches)) => {
                let (name, matches) = matches.subcommand().unwrap_or((name, matches));
                let config = configuration(matches, &environment)?;
                let asked = approvals::ApprovalsCommand::read(name, matches, config, &environment)?;
                Ok(Self::Approvals(Box::new(asked)))
            }
            Some((name @ ("backup" | "restore"), matches)) => {
                let config = configuration(matches, &environment)?;
                let asked = backup::BackupCommand::read(name, matches, config, &environment)?;
                Ok(Self::Backup(Box::new(asked)))
            }
            Some((name, matches)) if database::NAMES.contains(&name) => {
                let config = configuration(matches, &environment)?;
                let asked = database::DatabaseCommand::read(name, matches, config, &environment)?;
                Ok(Self::Database(Box::new(asked)))
            }
            Some((name, matches)) if status::NAMES.contains(&name) => {
                let config = configuration(matches, &environment)?;
                let asked = status::StatusCommand::read(name, matches, config, &environment)?;
                Ok(Self::Status(Box::new(asked)))
            }
            Some(("tls", matches)) => {
                let (_, matches) = matches.subcommand().ok_or_else(missing)?;
                let given = Given {
                    matches,
                    environment: &environment,
                };
                let (_, data) = Config::read_calling(&given)?;
                let asked = tls::TlsCommand::read(matches, data);
                Ok(Self::Tls(asked.map_err(|it| usage(&it))?))
            }
            Some(("completion", matches)) => {
                let shell = matches.get_one("shell").copied();
                Ok(Self::Completion(shell.unwrap_or(Shell::Bash)))
            }
            Some((name, matches))
                if let Some(asked) = client::read(name, matches, |matches| {
                    calling(matches, &environment, Scope::Agents)
                })? =>
            {
                Ok(Self::Ask(Box::new(asked)))
            }
            Some(("card", matches)) => {
                let asked = matches.subcommand();
                let asked =
                    asked.and_then(|(name, matches)| card::key::KeyCommand::read(name, matches));
                Ok(Self::Key(asked.ok_or_else(missing)?))
            }
            Some((_, matches)) => Ok(Self::serve(configuration(matches, &environment)?)),
            None => Ok(Self::serve(configuration(&matches, &environment)?)),
        }
    }

    fn serve(config: Config) -> Self {
        Self::Serve(Box::new(config))
    }

    /// The configuration of commands that serve.
    pub(crate) fn config(&self) -> Option<&Config> {
        match self {
            Self::Serve(config) => Some(config),
            Self::Mcp(asked) => Some(&asked.config),
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
    let serve = |command: clap::Command| {
        command
            .args(KEYS.iter().filter_map(argument))
            .arg(config_file())
    };
    let settings: Vec<Arg> = KEYS
        .iter()
        .filter_map(argument)
        .chain([config_file()])
        .collect();
    serve(clap::Command::new("monas"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("A home for AI agents: one binary, one port, open protocols.")
        .after_help(
            "Without a command it serves. Every setting is also an environment variable and a key of \
             monas.toml; docs/configuration.md lists all of them.",
        )
        .args_conflicts_with_subcommands(true)
        .subcommand(serve(
            clap::Command::new("serve")
                .about("Serve the agent (the default without a command)")
                .after_help("monas serve --listen 8080 --model ollama:gemma3"),
        ))
        .subcommand(serve(mcp::definition()))
        .subcommands(client::commands())
        .subcommand(completion::definition())
        .subcommand(
            clap::Command::new("version")
                .about("Print the version of this program")
                .after_help("monas version"),
        )
        .subcommand(tap::definition())
        .subcommand(tls::definition())
        .subcommand(models::definition(serve))
        .subcommand(webhook::definition())
        .subcommands(login::definitions())
        .subcommand(memory::definition(&settings))
        .subcommand(board::definition(&settings))
        .subcommand(capability::definition(&settings))
        .subcommand(user::definition(&settings))
        .subcommand(key::definition(&settings))
        .subcommand(secret::definition(&settings))
        .subcommand(law::definition(&settings))
        .subcommand(why::definition(&settings))
        .subcommand(audit::definition(&settings))
        .subcommands(token::definitions(&settings))
        .subcommands(approvals::definitions(&settings))
        .subcommands(status::definitions(&settings))
        .subcommands(backup::definitions(&settings))
        .subcommands(database::definitions(&settings))
}

/// The error for a group of commands without one of them.
fn missing() -> clap::Error {
    clap::Error::new(clap::error::ErrorKind::MissingSubcommand)
}

/// An error in the command line that clap does not know of.
fn usage(problem: &impl std::fmt::Display) -> clap::Error {
    let message = format!("could not {problem}\n");
    clap::Error::raw(clap::error::ErrorKind::InvalidValue, message)
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

fn config_file() -> Arg {
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
    let given = Given {
        matches,
        environment,
    };
    Ok(Config::read_calling(&given)?.0)
}

/// Reads the flags of a command that only asks, with the settings that say how connections are made and where the data of
/// a running server are.
fn calling(
    matches: &ArgMatches,
    environment: &dyn Fn(&str) -> Option<String>,
    scope: Scope,
) -> Result<Options, Refused> {
    let mut options = Options::read(matches, environment, scope)?;
    let given = Given {
        matches,
        environment,
    };
    (options.outbound, options.data) = Config::read_calling(&given)?;
    Ok(options)
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
