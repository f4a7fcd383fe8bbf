//! What can be set, and by whom: flags before environment variables before `monas.toml` before what
//! holds anyway.
//!
//! It is read in two stages. Each source is checked by itself and becomes `Settings`, where a
//! mistake is named by the place it was made in. Then the sources are laid over each other and become one
//! [`Config`], which holds only what makes sense together.
//!
//! Layout:
//! - `settings`: the list of settings
//! - `access`: the schemes by which callers prove who they are, which are a table of the file
//! - `models`: which models are asked
//! - `outbound`: how connections to other machines are made
//! - `value`: the kinds of values they have
//! - `file`, `nearest`: `monas.toml`, and what to say about unknown names

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use ::access::Unauthenticated;
use a2a::binding::Offer;
use store::Durability;

use crate::listen::Origin;
use crate::log::Filter;

pub mod access;
mod file;
pub mod models;
mod nearest;
mod outbound;
pub(crate) mod settings;
mod value;

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;

pub use access::Access;
use access::Scheme;
use models::Models;
pub use outbound::Outbound;
use settings::{KEYS, Settings};
use value::{Kind as _, Raw, Size};

/// A time as users write it: `500ms`, `30s`, `5m`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    Duration::from_text(text)
}

/// Everything a server is made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Where to listen; a loopback address, unless everybody is asked who they are.
    pub listen: SocketAddr,
    /// Where the data is.
    pub data: Data,
    /// What clients are told to call, if it is not the address listened on.
    pub public_url: Option<Origin>,
    /// Origins of pages that may call, besides the server's own.
    pub allow_origins: Vec<Origin>,
    /// What to log.
    pub log: Filter,
    /// The files for TLS.
    pub tls: Option<TlsFiles>,
    /// Who is let in.
    pub access: Access,
    /// What is kept, and how.
    pub store: Store,
    /// Which bindings are offered.
    pub bindings: Bindings,
    /// What the agent is called.
    pub agent: Agent,
    /// The file that says what the agent is, instead.
    pub manifest: Option<PathBuf>,
    /// Where agents read and write files.
    pub workspace: Option<PathBuf>,
    /// The small agent is served.
    pub demo: bool,
    /// Where further agents are described.
    pub agents: Option<PathBuf>,
    /// The file that names servers of tools, as other hosts write it.
    pub mcp_config: Option<PathBuf>,
    /// The file of the private key that signs its card.
    pub signing_key: Option<PathBuf>,
    /// Which models are asked.
    pub models: Models,
    /// How connections to other machines are made.
    pub outbound: Outbound,
    /// How much is allowed.
    pub limits: Limits,
    /// Whether webhooks may be at loopback and private addresses.
    pub push_private: bool,
    /// How often an event is offered to a webhook before that is given up.
    pub push_attempts: u32,
}

/// Where the data is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// In this folder.
    Folder(PathBuf),
    /// Nowhere: it is gone when the server is.
    Memory,
}

/// The two PEM files for TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate chain.
    pub certificate: PathBuf,
    /// The key of its first certificate.
    pub key: PathBuf,
}

/// What is kept, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
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

/// How each binding is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bindings {
    /// JSON-RPC.
    pub jsonrpc: Offer,
    /// HTTP+JSON.
    pub rest: Offer,
    /// gRPC.
    pub grpc: Offer,
    /// Cap'n Web.
    pub capnweb: Offer,
    /// JSON-RPC over WebSockets.
    pub websocket: Offer,
}

impl Bindings {
    /// Each with its key.
    pub fn all(&self) -> [(&'static str, Offer); 5] {
        [
            ("jsonrpc", self.jsonrpc),
            ("rest", self.rest),
            ("grpc", self.grpc),
            ("capnweb", self.capnweb),
            ("websocket", self.websocket),
        ]
    }
}

value::words!(Offer: "on, preferred, off or deprecated" {
    "on" => Offer::On,
    "preferred" => Offer::Preferred,
    "off" => Offer::Off,
    "deprecated" => Offer::Deprecated,
});

/// What the agent is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
}

/// How much is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many connections may be open at once.
    pub max_connections: usize,
    /// The largest request body, in bytes.
    pub max_body: usize,
    /// How many tasks may be worked on at once.
    pub max_running: usize,
    /// How long an agent may take to end once its task is cancelled.
    pub cancel_grace: Duration,
}

impl Config {
    /// What holds when nothing is set, with the data in this place.
    pub fn new(data: Data) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            data,
            public_url: None,
            allow_origins: Vec::new(),
            log: Filter::info(),
            tls: None,
            access: Access::default(),
            store: Store {
                durability: Durability::Full,
                keep_for: Duration::from_secs(30 * 24 * 60 * 60),
                keep_count: 1_000_000,
                compact_after: Duration::from_secs(24 * 60 * 60),
                max_bytes: None,
                commit_delay: None,
            },
            bindings: Bindings {
                jsonrpc: Offer::On,
                rest: Offer::On,
                grpc: Offer::On,
                capnweb: Offer::On,
                websocket: Offer::On,
            },
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
            models: Models::default(),
            outbound: Outbound::default(),
            limits: Limits {
                max_connections: 10_000,
                max_body: 16 << 20,
                max_running: 10_000,
                cancel_grace: Duration::from_secs(5),
            },
            push_private: false,
            push_attempts: 8,
        }
    }

    /// The configuration that these sources make together.
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

    /// The part about outbound connections alone, for commands that are not about a server.
    pub(crate) fn read_outbound(sources: &dyn Sources) -> Result<Outbound, Error> {
        let file = match sources.file() {
            Some(path) => file::read(&path)?.0,
            None => Settings::default(),
        };
        let mine = |key: &settings::Key| matches!(key.name, "ca_cert" | "connect_timeout");
        let flags = texts(|key| {
            let (flag, _) = key.flag.filter(|_| mine(key))?;
            Some((format!("--{flag}"), sources.flag(flag)?))
        })?;
        let variables = texts(|key| {
            let variable = key.variable();
            let value = sources.variable(&variable).filter(|_| mine(key))?;
            Some((variable, value))
        })?;
        Outbound::decide(&flags.over(variables).over(file), sources)
    }

    /// The second stage: what makes sense together.
    fn decide(
        settings: Settings,
        schemes: Vec<Scheme>,
        sources: &dyn Sources,
    ) -> Result<Self, Error> {
        let models = Models::decide(&settings, sources)?;
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
            && !matches!(url.scheme(), "http" | "https")
        {
            return Err(Error::PublicUrl(url.to_string()));
        }
        // Who has said how callers prove who they are wants it proven.
        let unauthenticated = match settings.open.unwrap_or(schemes.is_empty()) {
            true => Unauthenticated::Anonymous,
            false if schemes.is_empty() => return Err(Error::Closed),
            false => Unauthenticated::Refused,
        };
        let bindings = Bindings {
            jsonrpc: settings.jsonrpc.unwrap_or(standard.bindings.jsonrpc),
            rest: settings.rest.unwrap_or(standard.bindings.rest),
            grpc: settings.grpc.unwrap_or(standard.bindings.grpc),
            capnweb: settings.capnweb.unwrap_or(standard.bindings.capnweb),
            websocket: settings.websocket.unwrap_or(standard.bindings.websocket),
        };
        if bindings.all().iter().all(|(_, offer)| *offer == Offer::Off) {
            return Err(Error::NoBinding);
        }
        let count =
            |number: std::num::NonZeroU64| usize::try_from(number.get()).unwrap_or(usize::MAX);
        let limits = standard.limits;
        Ok(Self {
            listen: settings.listen.unwrap_or(standard.listen),
            public_url: settings.public_url,
            allow_origins: settings.allow_origin.unwrap_or_default(),
            log: settings.log.unwrap_or(standard.log),
            tls,
            access: Access {
                schemes,
                unauthenticated,
            },
            store: Store {
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
                description: settings
                    .agent_description
                    .unwrap_or(standard.agent.description),
            },
            manifest: settings.agent_manifest,
            agents: settings.agents_folder,
            workspace: settings.workspace,
            demo: settings.demo.unwrap_or_default(),
            mcp_config: settings.mcp_config,
            signing_key: settings.signing_key,
            models,
            outbound,
            limits: Limits {
                max_connections: settings
                    .max_connections
                    .map_or(limits.max_connections, count),
                max_body: settings.max_body.map_or(limits.max_body, |Size(size)| {
                    usize::try_from(size).unwrap_or(usize::MAX)
                }),
                max_running: settings.max_running.map_or(limits.max_running, count),
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

/// The settings that are given as texts, each with the place it was found in.
fn texts(find: impl Fn(&settings::Key) -> Option<(String, String)>) -> Result<Settings, Error> {
    let mut settings = Settings::default();
    for key in KEYS {
        if let Some((place, value)) = find(key) {
            settings
                .set(key.name, Raw::Text(&value))
                .map_err(|expected| Error::Text {
                    place,
                    value,
                    expected,
                })?;
        }
    }
    Ok(settings)
}

/// The time that a text such as `30s` stands for.
pub(crate) fn time(text: &str) -> Option<Duration> {
    Duration::from_text(text)
}

/// What an environment variable that is none of ours was probably meant to be.
pub(crate) fn misspelt(variable: &str) -> Option<String> {
    let name = variable.strip_prefix("MONAS_")?;
    let known = |key: &settings::Key| key.variable() == variable;
    if variable == CONFIG_VARIABLE || KEYS.iter().any(known) {
        return None;
    }
    let like = |key: &&settings::Key| {
        strsim::damerau_levenshtein(name, &key.variable()["MONAS_".len()..]) <= 2
    };
    KEYS.iter().find(like).map(settings::Key::variable)
}

/// The environment variable that names the configuration file.
pub(crate) const CONFIG_VARIABLE: &str = "MONAS_CONFIG";

/// What is wrong with a configuration. Each completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not there, or not ours to read.
    #[error("read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line of the file is wrong.
    #[error("use {}:{line}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong there.
        problem: String,
    },
    /// The file of certificate authorities holds none.
    #[error("use {}: {problem}", path.display())]
    CaCert {
        /// The file.
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
        /// The flag or variable.
        place: String,
        /// The value it has.
        value: String,
        /// What was expected instead.
        expected: &'static str,
    },
    /// Of two settings that need each other one is missing.
    #[error("use {0} without {1}: set both, or neither")]
    Half(&'static str, &'static str),
    /// Nobody could call the server there.
    #[error("use the public URL {0}: it must be http or https")]
    PublicUrl(String),
    /// Nothing would be served.
    #[error("serve: every binding is off")]
    NoBinding,
    /// Only callers with credentials would be let in, and there are none.
    #[error("serve with open = false: no scheme in [access] says how callers prove who they are")]
    Closed,
    /// Nothing would ever be spent.
    #[error("use model.max_cost without a price: set model.price_input and model.price_output")]
    NoPrice,
    /// It is not known where to keep data.
    #[error("find a place for data: set --data, or HOME")]
    NoDataFolder,
}
