//! Which hosts and which web pages may call: what keeps a page of another site from driving a server on this machine.

use ::http::header::{HOST, ORIGIN};
use ::http::{HeaderMap, Uri};

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;

/// The names of this machine, which are always allowed as hosts.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The hosts that requests may name, and the origins of pages that may call.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    hosts: Vec<String>,
    origins: Vec<Origin>,
    /// Every page may call: whatever is in front has checked it.
    any_origin: bool,
}

/// The origin of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: String,
    /// `None` in the list of those that are allowed: any port.
    port: Option<u16>,
}

impl Guard {
    pub(crate) fn new(hosts: &[String], origins: &[String]) -> Self {
        let loopback = LOOPBACK.iter().map(|host| (*host).to_owned());
        Self {
            hosts: loopback
                .chain(hosts.iter().map(|it| name(it).to_ascii_lowercase()))
                .collect(),
            origins: origins
                .iter()
                .filter_map(|it| Origin::allowed(it))
                .collect(),
            any_origin: origins.iter().any(|it| it == "*"),
        }
    }

    /// Why a request is refused, if it is. Requests without an `Origin` are not those of a page.
    pub(crate) fn refuses(&self, uri: &Uri, headers: &HeaderMap) -> Option<&'static str> {
        // HTTP/2 carries the host in the URI.
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host
            .or_else(|| uri.authority().map(|it| it.as_str()))
            .map(name);
        let known = |host: &str| self.hosts.iter().any(|it| it.eq_ignore_ascii_case(host));
        if !host.is_some_and(known) {
            return Some("Host not allowed: name it in the settings of the server");
        }
        let origin = headers.get(ORIGIN)?;
        let origin = origin.to_str().ok().and_then(Origin::of);
        let known = |origin: &Origin| self.origins.iter().any(|it| it.allows(origin));
        match self.any_origin || origin.is_some_and(|origin| known(&origin)) {
            true => None,
            false => Some("Origin not allowed: name it in the settings of the server"),
        }
    }
}

/// A host without its port and without the brackets of an address.
fn name(host: &str) -> &str {
    if let Some(address) = host.strip_prefix('[') {
        return address.split(']').next().unwrap_or_default();
    }
    match host.rsplit_once(':') {
        // More than one colon: an address without brackets.
        Some((name, _)) if !name.contains(':') => name,
        _ => host,
    }
}

impl Origin {
    fn of(text: &str) -> Option<Self> {
        let uri: Uri = text.trim().parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let authority = uri.authority()?;
        let usual = match &*scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        Some(Self {
            host: name(authority.as_str()).to_ascii_lowercase(),
            port: authority.port_u16().or(usual),
            scheme,
        })
    }

    /// An entry of the list: with a port, or with `*` for any.
    fn allowed(text: &str) -> Option<Self> {
        match text.strip_suffix(":*") {
            Some(any) => Some(Self {
                port: None,
                ..Self::of(any)?
            }),
            None => Self::of(text),
        }
    }

    fn allows(&self, other: &Self) -> bool {
        self.scheme == other.scheme
            && self.host == other.host
            && (self.port.is_none() || self.port == other.port)
    }
}
