//! Credentials: where a request carries them, and in what form.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, CONNECTION, COOKIE, SEC_WEBSOCKET_KEY, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Version};

use crate::door::CredentialFault;
use crate::scheme::Place;
use crate::signature::SignatureCheck;

/// The longest credentials that are read, in bytes.
const MAX_CREDENTIALS: usize = 16 << 10;

/// The parameter of a WebSocket's address that carries a bearer token.
pub(crate) const TOKEN: &str = "token";

/// The name in the client certificate that TLS has verified for a connection. The listener puts it into the extensions
/// of each request of that connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certified(pub Arc<str>);

/// The parts of a request that can carry credentials.
#[derive(Clone, Copy)]
pub struct Presented<'a> {
    headers: &'a HeaderMap,
    query: &'a str,
    certificate: Option<&'a str>,
    /// Whether it opens a WebSocket.
    handshake: bool,
    signature: Option<&'a SignatureCheck>,
}

impl<'a> Presented<'a> {
    /// Headers, query, the certificate of the connection, and what came of checking a signature.
    pub fn by(request: &'a Parts) -> Self {
        let certified = request.extensions.get::<Certified>();
        Self {
            headers: &request.headers,
            query: request.uri.query().unwrap_or_default(),
            certificate: certified.map(|it| &*it.0),
            handshake: is_handshake(request),
            signature: request.extensions.get(),
        }
    }

    /// Headers alone, for protocols without a URL.
    pub fn headers(headers: &'a HeaderMap) -> Self {
        Self {
            headers,
            query: "",
            certificate: None,
            handshake: false,
            signature: None,
        }
    }

    pub(crate) fn certificate(&self) -> Option<&'a str> {
        self.certificate
    }

    pub(crate) fn signature(&self) -> Option<&'a SignatureCheck> {
        self.signature
    }

    /// The credentials in `Authorization`.
    pub(crate) fn authorization(&self) -> Result<Option<Credentials>, CredentialFault> {
        let given = self.header(&AUTHORIZATION)?;
        given.map(Credentials::of_header).transpose()
    }

    /// The bearer token in the parameter `token`, where the request opens a WebSocket: pages cannot add headers there. In
    /// other requests the parameter is no credential, because their addresses are kept and passed on too often.
    pub(crate) fn token(&self) -> Result<Option<Credentials>, CredentialFault> {
        if !self.handshake {
            return Ok(None);
        }
        let pairs = form_urlencoded::parse(self.query.as_bytes());
        let token = one(pairs.filter(|(it, _)| it == TOKEN).map(|(_, value)| value))?;
        Ok(token.map(|token| Credentials::Bearer(token.into_owned())))
    }

    /// The API key in this place.
    pub(crate) fn key(&self, place: &Place) -> Result<Option<Cow<'a, str>>, CredentialFault> {
        let key = match place {
            Place::Header(name) => {
                let value = self.header(name)?;
                let value =
                    value.map(|value| value.to_str().map_err(|_| CredentialFault::Malformed));
                value.transpose()?.map(Cow::Borrowed)
            }
            Place::Query(name) => {
                let pairs = form_urlencoded::parse(self.query.as_bytes());
                one(pairs.filter(|(it, _)| it == name).map(|(_, value)| value))?
            }
            Place::Cookie(name) => {
                // HTTP/2 may send a header for each cookie.
                let lists = self.headers.get_all(COOKIE).into_iter();
                let lists = lists.filter_map(|value| value.to_str().ok());
                let cookies = lists.flat_map(|list| list.split(';'));
                let cookies = cookies.filter_map(|cookie| cookie.trim().split_once('='));
                let values = cookies.filter(|(it, _)| it == name);
                one(values.map(|(_, value)| Cow::Borrowed(value)))?
            }
        };
        match key {
            Some(key) if key.len() > MAX_CREDENTIALS => Err(CredentialFault::Malformed),
            key => Ok(key),
        }
    }

    fn header(&self, name: &http::HeaderName) -> Result<Option<&'a HeaderValue>, CredentialFault> {
        let value = one(self.headers.get_all(name).into_iter())?;
        match value {
            Some(value) if value.len() > MAX_CREDENTIALS => Err(CredentialFault::Malformed),
            value => Ok(value),
        }
    }
}

/// Whether a request opens a WebSocket: over HTTP/1.1 by an upgrade (RFC 6455 4.1), over HTTP/2 by a CONNECT (RFC 8441).
fn is_handshake(request: &Parts) -> bool {
    let word = |name: &http::HeaderName, word: &str| {
        let values = request.headers.get_all(name).into_iter();
        let mut words = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','));
        words.any(|it| it.trim().eq_ignore_ascii_case(word))
    };
    let upgraded = request.method == Method::GET
        && word(&UPGRADE, "websocket")
        && word(&CONNECTION, "upgrade")
        && request.headers.contains_key(SEC_WEBSOCKET_KEY);
    upgraded || (request.method == Method::CONNECT && request.version == Version::HTTP_2)
}

/// The only value. Two are refused, since a proxy in front may have read the other one.
fn one<T>(mut all: impl Iterator<Item = T>) -> Result<Option<T>, CredentialFault> {
    let first = all.next();
    match all.next() {
        None => Ok(first),
        Some(_) => Err(CredentialFault::Twice),
    }
}

impl fmt::Debug for Presented<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Presented").finish_non_exhaustive()
    }
}

/// Credentials of a known form, for protocols that pass them in a call.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credentials {
    /// An opaque token or a JWT.
    Bearer(String),
    Basic {
        user: String,
        password: String,
    },
    ApiKey(String),
}

impl Credentials {
    /// Reads the value of `Authorization`.
    fn of_header(value: &HeaderValue) -> Result<Self, CredentialFault> {
        let text = value.to_str().map_err(|_| CredentialFault::Malformed)?;
        let (scheme, rest) = text.split_once(' ').ok_or(CredentialFault::Malformed)?;
        let rest = rest.trim_matches(' ');
        // RFC 9110: one word. A comma could be a second set of credentials.
        if rest.is_empty() || rest.contains([' ', '\t', ',']) {
            return Err(CredentialFault::Malformed);
        }
        if scheme.eq_ignore_ascii_case("bearer") {
            return Ok(Self::Bearer(rest.to_owned()));
        }
        if scheme.eq_ignore_ascii_case("basic") {
            let bytes = STANDARD
                .decode(rest)
                .map_err(|_| CredentialFault::Malformed)?;
            let text = String::from_utf8(bytes).map_err(|_| CredentialFault::Malformed)?;
            let (user, password) = text.split_once(':').ok_or(CredentialFault::Malformed)?;
            return Ok(Self::Basic {
                user: user.to_owned(),
                password: password.to_owned(),
            });
        }
        Err(CredentialFault::Unknown)
    }

    /// Whether it is longer than [`MAX_CREDENTIALS`].
    pub(crate) fn is_huge(&self) -> bool {
        let length = match self {
            Self::Bearer(secret) | Self::ApiKey(secret) => secret.len(),
            Self::Basic { user, password } => user.len() + password.len(),
        };
        length > MAX_CREDENTIALS
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bearer(_) => "Bearer(not shown)",
            Self::Basic { .. } => "Basic(not shown)",
            Self::ApiKey(_) => "ApiKey(not shown)",
        })
    }
}
