//! What every command understands: which agent, how to reach it, who calls, how to print.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use a2a::client::{Client, Settings, Tls, Version};
use a2a::signature::TrustedKeys;
use a2a::types::Scheme;
use clap::builder::StyledStr;
use clap::{Arg, ArgAction, ArgMatches};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::failure::Failure;
use crate::config::duration;

/// A flag. Its variable is `A2ACLI_` and its name in capitals.
struct Flag {
    name: &'static str,
    short: Option<char>,
    /// What its value is called; a switch has none.
    value: &'static str,
    default: &'static str,
    /// Whether it can be given several times; in the variable, with commas between.
    list: bool,
    /// Whether its value is never shown.
    secret: bool,
    help: &'static str,
}

const PLAIN: Flag = Flag {
    name: "",
    short: None,
    value: "",
    default: "",
    list: false,
    secret: false,
    help: "",
};

const FLAGS: &[Flag] = &[
    Flag {
        name: "agent-card",
        short: Some('a'),
        value: "URL",
        default: "http://127.0.0.1:8080",
        help: "The agent: the address of its host, or of its card",
        ..PLAIN
    },
    Flag {
        name: "output",
        short: Some('o'),
        value: "text|json",
        default: "text",
        help: "How to print: for people, or as the protocol writes it, a line for each event of a stream",
        ..PLAIN
    },
    Flag {
        name: "transport",
        value: "BINDING",
        list: true,
        help: "A binding to use, best first: jsonrpc, rest, grpc, capnweb, websocket",
        ..PLAIN
    },
    Flag {
        name: "a2a-version",
        value: "1.0|0.3",
        help: "The only version to speak",
        ..PLAIN
    },
    Flag {
        name: "bearer",
        value: "TOKEN",
        secret: true,
        help: "Who calls, by a bearer token",
        ..PLAIN
    },
    Flag {
        name: "api-key",
        value: "KEY",
        secret: true,
        help: "Who calls, by a key in the header that the card names",
        ..PLAIN
    },
    Flag {
        name: "svc-param",
        value: "NAME=VALUE",
        list: true,
        secret: true,
        help: "A service parameter: a header of every request",
        ..PLAIN
    },
    Flag {
        name: "extension",
        value: "URI",
        list: true,
        help: "An extension that the caller understands",
        ..PLAIN
    },
    Flag {
        name: "trusted-keys",
        value: "FILE",
        list: true,
        help: "Public keys, PEM or JWK: only a card that one of them signed is believed",
        ..PLAIN
    },
    Flag {
        name: "ca-cert",
        value: "FILE",
        help: "Certificate authorities to believe besides the public ones, PEM",
        ..PLAIN
    },
    Flag {
        name: "insecure",
        default: "false",
        help: "Believe any certificate: whoever stands between can read and change everything",
        ..PLAIN
    },
    Flag {
        name: "timeout",
        value: "TIME",
        default: "300s",
        help: "How long to wait for an answer, or with --wait for the end of the task",
        ..PLAIN
    },
    Flag {
        name: "poll-interval",
        value: "TIME",
        default: "1s",
        help: "How often to look while waiting",
        ..PLAIN
    },
    Flag {
        name: "verbose",
        short: Some('v'),
        default: "false",
        help: "Say on standard error which way a call takes",
        ..PLAIN
    },
    Flag {
        name: "debug",
        default: "false",
        help: "Say on standard error what happens inside",
        ..PLAIN
    },
];

impl Flag {
    fn variable(&self) -> String {
        format!("A2ACLI_{}", self.name.replace('-', "_").to_uppercase())
    }

    fn argument(&self) -> Arg {
        let default = match self.default {
            "" | "false" => String::new(),
            default => format!(", default: {default}"),
        };
        let help = format!("{} [{}{default}]", self.help, self.variable());
        let argument = Arg::new(self.name)
            .long(self.name)
            .help(StyledStr::from(help))
            .help_heading("The agent, and how to reach it");
        let argument = match self.short {
            Some(short) => argument.short(short),
            None => argument,
        };
        if self.value.is_empty() {
            return argument
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_name("true|false");
        }
        let argument = argument.value_name(self.value);
        if self.list {
            argument.action(ArgAction::Append)
        } else {
            argument
        }
    }
}

/// The flags, for a command that calls an agent.
pub(super) fn arguments() -> impl Iterator<Item = Arg> {
    FLAGS.iter().map(Flag::argument)
}

/// How answers are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// For people.
    #[default]
    Text,
    /// As the protocol writes it.
    Json,
}

/// What is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    /// What it is, for who must know.
    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// A setting as it is shown to its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) name: &'static str,
    pub(super) value: String,
    /// Where it comes from.
    pub(super) source: String,
}

/// What is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    agent: String,
    pub(super) output: Output,
    transports: Vec<String>,
    version: Option<String>,
    bearer: Option<Secret>,
    api_key: Option<Secret>,
    parameters: Vec<(String, Secret)>,
    extensions: Vec<String>,
    trusted: Vec<PathBuf>,
    authorities: Option<PathBuf>,
    insecure: bool,
    pub(super) timeout: Duration,
    pub(super) poll: Duration,
    verbose: bool,
    pub(crate) debug: bool,
    pub(super) shown: Vec<Shown>,
}

/// What a flag or its variable says.
struct Found {
    values: Vec<String>,
    source: String,
}

impl Found {
    fn of(flag: &Flag, matches: &ArgMatches, environment: &dyn Fn(&str) -> Option<String>) -> Self {
        if let Some(values) = matches.get_many::<String>(flag.name) {
            return Self {
                values: values.cloned().collect(),
                source: format!("--{}", flag.name),
            };
        }
        let variable = flag.variable();
        if let Some(text) = environment(&variable).filter(|text| !text.is_empty()) {
            let values = match flag.list {
                true => text.split(',').map(|it| it.trim().to_owned()).collect(),
                false => vec![text],
            };
            return Self {
                values,
                source: variable,
            };
        }
        let default = Some(flag.default).filter(|default| !default.is_empty());
        Self {
            values: default.map(str::to_owned).into_iter().collect(),
            source: "default".to_owned(),
        }
    }

    fn shown(&self, flag: &Flag) -> Shown {
        let value = if flag.secret && !self.values.is_empty() {
            "(set, not shown)".to_owned()
        } else {
            self.values.join(", ")
        };
        Shown {
            name: flag.name,
            value,
            source: self.source.clone(),
        }
    }
}

impl Options {
    /// Reads flags and variables. What is wrong is said with the place it stands in.
    pub(super) fn read(
        matches: &ArgMatches,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        let find = |name: &str| {
            let flag = FLAGS.iter().find(|flag| flag.name == name);
            Found::of(flag.unwrap_or(&PLAIN), matches, environment)
        };
        let one = |name: &str| find(name).values.into_iter().next();
        let wrong = |name: &str, value: &str, expected: &str| {
            let source = find(name).source;
            let message = format!("{source} is {value:?}, and should be {expected}");
            clap::Error::raw(clap::error::ErrorKind::InvalidValue, format!("{message}\n"))
        };
        let switch = |name: &str| match one(name).as_deref() {
            Some("true" | "1") => Ok(true),
            Some("false" | "0") | None => Ok(false),
            Some(other) => Err(wrong(name, other, "true or false")),
        };
        let time = |name: &str| {
            let text = one(name).unwrap_or_default();
            let bare = text.parse().ok().map(Duration::from_secs);
            bare.or_else(|| duration(&text))
                .ok_or_else(|| wrong(name, &text, "a time, such as 500ms, 30s or 5m"))
        };
        let output = match one("output").as_deref() {
            Some("json") => Output::Json,
            Some("text") | None => Output::Text,
            Some(other) => return Err(wrong("output", other, "text or json")),
        };
        let version = one("a2a-version");
        if let Some(text) = &version
            && Version::named(text).is_none()
        {
            return Err(wrong("a2a-version", text, "1.0 or 0.3"));
        }
        let mut parameters = Vec::new();
        for text in find("svc-param").values {
            let Some((name, value)) = text.split_once('=') else {
                return Err(wrong("svc-param", "a text without =", "NAME=VALUE"));
            };
            parameters.push((name.to_owned(), Secret(value.to_owned())));
        }
        Ok(Self {
            agent: one("agent-card").unwrap_or_default(),
            output,
            transports: find("transport").values,
            version,
            bearer: one("bearer").map(Secret),
            api_key: one("api-key").map(Secret),
            parameters,
            extensions: find("extension").values,
            trusted: find("trusted-keys")
                .values
                .into_iter()
                .map(Into::into)
                .collect(),
            authorities: one("ca-cert").map(Into::into),
            insecure: switch("insecure")?,
            timeout: time("timeout")?,
            poll: time("poll-interval")?,
            verbose: switch("verbose")?,
            debug: switch("debug")?,
            shown: FLAGS
                .iter()
                .map(|flag| find(flag.name).shown(flag))
                .collect(),
        })
    }

    /// Finds the agent.
    pub(super) async fn connect(&self) -> Result<Client, Failure> {
        let settings = self.settings()?;
        let finding = Client::discover(&self.agent, settings.clone());
        let found = tokio::time::timeout(self.timeout, finding).await;
        let mut client = found.map_err(|_| a2a::client::Error::Late(self.timeout))??;
        if let Some(Secret(key)) = &self.api_key {
            let settings = settings.header(key_header(&client), key)?;
            client = Client::of_card(client.raw_card().clone(), settings)?;
        }
        if self.verbose {
            let way = client.way();
            super::print::note(&format!(
                "{} over {} {} at {}",
                client.card().name,
                way.binding.name,
                way.version,
                way.url
            ));
        }
        Ok(client)
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let mut settings = Settings::default();
        settings.bindings.clone_from(&self.transports);
        settings.version = self.version.as_deref().and_then(Version::named);
        settings.extensions.clone_from(&self.extensions);
        settings.time = self.timeout;
        if let Some(Secret(token)) = &self.bearer {
            settings = settings.bearer(token)?;
        }
        for (name, Secret(value)) in &self.parameters {
            settings = settings.header(name, value)?;
        }
        if !self.trusted.is_empty() {
            let mut trusted = TrustedKeys::default();
            for path in &self.trusted {
                let text = String::from_utf8_lossy(&read(path)?).into_owned();
                let keys = TrustedKeys::read(&text);
                trusted.add(keys.map_err(|error| Failure::file(path, &error))?);
            }
            settings.trusted = Some(trusted);
        }
        if let Some(path) = &self.authorities {
            let pem = read(path)?;
            let read = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, _>>();
            let authorities = read.map_err(|error| Failure::file(path, &error))?;
            settings.tls = Tls::Also(authorities);
        }
        if self.insecure {
            settings.tls = Tls::Anyone;
        }
        Ok(settings)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::file(path, &error))
}

/// The header in which the agent wants a key.
fn key_header(client: &Client) -> &str {
    let schemes = client.card().security_schemes.values();
    let mut named = schemes.filter_map(|scheme| match &scheme.scheme {
        Scheme::ApiKey(key) if key.location == "header" => Some(&*key.name),
        _ => None,
    });
    named.next().unwrap_or("X-API-Key")
}
