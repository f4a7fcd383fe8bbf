//! The options of a server's listener, from its configuration.

use std::sync::Arc;
use std::time::SystemTime;

use a2a::binding;
use access::{Door, Presented, Unauthenticated};
use axum::http::StatusCode;
use axum::response::Response;

use crate::config::{Access, Config};
use crate::error::Error;
use crate::listen::{self, Guard, Known, PublicUrl, RemoteAccess, Tls};
use crate::serve::door;

#[cfg(test)]
#[path = "listening_tests.rs"]
mod tests;

/// The most places that are kept for known callers, and the part of all places that they are at most.
const KEPT: usize = 256;
const KEPT_PART: usize = 10;

pub(super) fn options(config: &Config, door: &Arc<Door>) -> Result<listen::Options, Error> {
    let authorities = door::authorities(&config.access, config.tls.is_some())?;
    let tls = match &config.tls {
        Some(files) => {
            let (certificate, key) = (&files.certificate, &files.key);
            Some(match authorities {
                None => Tls::from_files(certificate, key)?,
                Some(authorities) => Tls::with_clients(certificate, key, authorities)?,
            })
        }
        None => None,
    };
    let public = config.public_url.iter();
    let path = public.clone().map(|url| url.path().to_owned()).next();
    let public = public.map(PublicUrl::origin);
    Ok(listen::Options {
        tls,
        guard: Guard {
            hosts: public.clone().map(|url| url.host().to_owned()).collect(),
            origins: config.allow_origins.iter().chain(public).cloned().collect(),
            any_origin: config.any_origin,
        },
        base_path: path.unwrap_or_default(),
        // The card says how callers authenticate: pages must be able to read it first.
        is_public: |path| binding::CARD_PATHS.contains(&binding::path_below(path)),
        limits: listen::Limits {
            connections: config.limits.max_connections,
            kept: match door.asks() {
                true => KEPT.min(config.limits.max_connections / KEPT_PART),
                false => 0,
            },
            per_address: config.limits.max_connections_per_address,
            ..listen::Limits::default()
        },
        known: known(door),
        remote: remote_access(config),
        refusal,
    })
}

/// A caller is known if the door recognises its credentials.
fn known(door: &Arc<Door>) -> Known {
    let door = door.clone();
    Known::new(move |request| {
        let caller = door.admit(&Presented::by(request), SystemTime::now());
        caller.is_ok_and(|caller| !caller.is_anonymous())
    })
}

/// Other machines may call if every caller has to authenticate and credentials are encrypted: the URL that clients are told
/// to call is https, by TLS here or in a proxy in front.
fn remote_access(config: &Config) -> RemoteAccess {
    let Access {
        schemes,
        unauthenticated,
        ..
    } = &config.access;
    let authenticates = !schemes.is_empty() && *unauthenticated == Unauthenticated::Refused;
    let encrypted = config.public_url.as_ref();
    let encrypted = encrypted.is_some_and(|url| url.origin().scheme() == "https");
    match authenticates && encrypted {
        true => RemoteAccess::Allowed,
        false => RemoteAccess::NotConfigured,
    }
}

/// Refuses in the format of the protocol that a path belongs to.
fn refusal(path: &str, status: StatusCode, why: &'static str) -> Response {
    match binding::path_below(path) {
        ::mcp::PATH => ::mcp::refusal(status, why),
        path if acp::is_ours(path) => acp::refusal(status, why),
        path => listen::as_text(path, status, why),
    }
}
