//! The checks of Host and Origin.
//!
//! A browser lets any page send requests to any address, the user's own machine included. So the host that a request
//! names has to be one of this server's: otherwise a page could make its own name resolve to loopback and read the
//! responses (DNS rebinding). And a request that may change something has to come from a page of this server, from a page
//! of a configured origin, or from no page at all. No response allows a browser to add cookies or other credentials.

use std::net::IpAddr;

use axum::http::header::{HOST, ORIGIN, UPGRADE};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Method};

use super::origin::Origin;

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;

/// The hosts and origins that requests may name.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// Hosts of this server besides those of loopback, such as that of a proxy in front of it.
    pub hosts: Vec<String>,
    /// Origins of pages that may call it, besides its own pages.
    pub origins: Vec<Origin>,
    /// Pages of any origin may call it: for servers on which every call needs a credential that a browser does not add by
    /// itself.
    pub any_origin: bool,
}

/// Where an accepted request comes from.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// No page, a page of this server, or a foreign page that only reads and cannot see the response.
    Ordinary,
    /// A page of a configured origin, which may see responses.
    Page(HeaderValue),
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It names no host, several, or one that is not of this server.
    Host,
    /// It may change something, and comes from a page of another origin.
    Origin,
}

impl Guard {
    /// Checks a request that came by this scheme.
    pub(super) fn check(&self, scheme: &str, request: &Parts) -> Result<Caller, Refusal> {
        let authority = authority(request).ok_or(Refusal::Host)?;
        if !self.is_ours(authority.host()) {
            return Err(Refusal::Host);
        }
        let mut origins = request.headers.get_all(ORIGIN).iter();
        let Some(value) = origins.next() else {
            return Ok(Caller::Ordinary);
        };
        let origin = match origins.next() {
            None => value.to_str().ok().and_then(|text| text.parse().ok()),
            Some(_) => None,
        };
        if let Some(origin) = origin {
            if self.any_origin || self.origins.contains(&origin) {
                return Ok(Caller::Page(value.clone()));
            }
            if Origin::of(scheme, &authority) == Some(origin) {
                return Ok(Caller::Ordinary);
            }
        }
        if only_reads(request) {
            return Ok(Caller::Ordinary);
        }
        Err(Refusal::Origin)
    }

    fn is_ours(&self, host: &str) -> bool {
        is_loopback(host) || self.hosts.iter().any(|own| own.eq_ignore_ascii_case(host))
    }
}

/// The host and port that a request names: in `:authority` over HTTP/2, in the Host header over HTTP/1. Either may have
/// both; then they must agree. Two Host headers are none (RFC 9112 3.2), even if they agree.
pub(super) fn authority(request: &Parts) -> Option<Authority> {
    let mut asked = request.uri.authority().cloned();
    if request.headers.get_all(HOST).iter().count() > 1 {
        return None;
    }
    for host in request.headers.get_all(HOST) {
        let host: Authority = host.to_str().ok()?.parse().ok()?;
        match &asked {
            Some(other) if *other != host => return None,
            _ => asked = Some(host),
        }
    }
    asked.filter(|authority| !authority.as_str().contains('@'))
}

/// Whether a request can change nothing. An upgrade to another protocol can.
fn only_reads(request: &Parts) -> bool {
    matches!(request.method, Method::GET | Method::HEAD | Method::OPTIONS)
        && !request.headers.contains_key(UPGRADE)
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback())
}
