//! The list of settings. Flags, environment variables, `monas.toml`, help and documentation are derived
//! from it: a setting is added here and used in [`super::Config`], and nowhere else.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

use a2a::binding::Offer;
use model::layer::Cost;
use model::provider::Key as ApiKey;
use store::Durability;

use super::models::{Named, NamedEmbedder, Url};
use super::value::{Kind, Raw, Size};
use crate::listen::Origin;
use crate::log::Filter;

/// What there is to know about one setting, besides its value.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name in `monas.toml`; before a dot the table it is in.
    pub(crate) name: &'static str,
    /// Its flag, if it has one, and what the flag's value is called.
    pub(crate) flag: Option<(&'static str, &'static str)>,
    /// What holds without it, as one would write it, or in words.
    pub(crate) default: &'static str,
    /// Whether the flag may be given several times; so may its value, with commas.
    pub(crate) is_list: bool,
    /// What it is for.
    lines: &'static [&'static str],
}

impl Key {
    /// Its environment variable.
    pub(crate) fn variable(&self) -> String {
        format!("MONAS_{}", self.name.replace('.', "_").to_uppercase())
    }

    /// What it is for, in sentences.
    pub(crate) fn help(&self) -> String {
        let lines: Vec<_> = self.lines.iter().map(|line| line.trim()).collect();
        lines.join(" ")
    }

    /// Whether the flag stands alone, without a value.
    pub(crate) fn is_switch(&self) -> bool {
        matches!(self.flag, Some((_, "")))
    }
}

/// Declares [`Settings`] and [`KEYS`]. Each line is a setting: field, kind, name in the file, flag
/// with the name of its value (or `-`), default.
macro_rules! settings {
    ($($(#[doc = $help:literal])+ $field:ident: $kind:ty = $name:literal, $flag:tt, $default:literal;)+) => {
        /// What one source sets: the command line, the environment or a file.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(super) struct Settings {
            $($(#[doc = $help])+ pub(super) $field: Option<$kind>,)+
        }

        /// All settings, in the order in which they are shown.
        pub(crate) const KEYS: &[Key] = &[
            $(Key { name: $name, flag: flag!($flag), default: $default, is_list: <$kind as Kind>::IS_LIST, lines: &[$($help),+] },)+
        ];

        impl Settings {
            /// Takes a value for the setting of this name, or says what is wrong with it.
            pub(super) fn set(&mut self, name: &str, raw: Raw<'_>) -> Result<(), &'static str> {
                match name {
                    $($name => self.$field = Some(<$kind>::read(raw).ok_or(<$kind as Kind>::EXPECTED)?),)+
                    _ => unreachable!("{name} is none of KEYS"),
                }
                Ok(())
            }

            /// These settings, and where they say nothing those of `lower`.
            pub(super) fn over(self, lower: Self) -> Self {
                Self { $($field: self.$field.or(lower.$field),)+ }
            }
        }
    };
}

macro_rules! flag {
    (-) => {
        None
    };
    (($flag:literal $value:literal)) => {
        Some(($flag, $value))
    };
}

settings! {
    /// Where to listen. Loopback, unless everybody is asked who they are; port 0 picks a free one.
    listen: SocketAddr = "listen", ("listen" "ADDRESS"), "127.0.0.1:8080";
    /// The folder that holds everything the server keeps.
    data: PathBuf = "data", ("data" "DIR"), "~/.local/share/monas";
    /// Let in callers who show no credentials, as the anonymous caller. Those who show wrong ones are refused
    /// in any case.
    open: bool = "open", ("open" ""), "true without [access], false with it";
    /// What clients are told to call, when a proxy stands in front of the server.
    public_url: Origin = "public_url", ("public-url" "URL"), "made of the address listened on";
    /// Web pages of these origins may call, besides those of the server itself.
    allow_origin: Vec<Origin> = "allow_origin", ("allow-origin" "ORIGIN"), "none";
    /// What to log: error, warn, info, debug or trace, also for a part alone, as in `info,monas=debug`.
    log: Filter = "log", ("log" "FILTER"), "info";

    /// The certificate chain for TLS, a PEM file. Without it the server speaks plain HTTP.
    tls_cert: PathBuf = "tls.cert", ("tls-cert" "FILE"), "no TLS";
    /// The key of the certificate, a PEM file.
    tls_key: PathBuf = "tls.key", ("tls-key" "FILE"), "no TLS";

    /// Certificate authorities to trust besides the public ones, a PEM file: for models, webhooks, tool servers,
    /// weights and commands alike.
    ca_cert: PathBuf = "ca_cert", ("ca-cert" "FILE"), "the public ones alone";
    /// How long an outbound connection may take until it is ready.
    connect_timeout: Duration = "connect_timeout", -, "10s";

    /// What an acknowledgement promises. `full`: it survives a power failure. `normal`: it survives the
    /// end of the process, however that comes about.
    durability: Durability = "store.durability", ("durability" "full|normal"), "full";
    /// How long finished tasks are kept.
    keep_for: Duration = "store.keep_for", -, "30d";
    /// How many finished tasks are kept; beyond it the oldest are forgotten.
    keep_count: NonZeroU64 = "store.keep_count", -, "1000000";
    /// When the events of a finished task become one snapshot. Until then its stream can be replayed.
    compact_after: Duration = "store.compact_after", -, "1d";
    /// The most the data may take on disk. Beyond it new work is refused.
    max_data: Size = "store.max_data", -, "no limit";

    /// JSON-RPC: `on`, `preferred`, which lists it first, `off`, or `deprecated`, which serves it
    /// and says so.
    jsonrpc: Offer = "bindings.jsonrpc", -, "on";
    /// HTTP+JSON (REST): `on`, `preferred`, `off` or `deprecated`.
    rest: Offer = "bindings.rest", -, "on";
    /// gRPC: `on`, `preferred`, `off` or `deprecated`.
    grpc: Offer = "bindings.grpc", -, "on";
    /// Cap'n Web: `on`, `preferred`, `off` or `deprecated`.
    capnweb: Offer = "bindings.capnweb", -, "on";
    /// JSON-RPC over WebSockets: `on`, `preferred`, `off` or `deprecated`.
    websocket: Offer = "bindings.websocket", -, "on";

    /// The agent's name, as its card has it.
    agent_name: String = "agent.name", -, "Monas";
    /// What the agent is for, as its card has it.
    agent_description: String = "agent.description", -, "An agent that remembers, uses skills, asks before it acts and says why.";
    /// The manifest of the agent: a file that names it and says which skills it has and which tool servers it
    /// uses.
    agent_manifest: PathBuf = "agent.manifest", ("agent" "FILE"), "made of the name and the description";
    /// Further agents: a folder with a manifest for each, `NAME.toml`. They are below `/agents/NAME`.
    agents_folder: PathBuf = "agents", ("agents" "FOLDER"), "none";
    /// The folder in which agents read and write files.
    workspace: PathBuf = "workspace", ("workspace" "FOLDER"), "the folder `workspace` of the data";
    /// The small agent to try the protocol with, in the place of one that lives.
    demo: bool = "demo", ("demo" ""), "false";
    /// Servers whose tools the agent uses, besides those of the manifest: the `mcp.json` of another host.
    mcp_config: PathBuf = "agent.mcp_config", ("mcp-config" "FILE"), "none";
    /// A private key, a PEM file that not everybody may read, which signs the card. `monas card key` makes
    /// one.
    signing_key: PathBuf = "agent.signing_key", -, "the card is not signed";

    /// The language model: its provider, `openai` (and whoever is compatible), `anthropic`, `gemini` or `ollama`,
    /// and its name there, as in `ollama:gemma3`.
    model_name: Named = "model.name", ("model" "PROVIDER:NAME"), "none: rules understand direct requests";
    /// Where the model is, if it is not where its provider is, as in `http://localhost:1234/v1`.
    model_url: Url = "model.url", -, "the provider's";
    /// The key that the provider asks for.
    model_key: ApiKey = "model.key", -, "OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, without a url";
    /// A file that holds that key.
    model_key_file: PathBuf = "model.key_file", -, "none";
    /// How long to wait for the next piece of an answer.
    model_wait: Duration = "model.wait", -, "2m";
    /// How long an answer may take.
    model_timeout: Duration = "model.timeout", -, "10m";
    /// How often to ask when something fails that may pass, with growing pauses.
    model_attempts: NonZeroU64 = "model.attempts", -, "4";
    /// How many tokens may be read and written while the server runs.
    model_max_tokens: NonZeroU64 = "model.max_tokens", -, "no limit";
    /// How much money may be spent while the server runs. It needs prices.
    model_max_cost: Cost = "model.max_cost", -, "no limit";
    /// Whether the model reads what is remembered, to find what it is about. What rules find, they find without it.
    model_reads_memory: bool = "model.reads_memory", -, "true";
    /// What a million tokens cost that the model reads.
    model_price_input: Cost = "model.price_input", -, "0";
    /// What a million tokens cost that the model writes.
    model_price_output: Cost = "model.price_output", -, "0";

    /// Where vectors come from: a provider and its embedder, as in `ollama:nomic-embed-text`, `local:NAME` for
    /// weights in the server itself, or `none`.
    embedder_name: NamedEmbedder = "embedder.name", ("embedder" "PROVIDER:NAME"), "the local one, if its weights are there";
    /// Where the embedder is, if it is not where its provider is.
    embedder_url: Url = "embedder.url", -, "the provider's";
    /// The key that its provider asks for.
    embedder_key: ApiKey = "embedder.key", -, "as for the model";
    /// A file that holds that key.
    embedder_key_file: PathBuf = "embedder.key_file", -, "none";

    /// How many connections may be open at once. A further one waits.
    max_connections: NonZeroU64 = "limits.max_connections", ("max-connections" "N"), "10000";
    /// The largest request body. Files travel inside it as base64.
    max_body: Size = "limits.max_body", -, "16MiB";
    /// How many tasks may be worked on at once. A further one is refused.
    max_running: NonZeroU64 = "limits.max_running", -, "10000";
    /// How long an agent may take to end once its task is cancelled. Then the task ends without it.
    cancel_grace: Duration = "limits.cancel_grace", -, "5s";

    /// Webhooks may be at loopback and private addresses, which are refused otherwise.
    push_private: bool = "push.allow_private", -, "false";
    /// How often an event is offered to a webhook, with growing pauses, before the webhook is given up.
    push_attempts: NonZeroU64 = "push.attempts", -, "8";
}

/// The setting of this name.
pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
