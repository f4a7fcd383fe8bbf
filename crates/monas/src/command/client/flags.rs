//! The flags that all commands which call an agent have: the agent, bindings, credentials, times, output.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use a2a::client::{Client, Identity, Settings, Trust, Version};
use a2a::signature::TrustedKeys;
use a2a::types::{APIKeySecurityScheme, Scheme};
use clap::ArgMatches;

mod list;

pub(in crate::command) use list::arguments;
use list::{FLAGS, Flag, PLAIN};

use super::failure::Failure;
use crate::config::{Outbound, duration};

/// The format of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Output {
    #[default]
    Text,
    /// JSON of the protocol.
    Json,
}

/// A text that `Debug` and `config show` hide.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, to be sent.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// A flag as `config show` prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::command) struct Shown {
    pub(in crate::command) name: &'static str,
    pub(in crate::command) value: String,
    /// The flag, the variable or `default`.
    pub(in crate::command) source: String,
}

/// The values of all flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    agent: String,
    pub(in crate::command) output: Output,
    transports: Vec<String>,
    version: Option<String>,
    bearer: Option<Secret>,
    basic: Option<(String, Secret)>,
    api_key: Option<Secret>,
    parameters: Vec<(String, Secret)>,
    extensions: Vec<String>,
    trusted: Vec<PathBuf>,
    /// Authorities and proxies of the settings; flags of the command line replace them.
    pub(in crate::command) outbound: Outbound,
    authorities: Option<PathBuf>,
    identity: Option<(PathBuf, PathBuf)>,
    insecure: bool,
    pub(in crate::command) timeout: Duration,
    pub(in crate::command) poll: Duration,
    verbose: bool,
    pub(crate) debug: bool,
    pub(in crate::command) shown: Vec<Shown>,
}

/// The values of a flag, and where they were found.
struct FlagValues {
    values: Vec<String>,
    source: String,
}

impl FlagValues {
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
    /// Reads flags and variables; an error names the flag or variable.
    pub(in crate::command) fn read(
        matches: &ArgMatches,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, clap::Error> {
        let find = |name: &str| {
            let flag = FLAGS.iter().find(|flag| flag.name == name);
            FlagValues::of(flag.unwrap_or(&PLAIN), matches, environment)
        };
        let one = |name: &str| find(name).values.into_iter().next();
        let wrong = |name: &str, value: &str, expected: &str| {
            let source = find(name).source;
            let message = format!("{source} is {value:?}; expected {expected}");
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
                .filter(|time| !time.is_zero())
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
        let basic = match one("basic") {
            None => None,
            Some(text) => match text.split_once(':') {
                Some((user, password)) => Some((user.to_owned(), Secret(password.to_owned()))),
                None => return Err(wrong("basic", "a text without :", "USER:PASSWORD")),
            },
        };
        let identity = match (one("client-cert"), one("client-key")) {
            (Some(certificate), Some(key)) => Some((certificate.into(), key.into())),
            (None, None) => None,
            (Some(file), None) => return Err(wrong("client-cert", &file, "with --client-key")),
            (None, Some(file)) => return Err(wrong("client-key", &file, "with --client-cert")),
        };
        Ok(Self {
            agent: one("agent-card").unwrap_or_default(),
            output,
            transports: find("transport").values,
            version,
            bearer: one("bearer").map(Secret),
            basic,
            api_key: one("api-key").map(Secret),
            parameters,
            extensions: find("extension").values,
            trusted: find("trusted-keys")
                .values
                .into_iter()
                .map(Into::into)
                .collect(),
            outbound: Outbound::default(),
            authorities: one("ca-cert").map(Into::into),
            identity,
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

    /// Reads the card of the agent and makes a client for it.
    pub(in crate::command) async fn connect(&self) -> Result<Client, Failure> {
        let settings = self.settings()?;
        let finding = Client::discover(&self.agent, settings.clone());
        let found = tokio::time::timeout(self.timeout, finding).await;
        let mut client = found.map_err(|_| a2a::client::Error::Late(self.timeout))??;
        if let Some(Secret(key)) = &self.api_key {
            let settings = settings.key(&key_scheme(&client), key)?;
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
        let mut outbound = self.outbound.clone();
        if self.authorities.is_some() {
            outbound.ca_cert.clone_from(&self.authorities);
        }
        settings.dial = outbound.settings()?;
        settings.bindings.clone_from(&self.transports);
        settings.version = self.version.as_deref().and_then(Version::named);
        settings.extensions.clone_from(&self.extensions);
        settings.time = self.timeout;
        if let Some(Secret(token)) = &self.bearer {
            settings = settings.bearer(token)?;
        }
        if let Some((user, Secret(password))) = &self.basic {
            settings = settings.basic(user, password)?;
        }
        if let Some((certificate, key)) = &self.identity {
            let identity = Identity::from_pem(&read(certificate)?, &read(key)?);
            let identity = identity.map_err(|error| Failure::file(certificate, &error))?;
            settings.dial.identity = Some(identity);
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
        if self.insecure {
            settings.dial.trust = Trust::Unchecked;
        }
        Ok(settings)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::file(path, &error))
}

/// The API key scheme of the agent; one in a header, if it has several.
fn key_scheme(client: &Client) -> APIKeySecurityScheme {
    let schemes = client.card().security_schemes.values();
    let named = schemes.filter_map(|scheme| match &scheme.scheme {
        Scheme::ApiKey(key) => Some(key),
        _ => None,
    });
    let default = || APIKeySecurityScheme {
        location: "header".to_owned(),
        name: "X-API-Key".to_owned(),
        ..APIKeySecurityScheme::default()
    };
    let best = named.min_by_key(|key| key.location != "header");
    best.cloned().unwrap_or_else(default)
}
