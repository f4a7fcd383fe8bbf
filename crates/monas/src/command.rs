//! The command line: what the user asks for.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PathBufValueParser, PossibleValuesParser, StyledStr};
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use clap_complete::Shell;
use store::Durability;

use crate::config::settings::{KEYS, Key};
use crate::config::{CONFIG_VARIABLE, Config, Data, Error, Outbound, Sources, TlsFiles};
use crate::log::Filter;
use crate::serve::signing;
use crate::sut::{self, Sut};
use tap::Upstream;

/// By this variable a conformance suite says how long it waits for a stream, in seconds.
const TIMEOUT_VARIABLE: &str = "TCK_STREAMING_TIMEOUT";

pub(crate) mod backend;
mod card;
mod chat;
pub(crate) mod client;
pub(crate) mod law;
pub(crate) mod memory;
pub(crate) mod models;
pub(crate) mod request;
mod send;
pub(crate) mod tap;
mod task;
pub(crate) mod webhook;

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;

/// What the user asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Command {
    /// Serve the agent.
    Serve(Config),
    /// Serve the agent that conformance suites and measurements drive.
    Sut(Config, Sut),
    /// Use the tools of a conformance suite.
    SutClient(sut::client::Asked),
    /// Serve the agent's skills over MCP, on standard input and output.
    Mcp(Config),
    /// Show the frames of Cap'n Web sessions.
    Tap(tap::Options),
    /// Look after the webhooks of a running server.
    Webhook(webhook::Asked),
    /// List models, or fetch weights.
    Models(Box<models::Asked>),
    /// Look after what an agent remembers.
    Memory(Box<memory::Asked>),
    /// What an agent goes by, or why it did something.
    Life(Box<law::Asked>),
    /// Make or show a key that signs the card.
    Key(signing::Asked),
    /// Ask something of an agent.
    Ask(Box<client::Request>),
    /// Write what a shell needs to complete command lines.
    Completion(Shell),
}

impl Command {
    /// Reads the command line and what stands behind it.
    pub(crate) fn read(
        arguments: impl IntoIterator<Item = OsString>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Refused> {
        let matches = definition().try_get_matches_from(arguments)?;
        match matches.subcommand() {
            Some(("sut", matches)) => {
                Ok(Self::Sut(sut(matches, &environment), agent(&environment)?))
            }
            Some(("sut-client", matches)) => {
                let url = matches.get_one::<String>("url").ok_or_else(missing)?;
                Ok(Self::SutClient(sut::client::Asked::new(url, &environment)))
            }
            Some(("mcp", matches)) => Ok(Self::Mcp(serve(matches, &environment)?)),
            Some(("models", matches)) => {
                let asked = models::Asked::read(matches, |it| serve(it, &environment))?;
                Ok(Self::Models(Box::new(asked)))
            }
            Some(("capnweb", matches)) => Ok(Self::Tap(tap(matches, &environment)?)),
            Some(("webhook", matches)) => {
                let (_, given) = matches.subcommand().ok_or_else(missing)?;
                let outbound = outbound(given, &environment)?;
                let asked = webhook::Asked::read(matches, outbound, &environment);
                Ok(Self::Webhook(asked.ok_or_else(missing)?))
            }
            Some(("memory", matches)) => {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let config = serve(matches, &environment)?;
                let asked = memory::read(name, matches, config, &environment);
                Ok(Self::Memory(Box::new(asked)))
            }
            Some(("law", matches)) => {
                let (name, matches) = matches.subcommand().ok_or_else(missing)?;
                let config = serve(matches, &environment)?;
                let asked = law::Asked::read(name, matches, config, &environment);
                Ok(Self::Life(Box::new(asked)))
            }
            Some((name @ "why", matches)) => {
                let config = serve(matches, &environment)?;
                let asked = law::Asked::read(name, matches, config, &environment);
                Ok(Self::Life(Box::new(asked)))
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
                let asked = asked.and_then(|(name, matches)| signing::Asked::read(name, matches));
                Ok(Self::Key(asked.ok_or_else(missing)?))
            }
            Some((_, matches)) => Ok(Self::Serve(serve(matches, &environment)?)),
            None => Ok(Self::Serve(serve(&matches, &environment)?)),
        }
    }

    /// The configuration of the server, when it is one.
    pub(crate) fn config(&self) -> Option<&Config> {
        match self {
            Self::Serve(config) | Self::Sut(config, _) | Self::Mcp(config) => Some(config),
            _ => None,
        }
    }
}

/// Why there is no command: the user asked for help, or asked for something that is not there.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// The command line cannot be read, or asks for help.
    #[error(transparent)]
    Usage(#[from] clap::Error),
    /// What is set makes no sense.
    #[error(transparent)]
    Config(#[from] Error),
}

/// What a shell needs to complete command lines.
pub(crate) fn completion(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition(), "monas", &mut script);
    script
}

/// The command line as a whole. Without a subcommand it is `serve`.
fn definition() -> clap::Command {
    let serve =
        |command: clap::Command| command.args(KEYS.iter().filter_map(argument)).arg(config());
    let settings: Vec<Arg> = KEYS.iter().filter_map(argument).chain([config()]).collect();
    serve(clap::Command::new("monas"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("A home for AI agents: one binary, one port, open protocols.")
        .after_help(
            "Without a command it serves. Every setting is also an environment variable and a key of \
             monas.toml; docs/configuration.md lists them all.",
        )
        .args_conflicts_with_subcommands(true)
        .subcommand(serve(
            clap::Command::new("serve").about("Serve the agent (also what happens without a command)"),
        ))
        .subcommand(serve(
            clap::Command::new("mcp")
                .about("Serve the agent's skills over MCP, on standard input and output")
                .long_about(
                    "Serves the agent's skills over MCP to whoever started this process, on its standard input \
                     and output, with the data of this machine. A running server offers the same at /mcp.",
                ),
        ))
        .subcommand(
            clap::Command::new("sut")
                .about("Serve the agent that conformance suites and measurements drive")
                .long_about(
                    "Serves the agent that conformance suites and measurements drive: its behaviour is \
                     chosen by how a message begins. It reads no configuration file, and calls webhooks \
                     at loopback addresses.",
                )
                .args(sut_arguments()),
        )
        .subcommand(
            clap::Command::new("sut-client")
                .about("Use the tools of a conformance suite of MCP")
                .hide(true)
                .arg(Arg::new("url").required(true)),
        )
        .subcommands(client::commands())
        .subcommand(
            clap::Command::new("completion")
                .about("Write what a shell needs to complete command lines")
                .arg(
                    Arg::new("shell")
                        .value_name("SHELL")
                        .required(true)
                        .value_parser(value_parser!(Shell))
                        .help("The shell"),
                ),
        )
        .subcommand(
            clap::Command::new("capnweb")
                .about("Look at Cap'n Web sessions")
                .subcommand_required(true)
                .arg_required_else_help(true)
                .subcommand(
                    clap::Command::new("tap")
                        .about("Show the frames of sessions as they pass")
                        .long_about(
                            "Listens for clients, connects each of them to the server at URL, passes their \
                             frames on and prints what every one of them is, until Ctrl-C. Clients connect to \
                             the address it prints instead of to the server.\n\n\
                             Each line has the session, the seconds since it began, the number of the frame, \
                             who sent it and what it says. c1 is the first thing the client pushed, s-1 the \
                             first capability the server sent, main the main object of the side that is \
                             spoken to.",
                        )
                        .args(tap_arguments()),
                ),
        )
        .subcommand(models::definition(serve))
        .subcommand(webhook::definition())
        .subcommand(memory::definition(&settings))
        .subcommands(law::definitions(&settings))
}

/// A subcommand that needs another one behind it stands alone.
fn missing() -> clap::Error {
    clap::Error::new(clap::error::ErrorKind::MissingSubcommand)
}

/// The flag of a setting.
fn argument(key: &'static Key) -> Option<Arg> {
    let (flag, value) = key.flag?;
    let help = format!(
        "{} [{}, default: {}]",
        key.help(),
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

fn sut_arguments() -> Vec<Arg> {
    vec![
        Arg::new("listen")
            .long("listen")
            .value_name("ADDRESS")
            .value_parser(value_parser!(SocketAddr))
            .default_value("127.0.0.1:8080")
            .help("Where to listen"),
        Arg::new("store")
            .long("store")
            .value_name("memory|DIR")
            .value_parser(PathBufValueParser::new())
            .default_value("memory")
            .help("Where to keep tasks: nowhere, or in a folder"),
        Arg::new("durability")
            .long("durability")
            .value_parser(PossibleValuesParser::new(["full", "normal"]))
            .default_value("full")
            .help("What an acknowledgement promises, with a folder"),
        Arg::new("keep-count")
            .long("keep-count")
            .value_name("N")
            .value_parser(value_parser!(u64).range(1..))
            .help("How many finished tasks to keep"),
        Arg::new("tls-cert")
            .long("tls-cert")
            .value_name("FILE")
            .value_parser(PathBufValueParser::new())
            .requires("tls-key")
            .help("The certificate chain for TLS, a PEM file"),
        Arg::new("tls-key")
            .long("tls-key")
            .value_name("FILE")
            .value_parser(PathBufValueParser::new())
            .requires("tls-cert")
            .help("The key of the certificate, a PEM file"),
        Arg::new("log")
            .long("log")
            .value_name("FILTER")
            .value_parser(|text: &str| Filter::new(text).ok_or("not a filter such as info"))
            .help("What to log [MONAS_LOG, default: warn]"),
        Arg::new("commit-delay")
            .long("commit-delay")
            .value_name("MS")
            .value_parser(value_parser!(u64))
            .hide(true),
    ]
}

fn tap_arguments() -> Vec<Arg> {
    vec![
        Arg::new("url")
            .value_name("URL")
            .required(true)
            .value_parser(|text: &str| text.parse::<Upstream>())
            .help("The server, such as ws://127.0.0.1:8080/rpc or wss://example.com/rpc"),
        Arg::new("listen")
            .long("listen")
            .value_name("ADDRESS")
            .value_parser(value_parser!(SocketAddr))
            .default_value("127.0.0.1:0")
            .help("Where clients connect to; with port 0 the system chooses one"),
        ca_cert(),
    ]
}

fn tap(
    matches: &ArgMatches,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<tap::Options, Refused> {
    let (_, matches) = matches.subcommand().ok_or_else(missing)?;
    let upstream: Option<&Upstream> = matches.get_one("url");
    let listen: Option<&SocketAddr> = matches.get_one("listen");
    match (upstream, listen) {
        (Some(upstream), Some(listen)) => Ok(tap::Options {
            upstream: upstream.clone(),
            listen: *listen,
            outbound: outbound(matches, environment)?,
        }),
        _ => Err(missing().into()),
    }
}

/// How a command that is not about a server makes connections.
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

fn serve(
    matches: &ArgMatches,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Config, Error> {
    Config::read(&Given {
        matches,
        environment,
    })
}

fn sut(matches: &ArgMatches, environment: &dyn Fn(&str) -> Option<String>) -> Config {
    let folder = matches.get_one::<PathBuf>("store");
    let data = match folder {
        Some(folder) if folder.as_os_str() != "memory" => Data::Folder(folder.clone()),
        _ => Data::Memory,
    };
    let mut config = Config::new(data);
    if let Some(listen) = matches.get_one("listen") {
        config.listen = *listen;
    }
    if matches
        .get_one::<String>("durability")
        .is_some_and(|it| it == "normal")
    {
        config.store.durability = Durability::Normal;
    }
    let log = matches.get_one::<Filter>("log").cloned();
    let variable = || environment("MONAS_LOG").and_then(|text| Filter::new(&text));
    config.log = log.or_else(variable).unwrap_or_else(Filter::warn);
    config.store.commit_delay = matches
        .get_one("commit-delay")
        .copied()
        .map(Duration::from_millis);
    if let Some(count) = matches.get_one("keep-count") {
        config.store.keep_count = *count;
    }
    let file = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    if let (Some(certificate), Some(key)) = (file("tls-cert"), file("tls-key")) {
        config.tls = Some(TlsFiles { certificate, key });
    }
    config.push_private = true;
    config
}

/// The agent, as patient as the suite that drives it.
fn agent(environment: &dyn Fn(&str) -> Option<String>) -> Result<Sut, Error> {
    let Some(text) = environment(TIMEOUT_VARIABLE) else {
        return Ok(Sut::default());
    };
    let seconds = text.parse().ok();
    match seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) {
        Some(timeout) => Ok(Sut { timeout }),
        None => Err(Error::Text {
            place: TIMEOUT_VARIABLE.to_owned(),
            value: text,
            expected: "a number of seconds",
        }),
    }
}

/// The command line and the environment.
struct Given<'a> {
    matches: &'a ArgMatches,
    environment: &'a dyn Fn(&str) -> Option<String>,
}

impl Given<'_> {
    /// A folder of the user's: named by a variable, or else this one at home.
    fn user_folder(&self, variable: &str, at_home: &str) -> Option<PathBuf> {
        // An empty or relative folder counts as none, as the XDG specification has it.
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
