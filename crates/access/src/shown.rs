//! What a request, or a caller in so many words, shows.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{AUTHORIZATION, COOKIE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue};

use crate::door::Why;
use crate::scheme::Place;

/// The longest credentials that are looked at.
const MAX_CREDENTIALS: usize = 16 << 10;

/// The name in the certificate that the client of a connection has proven to hold. Whoever accepts connections
/// puts it among the extensions of their requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certified(pub Arc<str>);

/// What a request shows of its caller.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    headers: &'a HeaderMap,
    query: &'a str,
    certificate: Option<&'a str>,
}

impl<'a> Shown<'a> {
    /// All that the head of a request shows.
    pub fn by(request: &'a Parts) -> Self {
        let certified = request.extensions.get::<Certified>();
        Self {
            headers: &request.headers,
            query: request.uri.query().unwrap_or_default(),
            certificate: certified.map(|it| &*it.0),
        }
    }

    /// What headers show.
    pub fn headers(headers: &'a HeaderMap) -> Self {
        Self {
            headers,
            query: "",
            certificate: None,
        }
    }

    pub(crate) fn certificate(&self) -> Option<&'a str> {
        self.certificate
    }

    /// What is in the header for it.
    pub(crate) fn authorization(&self) -> Result<Option<Credentials>, Why> {
        let given = self.header(&AUTHORIZATION)?;
        given.map(Credentials::of_header).transpose()
    }

    /// The key in this place.
    pub(crate) fn key(&self, place: &Place) -> Result<Option<Cow<'a, str>>, Why> {
        let key = match place {
            Place::Header(name) => {
                let value = self.header(name)?;
                let value = value.map(|value| value.to_str().map_err(|_| Why::Malformed));
                value.transpose()?.map(Cow::Borrowed)
            }
            Place::Query(name) => {
                let pairs = form_urlencoded::parse(self.query.as_bytes());
                one(pairs.filter(|(it, _)| it == name).map(|(_, value)| value))?
            }
            Place::Cookie(name) => {
                // HTTP/2 may have a header for each.
                let lists = self.headers.get_all(COOKIE).into_iter();
                let lists = lists.filter_map(|value| value.to_str().ok());
                let cookies = lists.flat_map(|list| list.split(';'));
                let cookies = cookies.filter_map(|cookie| cookie.trim().split_once('='));
                let values = cookies.filter(|(it, _)| it == name);
                one(values.map(|(_, value)| Cow::Borrowed(value)))?
            }
        };
        match key {
            Some(key) if key.len() > MAX_CREDENTIALS => Err(Why::Malformed),
            key => Ok(key),
        }
    }

    fn header(&self, name: &http::HeaderName) -> Result<Option<&'a HeaderValue>, Why> {
        let value = one(self.headers.get_all(name).into_iter())?;
        match value {
            Some(value) if value.len() > MAX_CREDENTIALS => Err(Why::Malformed),
            value => Ok(value),
        }
    }
}

/// The only one: of two it cannot be known whose word counts.
fn one<T>(mut all: impl Iterator<Item = T>) -> Result<Option<T>, Why> {
    let first = all.next();
    match all.next() {
        None => Ok(first),
        Some(_) => Err(Why::Twice),
    }
}

impl fmt::Debug for Shown<'_> {
    /// Nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shown").finish_non_exhaustive()
    }
}

/// Credentials by themselves, for protocols that hand them over in a call.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Credentials {
    /// A token, whether it says something by itself or not.
    Bearer(String),
    /// A name and a password.
    Basic {
        /// The name.
        user: String,
        /// The password.
        password: String,
    },
    /// A key.
    ApiKey(String),
}

impl Credentials {
    /// What `Authorization` holds.
    fn of_header(value: &HeaderValue) -> Result<Self, Why> {
        let text = value.to_str().map_err(|_| Why::Malformed)?;
        let (scheme, rest) = text.split_once(' ').ok_or(Why::Malformed)?;
        let rest = rest.trim_matches(' ');
        // RFC 9110: one word. A comma could be a second set of credentials.
        if rest.is_empty() || rest.contains([' ', '\t', ',']) {
            return Err(Why::Malformed);
        }
        if scheme.eq_ignore_ascii_case("bearer") {
            return Ok(Self::Bearer(rest.to_owned()));
        }
        if scheme.eq_ignore_ascii_case("basic") {
            let bytes = STANDARD.decode(rest).map_err(|_| Why::Malformed)?;
            let text = String::from_utf8(bytes).map_err(|_| Why::Malformed)?;
            let (user, password) = text.split_once(':').ok_or(Why::Malformed)?;
            return Ok(Self::Basic {
                user: user.to_owned(),
                password: password.to_owned(),
            });
        }
        Err(Why::Unknown)
    }

    /// Whether it is longer than anyone needs.
    pub(crate) fn is_huge(&self) -> bool {
        let length = match self {
            Self::Bearer(secret) | Self::ApiKey(secret) => secret.len(),
            Self::Basic { user, password } => user.len() + password.len(),
        };
        length > MAX_CREDENTIALS
    }
}

impl fmt::Debug for Credentials {
    /// Nothing secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bearer(_) => "Bearer(not shown)",
            Self::Basic { .. } => "Basic(not shown)",
            Self::ApiKey(_) => "ApiKey(not shown)",
        })
    }
}
