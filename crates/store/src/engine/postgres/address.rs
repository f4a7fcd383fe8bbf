//! The address of a database: libpq's URL, with `sslmode` and `sslrootcert` as libpq means them.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::tls::{Check, Tls};
use crate::Error;

#[cfg(test)]
#[path = "address_tests.rs"]
mod tests;

/// How long a host may take to answer when a connection is made, unless the URL says otherwise.
const CONNECT: Duration = Duration::from_secs(5);

/// How long a connection may be silent while bytes are on their way.
const SILENCE: Duration = Duration::from_secs(5);

/// The parameters of a URL that are read here, and not by the driver.
const OURS: [&str; 2] = ["sslmode", "sslrootcert"];

/// Where a database is and how it is reached. Its texts leave out the password.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) tls: Tls,
    shown: String,
}

impl Address {
    /// Reads `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?sslmode=...&sslrootcert=FILE`.
    ///
    /// Without `sslmode`, hosts of this machine are reached in plain text and all others with `verify-full`. With several
    /// hosts the one that takes writes is meant, unless `target_session_attrs` says otherwise.
    pub(super) fn parse(url: &str) -> Result<Self, Error> {
        let shown = without_password(url);
        let wrong = |problem: String| Error::Address {
            address: shown.clone(),
            problem,
        };
        if !["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| url.starts_with(scheme))
        {
            return Err(wrong(
                "it has to begin with postgres:// or postgresql://".to_owned(),
            ));
        }
        let (rest, [mode, authorities]) = split(url);
        let parsed: Result<Config, _> = rest.parse();
        let mut config = parsed.map_err(|error| wrong(super::errors::told(&error)))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(wrong("it names no host".to_owned()));
        }
        let check = match mode.as_deref() {
            None if is_local(&config) => None,
            None | Some("verify-full") => Some(Check::Full),
            Some("disable") => None,
            Some("require") if authorities.is_some() => Some(Check::Authority),
            Some("require") => Some(Check::Nothing),
            Some("verify-ca") => Some(Check::Authority),
            Some(other) => {
                return Err(wrong(format!(
                    "sslmode is {other:?}; it can be disable, require, verify-ca or verify-full"
                )));
            }
        };
        let authorities = authorities.map(PathBuf::from);
        let tls =
            Tls::new(check.unwrap_or(Check::Full), authorities.as_deref()).map_err(|error| {
                let path = authorities.unwrap_or_default();
                wrong(format!("sslrootcert {}: {error}", path.display()))
            })?;
        config.ssl_mode(check.map_or(SslMode::Disable, |_| SslMode::Require));
        config.connect_timeout(config.get_connect_timeout().copied().unwrap_or(CONNECT));
        config.tcp_user_timeout(config.get_tcp_user_timeout().copied().unwrap_or(SILENCE));
        config
            .keepalives_idle(SILENCE)
            .keepalives_interval(Duration::from_secs(1))
            .keepalives_retries(5);
        if config.get_hosts().len() > 1 && !url.contains("target_session_attrs=") {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        Ok(Self { config, tls, shown })
    }

    /// The address as it may be shown.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Address").field(&self.shown).finish()
    }
}

/// The URL without [`OURS`], and their values.
fn split(url: &str) -> (String, [Option<String>; 2]) {
    let mut found = [None, None];
    let Some((place, query)) = url.split_once('?') else {
        return (url.to_owned(), found);
    };
    let mut kept = Vec::new();
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match OURS.iter().position(|ours| *ours == name) {
            Some(at) => found[at] = Some(decoded(value)),
            None => kept.push(pair),
        }
    }
    match kept.is_empty() {
        true => (place.to_owned(), found),
        false => (format!("{place}?{}", kept.join("&")), found),
    }
}

/// A text of a URL with `%XX` resolved; what is no such escape stays.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.map(|digits| u8::from_str_radix(digits, 16)) {
            Some(Ok(byte)) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether all hosts are on this machine, so that nothing can be read on the way.
fn is_local(config: &Config) -> bool {
    let addresses = config.get_hostaddrs();
    if !addresses.is_empty() {
        return addresses.iter().all(|address| address.is_loopback());
    }
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => {
            let address: Result<std::net::IpAddr, _> = name.trim_matches(['[', ']']).parse();
            name == "localhost" || address.is_ok_and(|address| address.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

/// The URL without the password, also without one in a parameter.
pub(crate) fn without_password(url: &str) -> String {
    let (place, query) = match url.split_once('?') {
        Some((place, query)) => (place, Some(query)),
        None => (url, None),
    };
    let mut shown = match place.split_once("://") {
        Some((scheme, rest)) => match rest.rsplit_once('@') {
            Some((user, hosts)) => {
                let user = user.split(':').next().unwrap_or_default();
                format!("{scheme}://{user}@{hosts}")
            }
            None => place.to_owned(),
        },
        None => place.to_owned(),
    };
    if let Some(query) = query {
        let pairs = query
            .split('&')
            .filter(|pair| !pair.starts_with("password"));
        let pairs: Vec<_> = pairs.collect();
        if !pairs.is_empty() {
            shown.push('?');
            shown.push_str(&pairs.join("&"));
        }
    }
    shown
}
