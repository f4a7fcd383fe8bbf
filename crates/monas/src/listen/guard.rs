//! Which requests may go on, judged by the name they ask for and the page they come from.
//!
//! A browser lets any page send requests to any address, the user's own machine included. The name
//! asked for has to be one of ours, or else a page could make its own name resolve to loopback and
//! read the answers (DNS rebinding). And whatever may change something has to come from a page of
//! ours, of a configured origin, or from no page at all. No answer allows a browser to add cookies or
//! other credentials of its own.

use std::net::IpAddr;

use axum::http::header::{HOST, ORIGIN, UPGRADE};
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Method};

use super::origin::Origin;

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;

/// Who may ask.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// Names of this server besides those of loopback, such as that of a proxy in front of it.
    pub hosts: Vec<String>,
    /// Origins of pages that may call it, besides its own.
    pub origins: Vec<Origin>,
}

/// What is known of a request that may go on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Caller {
    /// No page, a page of our own, or a page that only reads and may not see the answer.
    Ordinary,
    /// A page of another origin that was configured; it may see answers.
    Page(HeaderValue),
}

/// Why a request may not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It names no host, several, or one that is not ours.
    Host,
    /// It may change something, and comes from a page that was not let in.
    Origin,
}

impl Guard {
    /// Judges a request that came by this scheme.
    pub(super) fn judge(&self, scheme: &str, request: &Parts) -> Result<Caller, Refusal> {
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
            if self.origins.contains(&origin) {
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

/// The name and port asked for. HTTP/2 has it in the request line (`:authority`), HTTP/1 in the Host
/// header, and either may have both: then they must agree.
fn authority(request: &Parts) -> Option<Authority> {
    let mut asked = request.uri.authority().cloned();
    for host in request.headers.get_all(HOST) {
        let host: Authority = host.to_str().ok()?.parse().ok()?;
        match &asked {
            Some(other) if *other != host => return None,
            _ => asked = Some(host),
        }
    }
    asked.filter(|authority| !authority.as_str().contains('@'))
}

/// Whether a request can change nothing. A request to speak another protocol can.
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
