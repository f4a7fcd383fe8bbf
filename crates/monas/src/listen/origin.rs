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

/// The URL at which clients reach a server: an origin, and a path if a proxy puts the server below one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    origin: Origin,
    /// Empty, or segments that each begin with a slash.
    path: String,
}

impl PublicUrl {
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The path, normalised: empty, or it begins with a slash and ends without one.
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl FromStr for PublicUrl {
    type Err = NotAnOrigin;

    fn from_str(text: &str) -> Result<Self, NotAnOrigin> {
        let (scheme, rest) = text.split_once("://").ok_or(NotAnOrigin)?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let segments = path.split('/').filter(|segment| !segment.is_empty());
        let mut path = String::new();
        for segment in segments {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-._~%!$&'()*+,;=:@".contains(c);
            if matches!(segment, "." | "..") || !segment.chars().all(plain) {
                return Err(NotAnOrigin);
            }
            path.push('/');
            path.push_str(segment);
        }
        let origin = format!("{scheme}://{authority}").parse()?;
        Ok(Self { origin, path })
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
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
