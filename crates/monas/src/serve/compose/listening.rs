//! Whom a server listens to, from its configuration.

use a2a::binding;
use access::Unauthenticated;
use axum::http::StatusCode;
use axum::response::Response;

use crate::config::{Access, Config};
use crate::error::Error;
use crate::listen::{self, Beyond, Guard, Tls};
use crate::serve::door;

#[cfg(test)]
#[path = "listening_tests.rs"]
mod tests;

/// How a server listens.
pub(super) fn options(config: &Config) -> Result<listen::Options, Error> {
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
    Ok(listen::Options {
        tls,
        guard: Guard {
            hosts: public.clone().map(|url| url.host().to_owned()).collect(),
            origins: config.allow_origins.iter().chain(public).cloned().collect(),
        },
        limits: listen::Limits {
            connections: config.limits.max_connections,
            ..listen::Limits::default()
        },
        beyond: beyond(config),
        words,
    })
}

/// Others than this machine may be listened to where nobody is let in unknown and nobody shows what they know in the
/// clear: the address they are told to call is encrypted, here or by what stands in front.
fn beyond(config: &Config) -> Beyond {
    let Access {
        schemes,
        unauthenticated,
        ..
    } = &config.access;
    let asks = !schemes.is_empty() && *unauthenticated == Unauthenticated::Refused;
    let encrypted = config.public_url.as_ref();
    let encrypted = encrypted.is_some_and(|url| url.scheme() == "https");
    match asks && encrypted {
        true => Beyond::Allowed,
        false => Beyond::NotSo,
    }
}

/// Says no in the words of the protocol that is at a path.
fn words(path: &str, status: StatusCode, why: &'static str) -> Response {
    match binding::path_below(path) {
        ::mcp::PATH => ::mcp::refusal(status, why),
        path if acp::is_ours(path) => acp::refusal(status, why),
        path => listen::plainly(path, status, why),
    }
}
