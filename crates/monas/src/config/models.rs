//! `[model]` and `[embedder]`: providers, times, limits and prices.

use std::path::PathBuf;
use std::time::Duration;

use model::layer::{Allowance, Cost, Patience, Price, Times};
use model::provider::{self, Endpoint, Key};

use super::settings::Settings;
use super::value::{Kind, Percent};
use super::{Error, Sources};

/// The language model and the embedder of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Models {
    /// Without a language model, rules answer direct requests.
    pub model: Option<Endpoint>,
    /// Whether the model extracts entities from new memories.
    pub reads_memory: bool,
    /// Without a setting the local embedder is used, if its weights are in the data folder.
    pub embedder: Option<Embedder>,
    pub times: Times,
    pub patience: Patience,
    /// How much may be spent in each period.
    pub allowance: Allowance,
    /// How much of it one caller may spend.
    pub share: Allowance,
    pub period: Duration,
    pub price: Price,
    /// The loopback address where an Ollama is looked for when no model is configured.
    pub ollama: Option<String>,
}

impl Default for Models {
    fn default() -> Self {
        Self {
            model: None,
            reads_memory: true,
            embedder: None,
            times: Times::default(),
            patience: Patience::default(),
            allowance: Allowance::default(),
            share: Allowance::default(),
            period: Duration::from_secs(24 * 3600),
            price: Price::default(),
            ollama: Some(OLLAMA.to_owned()),
        }
    }
}

/// The address at which Ollama listens by itself.
const OLLAMA: &str = "http://127.0.0.1:11434";

/// What makes vectors from texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Embedder {
    None,
    /// Weights in this process, of this name.
    Local(String),
    Provider(Endpoint),
}

/// A model as settings name it: its provider and its name there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    kind: provider::Kind,
    name: String,
}

impl Kind for Named {
    const EXPECTED: &'static str =
        "a provider (openai, anthropic, gemini or ollama) and a model, such as ollama:gemma3";

    fn from_text(text: &str) -> Option<Self> {
        let (kind, name) = text.split_once(':')?;
        let name = name.trim();
        Some(Self {
            kind: kind.trim().parse().ok()?,
            name: (!name.is_empty()).then(|| name.to_owned())?,
        })
    }
}

/// An embedder as settings name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NamedEmbedder {
    None,
    Local(String),
    Provider(Named),
}

impl Kind for NamedEmbedder {
    const EXPECTED: &'static str =
        "none, local:all-minilm-l6-v2, or a provider and a model, such as ollama:nomic-embed-text";

    fn from_text(text: &str) -> Option<Self> {
        match (text, text.split_once(':')) {
            ("none", _) => Some(Self::None),
            (_, Some(("local", name))) if !name.is_empty() => Some(Self::Local(name.to_owned())),
            _ => Named::from_text(text).map(Self::Provider),
        }
    }
}

/// The base URL of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url(pub(super) String);

impl Kind for Url {
    const EXPECTED: &'static str = "a URL, such as http://localhost:1234/v1";

    fn from_text(text: &str) -> Option<Self> {
        let uri: axum::http::Uri = text.parse().ok()?;
        let known = matches!(uri.scheme_str(), Some("http" | "https"));
        (known && uri.host().is_some() && uri.query().is_none()).then(|| Self(text.to_owned()))
    }
}

/// Where an Ollama is looked for: a loopback address, since its answer is believed without a key; or nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OllamaUrl(Option<String>);

impl Kind for OllamaUrl {
    const EXPECTED: &'static str = "`off`, or a loopback address such as http://127.0.0.1:11434";

    fn from_text(text: &str) -> Option<Self> {
        if text == "off" {
            return Some(Self(None));
        }
        let Url(url) = Url::from_text(text)?;
        let uri: axum::http::Uri = url.parse().ok()?;
        let host = uri.host()?.trim_matches(['[', ']']);
        let address: std::net::IpAddr = match host {
            "localhost" => return Some(Self(Some(url))),
            host => host.parse().ok()?,
        };
        address.is_loopback().then_some(Self(Some(url)))
    }
}

impl Kind for Key {
    const EXPECTED: &'static str = "a key";

    fn from_text(text: &str) -> Option<Self> {
        let key = text.trim();
        // It is sent in a header, so only visible ASCII can be in it.
        let sendable = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
        sendable.then(|| Self::new(key))
    }
}

/// An amount of money, such as 2.50.
impl Kind for Cost {
    const EXPECTED: &'static str = "an amount such as \"2.50\"";

    fn from_text(text: &str) -> Option<Self> {
        let (whole, part) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        if !digits(whole) || !digits(part) || part.len() > 6 || whole.is_empty() {
            return None;
        }
        let millionths: u64 = format!("{part:0<6}").parse().ok()?;
        let whole: u64 = whole.parse().ok()?;
        Some(Self(whole.checked_mul(1_000_000)?.checked_add(millionths)?))
    }
}

impl Models {
    /// Reads the settings of models. An API key that is not set comes from the variable that other tools use, such as
    /// `OPENAI_API_KEY`.
    ///
    /// A server that asks for credentials has several callers, and one may spend half of the budget if nothing else is set.
    pub(super) fn decide(
        settings: &Settings,
        sources: &dyn Sources,
        several_callers: bool,
    ) -> Result<Self, Error> {
        let standard = Self::default();
        if settings.model_url.is_some() && settings.model_name.is_none() {
            return Err(Error::UrlAlone("model"));
        }
        let provider = matches!(settings.embedder_name, Some(NamedEmbedder::Provider(_)));
        if settings.embedder_url.is_some() && !provider {
            return Err(Error::UrlAlone("embedder"));
        }
        let model = match &settings.model_name {
            Some(named) => {
                let key = secret(&settings.model_key, settings.model_key_file.as_ref())?;
                Some(named.endpoint(settings.model_url.as_ref(), key, sources))
            }
            None => None,
        };
        let embedder = match &settings.embedder_name {
            None => None,
            Some(NamedEmbedder::None) => Some(Embedder::None),
            Some(NamedEmbedder::Local(name)) => Some(Embedder::Local(name.clone())),
            Some(NamedEmbedder::Provider(named)) => {
                let key = secret(&settings.embedder_key, settings.embedder_key_file.as_ref())?;
                let endpoint = named.endpoint(settings.embedder_url.as_ref(), key, sources);
                Some(Embedder::Provider(endpoint))
            }
        };
        let priced = settings.model_price_input.or(settings.model_price_output);
        if settings.model_max_cost.is_some() && priced.is_none() {
            return Err(Error::NoPrice);
        }
        let allowance = Allowance {
            tokens: settings.model_max_tokens.map(|it| it.get()),
            cost: settings.model_max_cost,
        };
        let share = match settings.model_caller_share {
            Some(Percent(share)) => share,
            None if several_callers => 50,
            None => 100,
        };
        let time = |set: Option<Duration>, standard| set.unwrap_or(standard);
        Ok(Self {
            model,
            reads_memory: settings.model_reads_memory.unwrap_or(standard.reads_memory),
            embedder,
            times: Times {
                next: time(settings.model_wait, standard.times.next),
                whole: time(settings.model_timeout, standard.times.whole),
            },
            patience: Patience {
                attempts: settings
                    .model_attempts
                    .map_or(standard.patience.attempts, |it| {
                        u32::try_from(it.get()).unwrap_or(u32::MAX)
                    }),
                ..standard.patience
            },
            allowance,
            share: allowance.percent(share),
            period: time(settings.model_budget_period, standard.period),
            price: Price {
                input: settings.model_price_input.unwrap_or_default(),
                output: settings.model_price_output.unwrap_or_default(),
            },
            ollama: match &settings.model_ollama {
                Some(OllamaUrl(url)) => url.clone(),
                None => standard.ollama,
            },
        })
    }
}

impl Named {
    fn endpoint(&self, url: Option<&Url>, key: Option<Key>, sources: &dyn Sources) -> Endpoint {
        let mut endpoint = Endpoint::new(self.kind, &self.name);
        endpoint.url = url.map(|Url(url)| url.clone());
        // The variable of a provider holds a key for its own servers; it is not sent to another URL.
        let from_variable = || match endpoint.url {
            None => sources
                .variable(key_variable(self.kind)?)
                .and_then(|it| Key::from_text(&it)),
            Some(_) => None,
        };
        endpoint.key = key.or_else(from_variable);
        endpoint
    }
}

/// The variable in which other tools look for the key of a provider.
fn key_variable(kind: provider::Kind) -> Option<&'static str> {
    match kind {
        provider::Kind::OpenAi => Some("OPENAI_API_KEY"),
        provider::Kind::Anthropic => Some("ANTHROPIC_API_KEY"),
        provider::Kind::Gemini => Some("GEMINI_API_KEY"),
        _ => None,
    }
}

/// The key that is set, or the one that a file holds.
fn secret(key: &Option<Key>, file: Option<&PathBuf>) -> Result<Option<Key>, Error> {
    match (key, file) {
        (Some(key), _) => Ok(Some(key.clone())),
        (None, None) => Ok(None),
        (None, Some(path)) => {
            let unread = |source| Error::Read {
                path: path.clone(),
                source,
            };
            let text = std::fs::read_to_string(path).map_err(unread)?;
            let none = || unread(std::io::Error::other("no key in the file"));
            Key::from_text(&text).ok_or_else(none).map(Some)
        }
    }
}
