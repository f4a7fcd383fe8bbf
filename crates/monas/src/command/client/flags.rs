//! The flags that all commands which ask a server have: the server, credentials, times, output; and bindings, for those
//! that speak A2A.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use a2a::client::{Client, Identity, Settings, Trust, Version};
use a2a::signature::TrustedKeys;
use a2a::types::{APIKeySecurityScheme, AgentCard, Scheme as SecurityScheme};
use access::Signer;
use clap::ArgMatches;
use dial::Dialer;

mod chat;
mod list;
mod target;

use list::{FLAGS, Flag, PLAIN};
pub(in crate::command) use list::{Scope, arguments};
pub(crate) use target::Target;

use super::failure::Failure;
use super::print::{Color, Printer};
use crate::command::login::kept;
use crate::command::request;
use crate::config::{Outbound, duration};
use crate::serve::tokens;

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
    /// The server or agent that flags or variables name.
    named: Option<Target>,
    /// The agent on the server; none stands for the default agent.
    pub(in crate::command) agent: Option<String>,
    /// The folder in which a running server is looked for.
    pub(in crate::command) data: Option<PathBuf>,
    /// The folder of tokens that `monas login` got.
    pub(in crate::command) tokens: Option<PathBuf>,
    pub(in crate::command) output: Output,
    color: Color,
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
    /// The key that signs requests.
    sign_key: Option<PathBuf>,
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
        // A command has not all flags; the variables of the others do no harm.
        let given = matches.try_get_many::<String>(flag.name).ok().flatten();
        if let Some(values) = given {
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
        scope: Scope,
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
        let color = match one("color").as_deref() {
            Some("always") => Color::Always,
            Some("never") => Color::Never,
            Some("auto") | None => Color::auto(environment),
            Some(other) => return Err(wrong("color", other, "auto, always or never")),
        };
        let named = Target::named(matches, environment, scope).map_err(|why| {
            clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, format!("{why}\n"))
        })?;
        Ok(Self {
            named,
            agent: one("for"),
            data: None,
            tokens: crate::config::tokens::folder(environment),
            output,
            color,
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
            sign_key: one("sign-key").map(Into::into),
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

    /// The server that flags or variables name, unless the command line names the data.
    pub(in crate::command) fn named(&self) -> Option<&Target> {
        self.named.as_ref()
    }

    /// The server that is asked: the one that is named, the one that runs on the data, or the one at the default
    /// address.
    pub(in crate::command) fn target(&self) -> Target {
        let data = self.data.as_deref();
        let named = self.named.clone();
        named
            .or_else(|| Target::running(data?))
            .unwrap_or_else(|| Target::default(data))
    }

    /// Says which server is asked, unless the user has just named it or wants JSON alone.
    pub(in crate::command) fn announce(&self, target: &Target) {
        let evident = target.is_flag() || self.output == Output::Json;
        if !evident || self.verbose {
            super::print::note(&target.announcement());
        }
    }

    /// What prints the replies.
    pub(crate) fn printer(&self) -> Printer {
        Printer::new(self.output, self.color)
    }

    /// Reads the card of the agent and makes a client for it.
    pub(in crate::command) async fn connect(&self) -> Result<Client, Failure> {
        let target = self.target();
        self.announce(&target);
        let found = self.discover(&target.agent(self.agent.as_deref())).await;
        let client = match (found, &self.agent) {
            (Err(Failure::Call(a2a::client::Error::Card(_))), Some(agent)) => {
                return Err(Failure::NoAgent {
                    agent: agent.clone(),
                    server: target.server().0,
                });
            }
            (found, _) => found?,
        };
        if self.verbose {
            let endpoint = client.endpoint();
            super::print::note(&format!(
                "{} over {} {} at {}",
                client.card().name,
                endpoint.binding.name,
                endpoint.version,
                endpoint.url
            ));
        }
        Ok(client)
    }

    /// A client for the agent at an address, with the API key in the place that its card names.
    async fn discover(&self, url: &str) -> Result<Client, Failure> {
        let plain = self.settings(url)?;
        let server = self.target().server().0;
        let (settings, is_signed_in) = match self.kept_token(&server).await? {
            Some(token) => (plain.clone().bearer(&token)?, true),
            None => (plain.clone(), false),
        };
        let client = self.find(url, settings.clone()).await?;
        // A card may name another server, which the token is not for.
        if is_signed_in && !has_same_origin(&server, &client.endpoint().url) {
            return Ok(Client::of_card(client.raw_card().clone(), plain)?);
        }
        match &self.api_key {
            None => Ok(client),
            Some(Secret(key)) => {
                let settings = settings.key(&key_scheme(&client), key)?;
                Ok(Client::of_card(client.raw_card().clone(), settings)?)
            }
        }
    }

    async fn find(&self, url: &str, settings: Settings) -> Result<Client, Failure> {
        let finding = Client::discover(url, settings);
        let found = tokio::time::timeout(self.timeout, finding).await;
        Ok(found.map_err(|_| a2a::client::Error::Late(self.timeout))??)
    }

    /// The card of an agent, read without credentials.
    pub(in crate::command) async fn card(&self, url: &str) -> Result<AgentCard, crate::Error> {
        let found = match self.settings(url) {
            Ok(settings) => self.find(url, settings).await,
            Err(failure) => Err(failure),
        };
        let client = found.map_err(|failure| request::Failure::Unreachable {
            server: url.to_owned(),
            problem: failure.to_string(),
        })?;
        Ok(client.card().clone())
    }

    /// The token that `monas login` got for a server, unless the command line has other credentials, or the server runs on the
    /// data of this account.
    async fn kept_token(&self, server: &str) -> Result<Option<String>, Failure> {
        if self.has_credentials() || self.own_token(server).is_some() {
            return Ok(None);
        }
        let Some(folder) = self.tokens.as_deref() else {
            return Ok(None);
        };
        let dialer = Dialer::new(&self.dial_settings()?).map_err(crate::config::Error::from)?;
        let token = kept::token(server, folder, &dialer).await;
        token.map_err(|error| crate::Error::from(error).into())
    }

    /// How connections are made.
    pub(in crate::command) fn dial_settings(&self) -> Result<dial::Settings, crate::config::Error> {
        let mut outbound = self.outbound.clone();
        if self.authorities.is_some() {
            outbound.ca_cert.clone_from(&self.authorities);
        }
        let mut settings = outbound.settings()?;
        if self.insecure {
            settings.trust = Trust::Unchecked;
        }
        Ok(settings)
    }

    /// The settings of requests that are not of A2A to the server at an address. Where an API key goes, its card says.
    pub(in crate::command) async fn request_settings(
        &self,
        server: &str,
    ) -> Result<Settings, Failure> {
        let mut settings = self.settings(server)?;
        if let Some(token) = self.kept_token(server).await? {
            settings = settings.bearer(&token)?;
        }
        match &self.api_key {
            None => Ok(settings),
            Some(Secret(key)) => {
                let client = self.discover(server).await?;
                Ok(settings.key(&key_scheme(&client), key)?)
            }
        }
    }

    /// Whether flags have credentials.
    fn has_credentials(&self) -> bool {
        let authorized = |(name, _): &(String, Secret)| name.eq_ignore_ascii_case("authorization");
        self.bearer.is_some()
            || self.basic.is_some()
            || self.api_key.is_some()
            || self.identity.is_some()
            || self.sign_key.is_some()
            || self.parameters.iter().any(authorized)
    }

    /// The token for a server that no flag has credentials for. Only the server that runs on the data of this account gets
    /// one: it is made with the secret in the data, and the address is that in the lock, which the server holds. An open server
    /// gets none.
    fn own_token(&self, url: &str) -> Option<String> {
        let data = self.data.as_deref().filter(|_| !self.has_credentials())?;
        let own = Target::closed(data)?.server().0;
        let below = url.strip_prefix(&own)?;
        match below.is_empty() || below.starts_with('/') {
            true => tokens::of_owner(data),
            false => None,
        }
    }

    /// The settings of requests to an address.
    fn settings(&self, url: &str) -> Result<Settings, Failure> {
        let mut settings = Settings::default();
        settings.dial = self.dial_settings()?;
        settings.bindings.clone_from(&self.transports);
        settings.version = self.version.as_deref().and_then(Version::named);
        settings.extensions.clone_from(&self.extensions);
        settings.time = self.timeout;
        let bearer = self
            .bearer
            .clone()
            .or_else(|| self.own_token(url).map(Secret));
        if let Some(Secret(token)) = &bearer {
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
        if let Some(path) = &self.sign_key {
            settings.signer = Some(signer(path)?);
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
        Ok(settings)
    }
}

/// The signer of a key file: a private key in PEM, or a secret as a JSON Web Key.
fn signer(path: &Path) -> Result<Signer, Failure> {
    let text = String::from_utf8_lossy(&read(path)?).into_owned();
    if text.trim_start().starts_with('{') {
        let signer = Signer::from_secret_jwk(&text);
        return signer.map_err(|error| Failure::file(path, &error));
    }
    let key = crate::serve::signing::read(path);
    let key = key.map_err(|error| Failure::file(path, &error))?;
    Ok(key.into_signer())
}

/// Whether two addresses have the same host and port, whatever is spoken there.
fn has_same_origin(one: &str, other: &str) -> bool {
    let authority = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        rest[..end].to_ascii_lowercase()
    };
    authority(one) == authority(other)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::file(path, &error))
}

/// The API key scheme of the agent: a configured one before that of users, one in a header before others.
fn key_scheme(client: &Client) -> APIKeySecurityScheme {
    let schemes = client.card().security_schemes.iter();
    let named = schemes.filter_map(|(name, scheme)| match &scheme.scheme {
        SecurityScheme::ApiKey(key) => Some((name, key)),
        _ => None,
    });
    let default = || APIKeySecurityScheme {
        location: "header".to_owned(),
        name: "X-API-Key".to_owned(),
        ..APIKeySecurityScheme::default()
    };
    // A server takes keys of its users where it takes configured ones, too.
    let best = named.min_by_key(|(name, key)| {
        let is_of_users = *name == access::users::KEY_SCHEME;
        (is_of_users, key.location != "header")
    });
    best.map_or_else(default, |(_, key)| key.clone())
}
