//! Who calls, what is preferred, how long to wait.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use access::Signer;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};

use super::{Error, Version};
use crate::binding::Binding;
use crate::event::Format;
use crate::signature::TrustedKeys;
use crate::types::APIKeySecurityScheme;

/// How a client goes about its calls.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Bindings to use, best first, by key or by the name a card has for them. Without any, the agent's own
    /// order counts and every binding may be used.
    pub bindings: Vec<String>,
    /// The only version to speak; otherwise the newest that there is.
    pub version: Option<Version>,
    /// Headers of every request and every handshake: credentials, and what else the agent wants.
    pub headers: HeaderMap,
    /// Parameters of every address: keys that an agent wants there.
    pub query: Vec<(String, String)>,
    /// Extensions that this client understands, by URI.
    pub extensions: Vec<String>,
    /// How connections are made: trusted authorities, the caller's certificate, proxies, how long one may take.
    pub dial: ::dial::Settings,
    /// Signs every request and every handshake (RFC 9421).
    pub signer: Option<Signer>,
    /// The keys that may sign the card. `None` accepts every card.
    pub trusted: Option<TrustedKeys>,
    /// How long a reply may take, or the first of many.
    pub time: Duration,
    /// How often to try what can be tried again, the first time included.
    pub attempts: u32,
    /// How long to wait before the second attempt; doubled for each further one.
    pub pause: Duration,
    /// The largest reply, or event of a stream, in bytes.
    pub max_reply: usize,
    /// Is shown every reply as it came, before it is read.
    pub tap: Option<Tap>,
}

/// Looks at replies as they came, for checks of what a server really sends.
#[derive(Clone)]
pub struct Tap(Arc<dyn Fn(&Heard<'_>) + Send + Sync>);

/// A reply, or one of many, as it came.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Heard<'a> {
    /// The name of the operation in 1.0.
    pub operation: &'static str,
    pub binding: &'static Binding,
    pub version: Version,
    pub format: Format,
    pub body: &'a [u8],
}

impl Tap {
    pub fn new(look: impl Fn(&Heard<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    pub(super) fn show(&self, heard: &Heard<'_>) {
        (self.0)(heard);
    }
}

impl std::fmt::Debug for Tap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tap(..)")
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            bindings: Vec::new(),
            version: None,
            headers: HeaderMap::new(),
            query: Vec::new(),
            extensions: Vec::new(),
            dial: ::dial::Settings::default(),
            signer: None,
            trusted: None,
            time: Duration::from_secs(300),
            attempts: 8,
            pause: Duration::from_millis(200),
            max_reply: 64 << 20,
            tap: None,
        }
    }
}

/// Headers that decide what a request is, and where it goes.
const FRAMING: &[&str] = &[
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl Settings {
    /// Says who calls, by a token.
    pub fn bearer(self, token: &str) -> Result<Self, Error> {
        self.header("authorization", &format!("Bearer {token}"))
    }

    /// Says who calls, by a name and a password.
    pub fn basic(self, user: &str, password: &str) -> Result<Self, Error> {
        let pair = STANDARD.encode(format!("{user}:{password}"));
        self.header("authorization", &format!("Basic {pair}"))
    }

    /// Says who calls, by a key in the place that a card names for it.
    pub fn key(mut self, scheme: &APIKeySecurityScheme, key: &str) -> Result<Self, Error> {
        match &*scheme.location {
            "query" => {
                self.query.push((scheme.name.clone(), key.to_owned()));
                Ok(self)
            }
            "cookie" => self.header("cookie", &format!("{}={key}", scheme.name)),
            _ => self.header(&scheme.name, key),
        }
    }

    /// Signs a request to a whole address as it will be sent, if there is a signer. Nothing of it may be changed afterwards.
    pub fn sign(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &mut HeaderMap,
        body: &[u8],
    ) -> Result<(), Error> {
        let Some(signer) = &self.signer else {
            return Ok(());
        };
        let signed = signer.sign(method, uri, headers, body, SystemTime::now());
        signed.map_err(|error| Error::Settings(error.to_string()))
    }

    /// Adds a header that is never shown.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, Error> {
        let pair = (name.parse::<HeaderName>(), HeaderValue::from_str(value));
        let (Ok(header), Ok(mut value)) = pair else {
            return Err(Error::Settings(format!("{name:?} cannot be a header")));
        };
        // Cards name headers, too; what frames a request is not theirs to choose.
        if FRAMING.contains(&header.as_str()) {
            return Err(Error::Settings(format!(
                "the header {name:?} cannot be set"
            )));
        }
        value.set_sensitive(true);
        self.headers.insert(header, value);
        Ok(self)
    }
}
