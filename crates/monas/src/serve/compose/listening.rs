//! The options of a server's listener, from its configuration.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;

use a2a::binding;
use access::{Door, Presented};
use axum::http::StatusCode;
use axum::response::Response;

use crate::config::Config;
use crate::error::Error;
use crate::listen::{
    self, CallerCheck, Guard, PublicUrl, RemoteAccess, SignedRequests, Tls, TlsSource,
};
use crate::serve::{door, resource};

#[cfg(test)]
#[path = "listening_tests.rs"]
mod tests;

/// The most places that are kept for known callers, and the part of all places that they are at most.
const KEPT: usize = 256;
const KEPT_PART: usize = 10;

/// The options of a listener. The door is there before the first request.
pub(super) fn options(
    config: &Config,
    door: &Arc<OnceLock<Arc<Door>>>,
) -> Result<listen::Options, Error> {
    let authorities = door::authorities(&config.access, config.tls.is_some())?;
    let tls = config.tls.as_ref().map(|files| {
        Tls::read(TlsSource {
            certificate: files.certificate.clone(),
            key: files.key.clone(),
            authorities: authorities.map(Path::to_owned),
            oldest: config.tls_version,
        })
    });
    let tls = tls.transpose()?;
    let public = config.public_url.iter();
    let path = public.clone().map(|url| url.path().to_owned()).next();
    let public = public.map(PublicUrl::origin);
    Ok(listen::Options {
        tls,
        guard: Guard {
            hosts: public.clone().map(|url| url.host().to_owned()).collect(),
            origins: config.allow_origins.iter().chain(public).cloned().collect(),
            any_origin: config.allows_any_origin(),
        },
        base_path: path.unwrap_or_default(),
        // The card says how callers authenticate: pages must be able to read it first.
        is_public: |path| {
            binding::CARD_PATHS.contains(&binding::path_below(path))
                || path.starts_with(resource::PATH)
        },
        limits: listen::Limits {
            connections: config.limits.max_connections,
            kept: match config.access.asks() {
                true => KEPT.min(config.limits.max_connections / KEPT_PART),
                false => 0,
            },
            per_address: config.limits.max_connections_per_address,
            ..listen::Limits::default()
        },
        known: known(door),
        signed: config.access.reads_signatures().then(|| SignedRequests {
            door: door.clone(),
            public_url: config.public_url.clone(),
            max_body: config.limits.max_body,
        }),
        remote: remote_access(config),
        refusal,
    })
}

/// A caller is known if the door recognises its credentials.
fn known(door: &Arc<OnceLock<Arc<Door>>>) -> CallerCheck {
    let door = door.clone();
    CallerCheck::new(move |request| {
        let caller = door
            .get()
            .map(|door| door.admit(&Presented::by(request), SystemTime::now()));
        caller.is_some_and(|it| it.is_ok_and(|caller| !caller.is_anonymous()))
    })
}

/// Other machines may call if every caller has to authenticate and credentials are encrypted: the URL that clients are told
/// to call is https, by TLS here or in a proxy in front.
fn remote_access(config: &Config) -> RemoteAccess {
    let encrypted = config.public_url.as_ref();
    let encrypted = encrypted.is_some_and(|url| url.origin().scheme() == "https");
    match config.access.is_closed() && encrypted {
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
