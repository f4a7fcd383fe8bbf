//! The configuration of a server: flags, then environment variables, then `monas.toml`, then defaults; the first of them
//! that has a setting counts.
//!
//! It is read in two stages. Each source is checked alone and becomes `Settings`; an error names the flag, the variable or
//! the line. Then the sources are merged into one [`Config`], and what is wrong in combination is refused.
//!
//! Layout:
//! - `settings`: the list of settings
//! - [`access`]: which callers are let in, `[access]` of the file
//! - [`models`]: `[model]` and `[embedder]`
//! - `outbound`: how connections to other machines are made
//! - `store_url`: the address of a database
//! - `value`: the types of values
//! - `file`, `nearest`: `monas.toml`, and suggestions for unknown names

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use ::access::{SignatureRule, TokenSecret, Unauthenticated, budget};
use a2a::binding::card::View;
use a2a::binding::{BINDINGS, BindingUse, BindingUses};
use axum::http::HeaderMap;
use store::Durability;

use crate::listen::{Origin, PublicUrl, TlsVersion};
use crate::log::{Filter, Format};

pub mod access;
mod file;
pub mod models;
pub(crate) mod nearest;
mod outbound;
pub(crate) mod settings;
mod store_url;
pub(crate) mod tokens;
mod value;

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;

pub use access::Access;
use access::{OwnTokens, Scheme};
use models::Models;
pub use outbound::Outbound;
use settings::{KEYS, Settings};
pub use store_url::StoreUrl;
use value::{Kind as _, Raw, Size};

/// A time as users write it: `500ms`, `30s`, `5m`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    Duration::from_text(text)
}

/// An address to listen on, as users write it: `127.0.0.1:8080`, `localhost:8080`, `8080`.
pub(crate) fn address(text: &str) -> Option<SocketAddr> {
    SocketAddr::from_text(text)
}

/// What [`address`] takes; completes "expected ...".
pub(crate) const ADDRESS_EXPECTED: &str = <SocketAddr as value::Kind>::EXPECTED;

/// Everything a server is made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// A loopback address, unless every caller has to authenticate.
    pub listen: SocketAddr,
    pub data: Data,
    /// The URL that clients are told to call, if it is not the listening address.
    pub public_url: Option<PublicUrl>,
    /// Origins of web pages that may call, besides the server's own.
    pub allow_origins: Vec<Origin>,
    /// Pages of any origin may call, where no caller is recognised by what a browser adds by itself
    /// ([`Config::allows_any_origin`]).
    pub any_origin: bool,
    /// A JSON file with what the extended card has besides the public one.
    pub extended_card: Option<PathBuf>,
    pub log: Filter,
    pub log_format: Format,
    /// Whether callers may make a limited number of calls.
    pub rate_limit: Switch,
    pub audit: Audit,
    /// Where traces are sent.
    pub otlp: Option<Otlp>,
    /// The database that gets the graph of memory.
    pub mirror: Option<Mirror>,
    /// What calls, callers and agents may use.
    pub budgets: budget::Settings,
    pub tls: Option<TlsFiles>,
    /// The oldest version of TLS that is spoken.
    pub tls_version: TlsVersion,
    pub access: Access,
    pub store: Store,
    pub bindings: BindingUses,
    pub agent: Agent,
    /// The file of the agent's manifest, which replaces `agent`.
    pub manifest: Option<PathBuf>,
    /// The folder in which agents read and write files.
    pub workspace: Option<PathBuf>,
    /// Serve the demo agent.
    pub demo: bool,
    /// The folder with manifests of further agents.
    pub agents: Option<PathBuf>,
    /// A `mcp.json` that names further tool servers.
    pub mcp_config: Option<PathBuf>,
    /// The file of the private key that signs the card.
    pub signing_key: Option<PathBuf>,
    /// The versions of the protocol that the public cards are written for.
    pub card_view: View,
    pub models: Models,
    /// How connections to other machines are made.
    pub outbound: Outbound,
    pub limits: Limits,
    /// Whether webhooks may be at loopback and private addresses.
    pub push_private: bool,
    /// How often the delivery of an event is tried before the webhook is given up.
    pub push_attempts: u32,
}

/// The description of the demo agent, which neither remembers nor asks.
const DEMO: &str = "A small agent to try the protocols with: it echoes, counts, streams, waits, asks and fails when it is told to.";

/// How many calls a second a session may make, unless that is set.
const PEOPLE_RATE: NonZeroU32 = NonZeroU32::new(10).expect("not zero");
const AGENT_RATE: NonZeroU32 = NonZeroU32::new(1000).expect("not zero");

/// Where a server keeps its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    Folder(PathBuf),
    /// In the process; it is lost when the server ends.
    Memory,
}

/// The two PEM files for TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    pub certificate: PathBuf,
    /// The key of its first certificate.
    pub key: PathBuf,
}

/// The settings of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The database that the store is in; none for a file in the data folder.
    pub url: Option<StoreUrl>,
    /// What an acknowledgement promises.
    pub durability: Durability,
    /// How long finished tasks are kept.
    pub keep_for: Duration,
    /// How many finished tasks are kept.
    pub keep_count: u64,
    /// When the events of a finished task become one snapshot.
    pub compact_after: Duration,
    /// The most bytes the data may take.
    pub max_bytes: Option<u64>,
    /// A wait before each commit, for measurements.
    pub commit_delay: Option<Duration>,
}

value::words!(Durability: "full or normal" {
    "full" => Durability::Full,
    "normal" => Durability::Normal,
});

value::words!(View: "both, \"1.0\" or \"0.3\"" {
    "both" => View::Both,
    "1.0" => View::V1_0,
    "0.3" => View::V0_3,
});

value::words!(BindingUse: "on, preferred, off or deprecated" {
    "on" => BindingUse::On,
    "preferred" => BindingUse::Preferred,
    "off" => BindingUse::Off,
    "deprecated" => BindingUse::Deprecated,
});

/// The name and description of an agent without a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub name: String,
    pub description: String,
}

/// Whether something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    On,
    Off,
}

value::words!(Switch: "on or off" {
    "on" => Switch::On,
    "off" => Switch::Off,
});

value::words!(Format: "text or json" {
    "text" => Format::Text,
    "json" => Format::Json,
});

/// The audit trail of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audit {
    pub record: bool,
    /// How long its lines are kept.
    pub keep_for: Duration,
    /// How many of them are kept.
    pub keep_count: u64,
}

/// A database that gets the graph of memory, over Bolt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mirror {
    pub url: String,
    pub user: String,
    /// The name of the secret with the password.
    pub secret: Option<String>,
    /// None: the default one of the server.
    pub database: Option<String>,
}

/// A receiver of traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Otlp {
    /// Its base URL.
    pub url: String,
    /// Sent with each request: credentials. Marked as sensitive, so that they are not printed.
    pub headers: HeaderMap,
}

/// The limits of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many connections may be open at once.
    pub max_connections: usize,
    /// How many of them may come from one address.
    pub max_connections_per_address: usize,
    /// The largest request body, in bytes.
    pub max_body: usize,
    /// How many tasks may be worked on at once.
    pub max_running: usize,
    /// How many calls a second a session of a caller may make on the wires for people, and on those of agents.
    pub rate: NonZeroU32,
    pub agent_rate: NonZeroU32,
    /// How long an agent may take to end once its task is cancelled.
    pub cancel_grace: Duration,
}

impl Config {
    /// The defaults, with the data in this place.
    pub fn new(data: Data) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            data,
            public_url: None,
            allow_origins: Vec::new(),
            any_origin: true,
            extended_card: None,
            log: Filter::info(),
            log_format: Format::Text,
            rate_limit: Switch::On,
            audit: Audit {
                record: true,
                keep_for: Duration::from_secs(90 * 24 * 60 * 60),
                keep_count: 1_000_000,
            },
            otlp: None,
            mirror: None,
            budgets: budget::Settings::default(),
            tls: None,
            tls_version: TlsVersion::default(),
            access: Access::default(),
            store: Store {
                url: None,
                durability: Durability::Full,
                keep_for: Duration::from_secs(30 * 24 * 60 * 60),
                keep_count: 1_000_000,
                compact_after: Duration::from_secs(24 * 60 * 60),
                max_bytes: None,
                commit_delay: None,
            },
            bindings: BindingUses::default(),
            agent: Agent {
                name: "Monas".to_owned(),
                description:
                    "An agent that remembers, uses skills, asks before it acts and says why."
                        .to_owned(),
            },
            manifest: None,
            agents: None,
            workspace: None,
            demo: false,
            mcp_config: None,
            signing_key: None,
            card_view: View::Both,
            models: Models::default(),
            outbound: Outbound::default(),
            limits: Limits {
                max_connections: 10_000,
                max_connections_per_address: 2_500,
                max_body: 16 << 20,
                max_running: 10_000,
                rate: PEOPLE_RATE,
                agent_rate: AGENT_RATE,
                cancel_grace: Duration::from_secs(5),
            },
            push_private: false,
            push_attempts: 8,
        }
    }

    /// Whether pages of any origin may call. Where a browser adds credentials by itself, or none are needed, only those of the
    /// listed origins may.
    pub fn allows_any_origin(&self) -> bool {
        self.any_origin && self.access.is_safe_for_any_page()
    }

    /// Reads and merges all sources.
    pub fn read(sources: &dyn Sources) -> Result<Self, Error> {
        let (file, schemes) = match sources.file() {
            Some(path) => file::read(&path)?,
            None => Default::default(),
        };
        let flags = texts(|key| {
            let (flag, _) = key.flag?;
            Some((format!("--{flag}"), sources.flag(flag)?))
        })?;
        let variables = texts(|key| {
            let variable = key.variable();
            let value = sources.variable(&variable)?;
            Some((variable, value))
        })?;
        let settings = flags.over(variables).over(file);
        Self::decide(settings, schemes, sources)
    }

    /// Reads what commands that only call need: how connections are made, and the data folder, in which they look for
    /// a running server. The folder is not read from a flag: `send --data` is part of a message.
    pub(crate) fn read_calling(
        sources: &dyn Sources,
    ) -> Result<(Outbound, Option<PathBuf>), Error> {
        let file = match sources.file() {
            Some(path) => file::read(&path)?.0,
            None => Settings::default(),
        };
        let mine = |key: &settings::Key| matches!(&*key.name, "ca_cert" | "connect_timeout");
        let flags = texts(|key| {
            let (flag, _) = key.flag.filter(|_| mine(key))?;
            Some((format!("--{flag}"), sources.flag(flag)?))
        })?;
        let variables = texts(|key| {
            let variable = key.variable();
            let value = sources.variable(&variable);
            Some((variable, value.filter(|_| mine(key) || key.name == "data")?))
        })?;
        let settings = flags.over(variables).over(file);
        let outbound = Outbound::decide(&settings, sources)?;
        Ok((outbound, settings.data.or_else(|| sources.data_folder())))
    }

    /// The second stage: checks the settings in combination and fills in defaults.
    fn decide(
        settings: Settings,
        schemes: Vec<Scheme>,
        sources: &dyn Sources,
    ) -> Result<Self, Error> {
        let open = settings.open.unwrap_or_default();
        let models = Models::decide(&settings, sources, !open || !schemes.is_empty())?;
        let outbound = Outbound::decide(&settings, sources)?;
        let data = settings.data.or_else(|| sources.data_folder());
        let data = data.ok_or(Error::NoDataFolder)?;
        let standard = Self::new(Data::Folder(data));
        let tls = match (settings.tls_cert, settings.tls_key) {
            (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
            (None, None) => None,
            (Some(_), None) => return Err(Error::Half("tls.cert", "tls.key")),
            (None, Some(_)) => return Err(Error::Half("tls.key", "tls.cert")),
        };
        if let Some(url) = &settings.public_url
            && !matches!(url.origin().scheme(), "http" | "https")
        {
            return Err(Error::PublicUrl(url.to_string()));
        }
        let secret = sources.variable(access::SECRET_VARIABLE);
        let access = Access {
            schemes,
            unauthenticated: match open {
                true => Unauthenticated::Anonymous,
                false => Unauthenticated::Refused,
            },
            own_tokens: OwnTokens::On {
                other: secret.and_then(TokenSecret::new),
            },
            default_role: settings.default_role.unwrap_or_default(),
            signatures: settings.signatures.unwrap_or_default(),
        };
        if access.signatures == SignatureRule::Required && !access.reads_signatures() {
            return Err(Error::NoSigners);
        }
        let allow = settings.allow_origin.as_ref();
        if allow.is_some_and(|allow| allow.any) && !access.is_safe_for_any_page() {
            return Err(Error::AnyOrigin);
        }
        let any_origin = allow.is_none_or(|allow| allow.any);
        let mut bindings = BindingUses::default();
        for (key, offer) in settings.bindings {
            // `on` is the default, which is not written down.
            if offer != BindingUse::On {
                bindings
                    .set(key, offer)
                    .expect("settings hold keys of bindings");
            }
        }
        if BINDINGS
            .iter()
            .all(|it| bindings.get(it) == BindingUse::Off)
        {
            return Err(Error::NoBinding);
        }
        let count =
            |number: std::num::NonZeroU64| usize::try_from(number.get()).unwrap_or(usize::MAX);
        let rate =
            |number: std::num::NonZeroU64| NonZeroU32::try_from(number).unwrap_or(NonZeroU32::MAX);
        let limits = standard.limits;
        let mirror = settings.mirror_url.map(|url| Mirror {
            url,
            user: settings.mirror_user.unwrap_or_else(|| "neo4j".to_owned()),
            secret: settings.mirror_secret,
            database: settings.mirror_database,
        });
        let otlp = settings.otlp_url.map(|models::Url(url)| Otlp {
            url,
            headers: settings.otlp_headers.map_or_else(HeaderMap::new, |it| it.0),
        });
        let allowance = |time, cpu, memory: Option<Size>| budget::Allowance {
            time,
            cpu,
            memory: memory.map(|Size(size)| size),
        };
        let budgets = budget::Settings {
            call: allowance(settings.call_time, settings.call_cpu, settings.call_memory),
            caller: allowance(
                settings.caller_time,
                settings.caller_cpu,
                settings.caller_memory,
            ),
            agent: allowance(
                settings.agent_time,
                settings.agent_cpu,
                settings.agent_memory,
            ),
            period: settings.budget_period.unwrap_or(standard.budgets.period),
        };
        Ok(Self {
            listen: settings.listen.unwrap_or(standard.listen),
            public_url: settings.public_url,
            allow_origins: settings.allow_origin.unwrap_or_default().listed,
            any_origin,
            extended_card: settings.extended_card,
            log: settings.log.unwrap_or(standard.log),
            log_format: settings.log_format.unwrap_or(standard.log_format),
            rate_limit: settings.rate_limit.unwrap_or(standard.rate_limit),
            audit: Audit {
                record: settings.audit_record.unwrap_or(standard.audit.record),
                keep_for: settings.audit_keep_for.unwrap_or(standard.audit.keep_for),
                keep_count: settings
                    .audit_keep_count
                    .map_or(standard.audit.keep_count, |it| it.get()),
            },
            otlp,
            mirror,
            budgets,
            tls,
            tls_version: settings.tls_version.unwrap_or(standard.tls_version),
            access,
            store: Store {
                url: settings.store_url,
                durability: settings.durability.unwrap_or(standard.store.durability),
                keep_for: settings.keep_for.unwrap_or(standard.store.keep_for),
                keep_count: settings
                    .keep_count
                    .map_or(standard.store.keep_count, |it| it.get()),
                compact_after: settings
                    .compact_after
                    .unwrap_or(standard.store.compact_after),
                max_bytes: settings.max_data.map(|size| size.0),
                commit_delay: None,
            },
            bindings,
            agent: Agent {
                name: settings.agent_name.unwrap_or(standard.agent.name),
                description: settings.agent_description.unwrap_or_else(|| {
                    match settings.demo.unwrap_or_default() {
                        true => DEMO.to_owned(),
                        false => standard.agent.description,
                    }
                }),
            },
            manifest: settings.agent_manifest,
            agents: settings.agents_folder,
            workspace: settings.workspace,
            demo: settings.demo.unwrap_or_default(),
            mcp_config: settings.mcp_config,
            signing_key: settings.signing_key,
            card_view: settings.card_view.unwrap_or(standard.card_view),
            models,
            outbound,
            limits: Limits {
                max_connections: settings
                    .max_connections
                    .map_or(limits.max_connections, count),
                max_connections_per_address: settings
                    .max_connections_per_address
                    .map_or(limits.max_connections_per_address, count),
                max_body: settings.max_body.map_or(limits.max_body, |Size(size)| {
                    usize::try_from(size).unwrap_or(usize::MAX)
                }),
                max_running: settings.max_running.map_or(limits.max_running, count),
                rate: settings.rate.map_or(limits.rate, rate),
                agent_rate: settings.agent_rate.map_or(limits.agent_rate, rate),
                cancel_grace: settings.cancel_grace.unwrap_or(limits.cancel_grace),
            },
            push_private: settings.push_private.unwrap_or(standard.push_private),
            push_attempts: settings.push_attempts.map_or(standard.push_attempts, |it| {
                u32::try_from(it.get()).unwrap_or(u32::MAX)
            }),
            data: standard.data,
        })
    }
}

/// Where settings come from. The program's own reads the command line and the environment.
pub trait Sources {
    /// The value of a flag, given without its dashes.
    fn flag(&self, name: &str) -> Option<String>;
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;
    /// The configuration file, if there is one to be read.
    fn file(&self) -> Option<PathBuf>;
    /// The folder for data when none is set; `None` when the user has no such place.
    fn data_folder(&self) -> Option<PathBuf>;
}

/// Reads the settings that are given as texts, each with the flag or variable that holds it.
fn texts(find: impl Fn(&settings::Key) -> Option<(String, String)>) -> Result<Settings, Error> {
    let mut settings = Settings::default();
    for key in KEYS.iter() {
        if let Some((place, value)) = find(key) {
            settings
                .set(&key.name, Raw::Text(&value))
                .map_err(|expected| Error::Text {
                    place,
                    value,
                    expected,
                })?;
        }
    }
    Ok(settings)
}

/// Reads a time such as `30s`.
pub(crate) fn time(text: &str) -> Option<Duration> {
    Duration::from_text(text)
}

/// The setting's variable that is nearly spelled like `variable`, which is not one.
pub(crate) fn misspelt(variable: &str) -> Option<String> {
    let name = variable.strip_prefix("MONAS_")?;
    let known = |key: &settings::Key| key.variable() == variable;
    if [CONFIG_VARIABLE, SERVER_VARIABLE].contains(&variable) || KEYS.iter().any(known) {
        return None;
    }
    let like = |key: &&settings::Key| {
        strsim::damerau_levenshtein(name, &key.variable()["MONAS_".len()..]) <= 2
    };
    KEYS.iter().find(like).map(settings::Key::variable)
}

/// The environment variable that names the configuration file.
pub(crate) const CONFIG_VARIABLE: &str = "MONAS_CONFIG";
/// The environment variable that names the server which commands ask.
pub(crate) const SERVER_VARIABLE: &str = "MONAS_SERVER";

/// What is wrong with a configuration. Each message completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file does not exist or may not be read.
    #[error("read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A line of the file is wrong.
    #[error("use {}:{line}: {problem}", path.display())]
    Line {
        path: PathBuf,
        line: usize,
        problem: String,
    },
    /// The file of certificate authorities holds none.
    #[error("use {}: {problem}", path.display())]
    CaCert {
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A proxy or a certificate cannot be used.
    #[error(transparent)]
    Outbound(#[from] dial::Error),
    /// A flag or a variable has a value of the wrong kind.
    #[error("use {place}={value:?}: expected {expected}")]
    Text {
        place: String,
        value: String,
        expected: &'static str,
    },
    /// Of two settings that need each other one is missing.
    #[error("use {0} without {1}: set both, or neither")]
    Half(&'static str, &'static str),
    /// Clients cannot call a URL of this scheme.
    #[error("use the public URL {0}: it must be http or https")]
    PublicUrl(String),
    /// Pages of all origins could call with what a browser adds by itself, or with nothing.
    #[error(
        "use allow_origin = \"*\": every call needs a token or a key, open = false, and [access] no cookie, password or certificate, which browsers add by themselves; list the origins instead"
    )]
    AnyOrigin,
    /// Nothing would be served.
    #[error("serve: every binding is off")]
    NoBinding,
    /// No caller could sign.
    #[error(
        "use access.signatures = \"required\": it needs a scheme in [access] of the type \"signature\""
    )]
    NoSigners,
    /// The URL of a model that is not named: nothing would be asked there.
    #[error(
        "use {0}.url without {0}.name: name the provider that the URL speaks like and a model, such as {0}.name = \"openai:NAME\""
    )]
    UrlAlone(&'static str),
    /// Without prices the cost would stay zero and the limit would never apply.
    #[error("use model.max_cost without a price: set model.price_input and model.price_output")]
    NoPrice,
    /// There is neither a setting nor a home folder.
    #[error("find a folder for data: set --data or HOME")]
    NoDataFolder,
}
