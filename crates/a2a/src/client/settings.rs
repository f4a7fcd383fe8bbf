//! Who calls, what is preferred, how long to wait.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use rustls::pki_types::CertificateDer;

use super::{Error, Version};
use crate::signature::TrustedKeys;

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

impl Default for Settings {
    fn default() -> Self {
        Self {
            bindings: Vec::new(),
            version: None,
            headers: HeaderMap::new(),
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
