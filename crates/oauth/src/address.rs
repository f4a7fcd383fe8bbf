//! The addresses that are used, and where the documents of a server are.

use std::fmt;
use std::str::FromStr;

use http::Uri;

use crate::Error;

/// An address of http or https with a host, without credentials and without a fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    text: String,
    uri: Uri,
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::Address(shortened(text));
        let uri: Uri = text.parse().map_err(|_| wrong())?;
        let usable = matches!(uri.scheme_str(), Some("http" | "https"))
            && uri
                .authority()
                .is_some_and(|it| !it.as_str().contains('@') && !it.host().is_empty())
            && !text.contains('#');
        match usable {
            true => Ok(Self {
                text: text.to_owned(),
                uri,
            }),
            false => Err(wrong()),
        }
    }
}

impl Address {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Scheme, host and port, as they stand in the address.
    pub fn origin(&self) -> String {
        let authority = self.uri.authority().map(http::uri::Authority::as_str);
        let scheme = self.uri.scheme_str().unwrap_or_default();
        format!("{scheme}://{}", authority.unwrap_or_default()).to_ascii_lowercase()
    }

    /// Its path without a slash at the end: empty for that of an origin.
    pub fn path(&self) -> &str {
        self.uri.path().trim_end_matches('/')
    }

    /// Whether the host is this machine, by its form alone: nothing is resolved.
    pub fn is_loopback(&self) -> bool {
        let host = self.uri.host().unwrap_or_default();
        match dial::ip_literal(host) {
            Some(ip) => ip.is_loopback(),
            None => {
                let host = host.to_ascii_lowercase();
                host == "localhost" || host.ends_with(".localhost")
            }
        }
    }

    pub fn is_encrypted(&self) -> bool {
        self.uri.scheme_str() == Some("https")
    }

    /// Whether this address is that of the resource or of something above it, at the same origin.
    pub(crate) fn covers(&self, resource: &Self) -> bool {
        let rest = resource.path().strip_prefix(self.path());
        self.origin() == resource.origin()
            && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The well-known address of a document about something at an address (RFC 8414 3.1, RFC 9728 3.1): the name stands between
/// host and path.
pub fn well_known(name: &str, about: &Address) -> String {
    format!("{}/.well-known/{name}{}", about.origin(), about.path())
}

/// An address of others may be long.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;
