//! The command line of `sut`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use a2a::binding::card::View;
use a2a::binding::{BINDINGS, BindingUse};
use access::{Callers, Hash};
use clap::builder::{PathBufValueParser, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use monas::Config;
use monas::config::Switch;
use monas::config::access::{Access, Kind, Scheme};
use monas::config::{Data, StoreUrl, TlsFiles};
use monas::log::Filter;
use store::Durability;

use crate::{Sut, client};

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;

/// A conformance suite writes here how long it waits for a stream, in seconds.
const TIMEOUT_VARIABLE: &str = "TCK_STREAMING_TIMEOUT";

/// What the user asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    Serve(Box<Config>, Sut),
    /// Call the tools of a suite's own MCP server.
    Client(client::Calls),
}

/// Why a command line cannot be carried out, or asks for help.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line cannot be read, or asks for help.
    #[error(transparent)]
    Usage(#[from] clap::Error),
    /// The variable of the suite holds no time.
    #[error("read {TIMEOUT_VARIABLE}: {0:?} is not a number of seconds")]
    Timeout(String),
}

impl Command {
    /// Reads the command line and the environment.
    pub fn read(
        arguments: impl IntoIterator<Item = OsString>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, Error> {
        let matches = definition().try_get_matches_from(arguments)?;
        if let Some(("client", matches)) = matches.subcommand() {
            let url = matches.get_one::<String>("url").cloned();
            let calls = client::Calls::new(url.unwrap_or_default(), &environment);
            return Ok(Self::Client(calls));
        }
        let config = config(&matches, &environment);
        let agent = Sut {
            any_input: matches.get_flag("any-input"),
            ..agent(&environment)?
        };
        Ok(Self::Serve(Box::new(config), agent))
    }
}

fn definition() -> clap::Command {
    clap::Command::new("sut")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Serve the agent that conformance suites and measurements drive")
        .long_about(
            "Serves the agent that conformance suites and measurements drive: the beginning of a message \
             chooses what it does. It reads no configuration file, and calls webhooks at loopback addresses.",
        )
        .args_conflicts_with_subcommands(true)
        .args(arguments())
        .subcommand(
            clap::Command::new("client")
                .about("Call the tools of a conformance suite's MCP server")
                .arg(
                    Arg::new("url")
                        .value_name("URL")
                        .required(true)
                        .help("The server of the suite"),
                ),
        )
}

fn arguments() -> Vec<Arg> {
    vec![
        Arg::new("listen")
            .long("listen")
            .value_name("ADDRESS")
            .value_parser(value_parser!(SocketAddr))
            .default_value("127.0.0.1:8080")
            .help("Where to listen"),
        Arg::new("store")
            .long("store")
            .value_name("memory|DIR|postgres://...")
            .value_parser(PathBufValueParser::new())
            .default_value("memory")
            .help("Where to keep tasks: nowhere, in a folder, or in a PostgreSQL database"),
        Arg::new("durability")
            .long("durability")
            .value_parser(PossibleValuesParser::new(["full", "normal"]))
            .default_value("full")
            .help("What an acknowledgement promises, with a folder or a database"),
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
        Arg::new("bindings")
            .long("bindings")
            .value_name("LIST")
            .value_delimiter(',')
            .value_parser(PossibleValuesParser::new(BINDINGS.iter().map(|it| it.key)))
            .help("The bindings to offer, with commas between them [default: all]"),
        Arg::new("card")
            .long("card")
            .value_name("VERSION")
            .value_parser(PossibleValuesParser::new(["both", "1.0", "0.3"]))
            .default_value("both")
            .help("The version of the protocol that the card is written for"),
        Arg::new("any-input")
            .long("any-input")
            .action(ArgAction::SetTrue)
            .help("Take parts of every media type"),
        Arg::new("log")
            .long("log")
            .value_name("FILTER")
            .value_parser(|text: &str| Filter::new(text).ok_or("not a filter such as info"))
            .help("What to log [MONAS_LOG, default: warn]"),
        Arg::new("bearer")
            .long("bearer")
            .value_name("TOKEN")
            .help("A bearer token of the caller `bench`; callers without one are anonymous"),
        Arg::new("commit-delay")
            .long("commit-delay")
            .value_name("MS")
            .value_parser(value_parser!(u64))
            .hide(true),
    ]
}

fn config(matches: &ArgMatches, environment: &dyn Fn(&str) -> Option<String>) -> Config {
    let folder = matches.get_one::<PathBuf>("store");
    let database = folder.and_then(|place| StoreUrl::new(place.to_str()?));
    let data = match folder {
        Some(folder) if database.is_none() && folder.as_os_str() != "memory" => {
            Data::Folder(folder.clone())
        }
        _ => Data::Memory,
    };
    let mut config = Config::new(data);
    config.store.url = database;
    config.access = Access::open();
    // Suites and measurements call as often as they can.
    config.rate_limit = Switch::Off;
    config.audit.record = false;
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
    config.card_view = match matches.get_one::<String>("card").map(String::as_str) {
        Some("1.0") => View::V1_0,
        Some("0.3") => View::V0_3,
        _ => View::Both,
    };
    if let Some(chosen) = matches.get_many::<String>("bindings") {
        let chosen: Vec<&String> = chosen.collect();
        let others = BINDINGS.iter().map(|it| it.key);
        for key in others.filter(|key| !chosen.iter().any(|it| it == key)) {
            let set = config.bindings.set(key, BindingUse::Off);
            set.expect("it is the key of a binding");
        }
    }
    if let Some(token) = matches.get_one::<String>("bearer") {
        config.access = Access {
            schemes: vec![Scheme {
                name: "bench".to_owned(),
                description: String::new(),
                kind: Kind::Bearer(callers(token)),
            }],
            ..Access::open()
        };
    }
    config.push_private = true;
    config
}

/// One caller, known by this token.
fn callers(token: &str) -> Callers {
    let mut callers = Callers::default();
    let added = callers.add("bench", Hash::of(token), &[]);
    added.expect("the first name is not taken");
    callers
}

/// The agent, with the time limit of the suite that drives it.
fn agent(environment: &dyn Fn(&str) -> Option<String>) -> Result<Sut, Error> {
    let Some(text) = environment(TIMEOUT_VARIABLE) else {
        return Ok(Sut::default());
    };
    let seconds = text.parse().ok();
    let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let timeout = timeout.ok_or(Error::Timeout(text))?;
    Ok(Sut {
        timeout,
        ..Sut::default()
    })
}
