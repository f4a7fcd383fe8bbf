//! The list of settings. Flags, environment variables, keys of `monas.toml`, help texts and the table in
//! `docs/configuration.md` are derived from it.
//!
//! To add a setting, add a line here and use its field in [`super::Config`]; nothing else has to know it. A line has the help
//! text as its doc comment, the field of [`Settings`], the type of the value (which brings its parser and the words
//! "expected ..." of its errors, see `value`), the name in the file, the flag with the name of its value or `-`, and the
//! default as one would write it. The variable is the name in capitals with `MONAS_` before it.
//!
//! Every source fills a `Settings` of its own, in which each field is optional; [`Settings::over`] merges two of them. A
//! default is written twice, here for readers and in `Config::new` for the program, and a test compares them: computing one
//! from the other would make defaults that depend on the machine impossible. The settings of bindings are not in the list,
//! because `a2a::binding::BINDINGS` is the list of bindings; [`KEYS`] joins both.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use a2a::binding::card::View;
use a2a::binding::{BINDINGS, Binding, BindingUse};
use access::{Role, SignatureRule};
use model::layer::Cost;
use model::provider::Key as ApiKey;
use store::Durability;

use super::{StoreUrl, Switch};
use super::models::{Named, NamedEmbedder, OllamaUrl, Url};
use super::value::{AllowedOrigins, Kind, Percent, Raw, SecretHeaders, Size};
use crate::listen::{PublicUrl, TlsVersion};
use crate::log::{Filter, Format};

/// A setting, without its value.
#[derive(Debug)]
pub(crate) struct Key {
    /// The name in `monas.toml`; the part before a dot is the table.
    pub(crate) name: Cow<'static, str>,
    /// The flag and the name of its value in the help.
    pub(crate) flag: Option<(&'static str, &'static str)>,
    /// The default as one would write it, or in words.
    pub(crate) default: &'static str,
    /// Whether the flag may be given several times. A value may also have several parts with commas between them.
    pub(crate) is_list: bool,
    pub(crate) help: String,
}

/// The table that has a setting for each binding.
const BINDINGS_TABLE: &str = "bindings.";

/// All settings, in the order in which they are shown: the list below, with a setting for each binding of `a2a` behind
/// those of the store.
pub(crate) static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let mut keys = listed();
    let place = keys.iter().position(|key| key.name == "agent.name");
    let place = place.unwrap_or(keys.len());
    keys.splice(place..place, BINDINGS.iter().map(Key::of_binding));
    keys
});

impl Key {
    pub(crate) fn variable(&self) -> String {
        format!("MONAS_{}", self.name.replace('.', "_").to_uppercase())
    }

    fn of_binding(binding: &Binding) -> Self {
        Self {
            name: format!("{BINDINGS_TABLE}{}", binding.key).into(),
            flag: None,
            default: "on",
            is_list: false,
            help: format!(
                "{}: `on`; `preferred`, which lists it first; `off`; or `deprecated`, which serves it and marks it in the \
                 card.",
                binding.title
            ),
        }
    }

    /// Whether the flag may stand without a value.
    pub(crate) fn is_switch(&self) -> bool {
        matches!(self.flag, Some((_, "")))
    }
}

/// Declares [`Settings`] and `listed`, its part of [`KEYS`]. Each line is a setting: field, kind, name in the file, flag
/// with the name of its value (or `-`), default.
macro_rules! settings {
    ($($(#[doc = $help:literal])+ $field:ident: $kind:ty = $name:literal, $flag:tt, $default:literal;)+) => {
        /// The settings of one source: the command line, the environment or a file.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(super) struct Settings {
            $($(#[doc = $help])+ pub(super) $field: Option<$kind>,)+
            /// How bindings are offered, by their keys.
            pub(super) bindings: BTreeMap<&'static str, BindingUse>,
        }

        fn listed() -> Vec<Key> {
            vec![
                $(Key {
                    name: $name.into(),
                    flag: flag!($flag),
                    default: $default,
                    is_list: <$kind as Kind>::IS_LIST,
                    help: [$($help.trim()),+].join(" "),
                },)+
            ]
        }

        impl Settings {
            /// Reads the value of a setting; the error is what was expected instead.
            pub(super) fn set(&mut self, name: &str, raw: Raw<'_>) -> Result<(), &'static str> {
                match name {
                    $($name => self.$field = Some(<$kind>::read(raw).ok_or(<$kind as Kind>::EXPECTED)?),)+
                    _ => {
                        let key = name.strip_prefix(BINDINGS_TABLE).and_then(Binding::named);
                        let binding = key.unwrap_or_else(|| unreachable!("{name} is none of KEYS"));
                        let offer = BindingUse::read(raw).ok_or(<BindingUse as Kind>::EXPECTED)?;
                        self.bindings.insert(binding.key, offer);
                    }
                }
                Ok(())
            }

            /// The settings of a file in this folder: relative paths begin there.
            pub(super) fn in_folder(self, folder: &Path) -> Self {
                Self {
                    $($field: self.$field.map(|value| value.in_folder(folder)),)+
                    bindings: self.bindings,
                }
            }

            /// Merges two sources; where both have a setting, that of `self` counts.
            pub(super) fn over(self, lower: Self) -> Self {
                let mut bindings = lower.bindings;
                bindings.extend(self.bindings);
                Self { $($field: self.$field.or(lower.$field),)+ bindings }
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
    /// The address to listen on. A loopback address, unless every caller has to authenticate; `localhost` and a port alone mean 127.0.0.1, port 0
    /// picks a free one.
    listen: SocketAddr = "listen", ("listen" "ADDRESS"), "127.0.0.1:8080";
    /// The folder for everything the server stores.
    data: PathBuf = "data", ("data" "DIR"), "~/.local/share/monas";
    /// Accept callers without credentials, as the anonymous caller: an operator, or a viewer where `[access]` has schemes. For a loopback address
    /// alone; callers with wrong credentials are always refused.
    open: bool = "open", ("open" ""), "false";
    /// The role of callers for which nothing else says it, such as the users of tokens that other programs signed: `viewer`, `user`,
    /// `operator` or `admin`.
    default_role: Role = "access.default_role", -, "user";
    /// Whether callers have to sign their requests (RFC 9421): `optional`, or `required`, for which `[access]` needs a scheme of the
    /// type `signature`.
    signatures: SignatureRule = "access.signatures", -, "optional";
    /// The URL that clients are told to call, when a proxy stands in front of the server; with a path, the server is below it.
    public_url: PublicUrl = "public_url", ("public-url" "URL"), "the listening address";
    /// Origins of web pages that may call the server, besides its own; `*` for all, where no credential is one that browsers add.
    allow_origin: AllowedOrigins = "allow_origin", ("allow-origin" "ORIGIN"), "all where every call needs a token or a key, else none";
    /// A JSON file of what authenticated callers see in the card besides the public part: members replace those of the card, skills
    /// are added.
    extended_card: PathBuf = "extended_card", ("extended-card" "FILE"), "none";
    /// The log filter: error, warn, info, debug or trace, also for single modules, as in `info,monas=debug`.
    log: Filter = "log", ("log" "FILTER"), "info";
    /// How the log is written: `text`, or `json`, an object on each line.
    log_format: Format = "log_format", ("log-format" "text|json"), "text";
    /// Whether callers may make a limited number of calls: `on`, or `off`.
    rate_limit: Switch = "rate_limit", ("rate-limit" "on|off"), "on";

    /// The certificate chain for TLS, a PEM file. Without it the server speaks plain HTTP.
    tls_cert: PathBuf = "tls.cert", ("tls-cert" "FILE"), "no TLS";
    /// The key of the certificate, a PEM file.
    tls_key: PathBuf = "tls.key", ("tls-key" "FILE"), "no TLS";
    /// The oldest version of TLS that is spoken: `1.3`, or `1.2` for clients that know nothing newer.
    tls_version: TlsVersion = "tls.min_version", -, "1.3";

    /// Certificate authorities to trust besides the public ones, a PEM file: for models, webhooks, tool servers,
    /// weights and commands alike.
    ca_cert: PathBuf = "ca_cert", ("ca-cert" "FILE"), "the public ones alone";
    /// How long an outbound connection may take until it is ready.
    connect_timeout: Duration = "connect_timeout", -, "10s";

    /// A PostgreSQL database for tasks, journals, laws and memory, in place of a file in the data folder:
    /// `postgres://USER:PASSWORD@HOST/DATABASE`, with `sslmode`, `sslrootcert`, `target_session_attrs` and several hosts as libpq has them.
    store_url: StoreUrl = "store.url", ("store" "URL"), "a file in the data folder";
    /// What survives once a write is acknowledged. `full`: a power failure. `normal`: a crash of the process.
    durability: Durability = "store.durability", ("durability" "full|normal"), "full";
    /// How long finished tasks are kept.
    keep_for: Duration = "store.keep_for", -, "30d";
    /// How many finished tasks are kept; beyond that the oldest are deleted.
    keep_count: NonZeroU64 = "store.keep_count", -, "1000000";
    /// When the events of a finished task become one snapshot. Until then its stream can be replayed.
    compact_after: Duration = "store.compact_after", -, "1d";
    /// The most that data may take on disk. Beyond that new work is refused.
    max_data: Size = "store.max_data", -, "no limit";

    /// The agent's name in its card.
    agent_name: String = "agent.name", -, "Monas";
    /// The agent's description in its card.
    agent_description: String = "agent.description", -, "An agent that remembers, uses skills, asks before it acts and says why.";
    /// The agent's manifest: a file with its name, its skills and its tool servers.
    agent_manifest: PathBuf = "agent.manifest", ("agent" "FILE"), "made from agent.name and agent.description";
    /// A folder with manifests of further agents, `NAME.toml`, which are served at `/agents/NAME`.
    agents_folder: PathBuf = "agents", ("agents" "FOLDER"), "none";
    /// The folder in which agents read and write files.
    workspace: PathBuf = "workspace", ("workspace" "FOLDER"), "the folder `workspace` of the data";
    /// Serve the demo agent, a small one to try the protocol with.
    demo: bool = "demo", ("demo" ""), "false";
    /// Further tool servers of the agent, besides those of its manifest: a `mcp.json` as other hosts write it.
    mcp_config: PathBuf = "agent.mcp_config", ("mcp-config" "FILE"), "none";
    /// The private key that signs the card, a PEM file that other users cannot read. `monas card key` makes one.
    signing_key: PathBuf = "agent.signing_key", -, "the card is not signed";
    /// The versions of A2A that the card is written for: `both` (the card of 1.0 for those who send `A2A-Version: 1.0`, one with
    /// the fields of both versions for all others), `1.0` or `0.3` alone.
    card_view: View = "agent.card_version", -, "both";

    /// The language model: a provider (`openai`, also for compatible servers, `anthropic`, `gemini` or `ollama`) and the name
    /// of the model there, as in `ollama:gemma3`.
    model_name: Named = "model.name", ("model" "PROVIDER:NAME"), "none: rules understand direct requests";
    /// The base URL of the model, if it is not the provider's own, as in `http://localhost:1234/v1`.
    model_url: Url = "model.url", ("model-url" "URL"), "the provider's";
    /// The API key for the provider.
    model_key: ApiKey = "model.key", -, "OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, without a url";
    /// A file with the API key.
    model_key_file: PathBuf = "model.key_file", -, "none";
    /// How long to wait for the next part of an answer.
    model_wait: Duration = "model.wait", -, "2m";
    /// How long an answer may take.
    model_timeout: Duration = "model.timeout", -, "10m";
    /// How often a request is tried when it fails with a temporary error, with growing pauses.
    model_attempts: NonZeroU64 = "model.attempts", -, "4";
    /// The most tokens, read and written, in each period of the budget.
    model_max_tokens: NonZeroU64 = "model.max_tokens", -, "no limit";
    /// The most money that may be spent in each period of the budget. It needs prices.
    model_max_cost: Cost = "model.max_cost", -, "no limit";
    /// How long a period of the budget is. When it is over, all of the budget is there again.
    model_budget_period: Duration = "model.budget_period", -, "1d";
    /// How much of the budget one caller may spend in a period.
    model_caller_share: Percent = "model.caller_share", -, "50%; 100% on an open server without [access]";
    /// Whether the model extracts entities from new memories, in addition to rules.
    model_reads_memory: bool = "model.reads_memory", -, "true";
    /// Where a local Ollama is looked for when no model is configured, to offer its models; a loopback address, or `off`.
    model_ollama: OllamaUrl = "model.ollama", -, "http://127.0.0.1:11434";
    /// The price of a million tokens that the model reads.
    model_price_input: Cost = "model.price_input", -, "0";
    /// The price of a million tokens that the model writes.
    model_price_output: Cost = "model.price_output", -, "0";

    /// The embedder: a provider and a model, as in `ollama:nomic-embed-text`, `local:NAME` for weights in the server itself,
    /// or `none`.
    embedder_name: NamedEmbedder = "embedder.name", ("embedder" "PROVIDER:NAME"), "the local one, if its weights are in the data folder";
    /// The base URL of the embedder, if it is not the provider's own.
    embedder_url: Url = "embedder.url", -, "the provider's";
    /// The API key for its provider.
    embedder_key: ApiKey = "embedder.key", -, "as for the model";
    /// A file with the API key.
    embedder_key_file: PathBuf = "embedder.key_file", -, "none";

    /// How many connections may be open at once. Further ones wait. With `[access]` a tenth of them, 256 at most, is kept
    /// for callers with valid credentials.
    max_connections: NonZeroU64 = "limits.max_connections", ("max-connections" "N"), "10000";
    /// How many of them may come from one address, or from one network of 64 bits. Loopback addresses are not counted.
    max_connections_per_address: NonZeroU64 = "limits.max_connections_per_address", -, "2500";
    /// The largest request body. Files are sent in it as base64.
    max_body: Size = "limits.max_body", -, "16MiB";
    /// How many tasks may run at once. Further ones are refused.
    max_running: NonZeroU64 = "limits.max_running", -, "10000";
    /// How many calls a second one session of a caller may make on the wires for people (`/api`), and twice as many at once. All
    /// sessions of a caller together may make four times as many.
    rate: NonZeroU64 = "limits.rate", -, "10";
    /// The same on the wires of agents: A2A, MCP and ACP.
    agent_rate: NonZeroU64 = "limits.agent_rate", -, "1000";
    /// How long an agent may take to end after its task is cancelled. Then the task ends without it.
    cancel_grace: Duration = "limits.cancel_grace", -, "5s";

    /// Whether every call is recorded in the audit trail.
    audit_record: bool = "audit.record", -, "true";
    /// How long the lines of the audit trail are kept.
    audit_keep_for: Duration = "audit.keep_for", -, "90d";
    /// How many lines are kept; beyond that the oldest are dropped.
    audit_keep_count: NonZeroU64 = "audit.keep_count", -, "1000000";
    /// Where traces are sent: the base URL of an OpenTelemetry receiver that takes OTLP over HTTP, as in `http://localhost:4318`.
    otlp_url: Url = "otlp.url", -, "none: no traces";
    /// Headers for the receiver of traces, such as credentials: `authorization=Bearer TOKEN`, with commas between several.
    otlp_headers: SecretHeaders = "otlp.headers", -, "none";

    /// A database that gets the graph of memory as it changes, over Bolt, such as Neo4j: `bolt://HOST:PORT`, or `bolt+s://HOST:PORT`
    /// for an encrypted connection.
    mirror_url: String = "mirror.url", -, "none: no mirror";
    /// The user of the mirror.
    mirror_user: String = "mirror.user", -, "neo4j";
    /// The name of the secret with the password for the mirror (`monas secret set`).
    mirror_secret: String = "mirror.secret", -, "none: an empty password";
    /// The database of the mirror.
    mirror_database: String = "mirror.database", -, "the default one of its server";

    /// How long one turn of an agent, or one call below `/api`, may take. Time in which a person is asked does not count.
    call_time: Duration = "budget.call_time", -, "no limit";
    /// How much processor time one call or one turn may use.
    call_cpu: Duration = "budget.call_cpu", -, "no limit";
    /// How many bytes may be held for one call or one turn: its request, messages, artifacts.
    call_memory: Size = "budget.call_memory", -, "no limit";
    /// How long all turns for one caller together may take in each period.
    caller_time: Duration = "budget.caller_time", -, "no limit";
    /// How much processor time all calls and turns of one caller may use in each period.
    caller_cpu: Duration = "budget.caller_cpu", -, "no limit";
    /// How many bytes may be held for one caller at once.
    caller_memory: Size = "budget.caller_memory", -, "no limit";
    /// How long all turns of one agent together may take in each period.
    agent_time: Duration = "budget.agent_time", -, "no limit";
    /// How much processor time all turns of one agent may use in each period.
    agent_cpu: Duration = "budget.agent_cpu", -, "no limit";
    /// How many bytes may be held for one agent at once.
    agent_memory: Size = "budget.agent_memory", -, "no limit";
    /// How long a period of these budgets is.
    budget_period: Duration = "budget.period", -, "1m";

    /// Allow webhooks at loopback and private addresses.
    push_private: bool = "push.allow_private", -, "false";
    /// How often the delivery of an event to a webhook is tried, with growing pauses, before the webhook is given up.
    push_attempts: NonZeroU64 = "push.attempts", -, "8";
}

pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}
