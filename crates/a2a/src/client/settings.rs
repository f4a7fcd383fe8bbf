//! Who calls, what is preferred, how long to wait.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName, HeaderValue};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::{Error, Version};
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
    /// The certificate that says who calls, where an agent asks for one.
    pub identity: Option<Identity>,
    /// Extensions that this client understands, by URI.
    pub extensions: Vec<String>,
    /// Whom to believe that it is who it says.
    pub tls: Tls,
    /// Whose signature the card must bear. Without keys any card is believed.
    pub trusted: Option<TrustedKeys>,
    /// How long a connection may take to be made.
    pub connect_time: Duration,
    /// How long a reply may take, or the first of many.
    pub time: Duration,
    /// How often to try what can be tried again, the first time included.
    pub attempts: u32,
    /// How long to wait before the second attempt; doubled for each further one.
    pub pause: Duration,
    /// The largest reply, or event of a stream, in bytes.
    pub max_reply: usize,
}

/// Whose certificates are believed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Tls {
    /// Those of the authorities that browsers believe.
    #[default]
    Public,
    /// Those, and these authorities.
    Also(Vec<CertificateDer<'static>>),
    /// Anyone's. Whoever stands between can read and change everything.
    Anyone,
}

/// A certificate of the caller's, and its key.
#[derive(Clone)]
pub struct Identity(Arc<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>);

impl Identity {
    /// Reads a chain of certificates, the caller's own first, and its private key, both PEM.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, Error> {
        let wrong = |what: &str| Error::Settings(format!("{what} is not there in PEM form"));
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let chain = chain.ok_or_else(|| wrong("the caller's certificate"))?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| wrong("the caller's key"))?;
        Ok(Self(Arc::new((chain, key))))
    }

    pub(super) fn parts(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        (self.0.0.clone(), self.0.1.clone_key())
    }
}

impl fmt::Debug for Identity {
    /// Nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            bindings: Vec::new(),
            version: None,
            headers: HeaderMap::new(),
            query: Vec::new(),
            identity: None,
            extensions: Vec::new(),
            tls: Tls::Public,
            trusted: None,
            connect_time: Duration::from_secs(10),
            time: Duration::from_secs(300),
            attempts: 8,
            pause: Duration::from_millis(200),
            max_reply: 64 << 20,
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

    /// Adds a header that is never shown.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, Error> {
        let pair = (name.parse::<HeaderName>(), HeaderValue::from_str(value));
        let (Ok(header), Ok(mut value)) = pair else {
            return Err(Error::Settings(format!("{name:?} cannot be a header")));
        };
        // Cards name headers, too; what frames a request is not theirs to choose.
        if FRAMING.contains(&header.as_str()) {
            return Err(Error::Settings(format!("{name:?} is no header to set")));
        }
        value.set_sensitive(true);
        self.headers.insert(header, value);
        Ok(self)
    }
}
