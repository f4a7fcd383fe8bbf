//! The origin of a web page: scheme, host and port.

use std::fmt;
use std::str::FromStr;

use axum::http::uri::Authority;

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;

/// The origin of a page, such as `https://example.com`. The default port of a scheme may be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    scheme: String,
    host: String,
    port: Option<u16>,
}

impl Origin {
    /// The origin of pages that are served by this scheme at this authority.
    pub(super) fn of(scheme: &str, authority: &Authority) -> Option<Self> {
        let after = authority.as_str().rsplit('@').next()?;
        let after = after.strip_prefix(authority.host())?;
        let port = match after.strip_prefix(':') {
            Some(port) => Some(port.parse().ok()?),
            None => default_port(scheme),
        };
        Some(Self {
            scheme: scheme.to_ascii_lowercase(),
            host: authority.host().to_ascii_lowercase(),
            port,
        })
    }

    /// The host, as in a URL: lowercase, an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Host and port; the default port of the scheme is left out.
    pub fn authority(&self) -> String {
        match self.port {
            Some(port) if self.port != default_port(&self.scheme) => {
                format!("{}:{port}", self.host)
            }
            _ => self.host.clone(),
        }
    }

    /// The scheme, in lowercase.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }
}

/// The text is not an origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an origin such as https://example.com")]
pub struct NotAnOrigin;

impl FromStr for Origin {
    type Err = NotAnOrigin;

    fn from_str(text: &str) -> Result<Self, NotAnOrigin> {
        let (scheme, rest) = text.split_once("://").ok_or(NotAnOrigin)?;
        let mut letters = scheme.chars();
        let named = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
            && letters.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        let authority: Authority = rest.parse().map_err(|_| NotAnOrigin)?;
        if !named || rest.contains('@') || authority.host().is_empty() {
            return Err(NotAnOrigin);
        }
        Self::of(scheme, &authority).ok_or(NotAnOrigin)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme, self.authority())
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}
