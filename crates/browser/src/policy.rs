//! The rules about hosts and addresses that pages may reach, which know no browser.
//!
//! A name is judged twice. By its text, before anything is resolved; and by each address that it resolves to, of which
//! only one that passed is dialed (`gateway`). So a public name that resolves to a private address, now
//! or a moment later, reaches nothing.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::str::FromStr;

use dial::{ip_literal, is_local_name, is_public};
use futures_core::future::BoxFuture;

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;

/// The hosts that pages may reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// The hosts that may be reached; empty: all that are public.
    pub allow: Vec<HostRule>,
    /// Hosts that may not be reached. This counts before everything else.
    pub deny: Vec<HostRule>,
    /// Hosts of this machine and of private networks that may be reached.
    pub private: Vec<HostRule>,
}

/// A host or several: `example.org`, `*.example.org` (also the domain itself), `10.0.0.0/8`, `*`; each may end with a port,
/// as `127.0.0.1:8080` and `[::1]:8080` do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRule {
    host: HostPattern,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostPattern {
    Any,
    /// The name, and with `true` all names below it.
    Name(String, bool),
    Network(IpAddr, u8),
}

/// Why a text is no rule about hosts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no rule about hosts: use a name (example.org), a domain (*.example.org), an address (10.0.0.7) or a \
     network (10.0.0.0/8), with a port after a colon if it counts for one port only"
)]
pub struct HostRuleError(pub String);

impl Policy {
    pub fn new(allow: Vec<HostRule>, deny: Vec<HostRule>, private: Vec<HostRule>) -> Self {
        Self {
            allow,
            deny,
            private,
        }
    }

    /// A policy by the texts of its rules.
    pub fn parse(
        allow: &[String],
        deny: &[String],
        private: &[String],
    ) -> Result<Self, HostRuleError> {
        let rules = |texts: &[String]| -> Result<Vec<HostRule>, HostRuleError> {
            texts.iter().map(|it| it.parse()).collect()
        };
        Ok(Self {
            allow: rules(allow)?,
            deny: rules(deny)?,
            private: rules(private)?,
        })
    }

    /// Whether a host may be asked for, by its text. An address is judged as the one that it is.
    pub fn check_host(&self, host: &str, port: u16) -> Result<(), String> {
        if let Some(address) = ip_literal(host) {
            return self.check_address(host, port, address);
        }
        let host = normal(host);
        self.check_lists(&host, port)?;
        let private = is_local_name(&host) || !host.contains('.');
        if private && !any(&self.private, &host, port, None) {
            return Err(format!(
                "{host} is a name of this machine or network, {GRANT}"
            ));
        }
        Ok(())
    }

    /// Whether an address may be dialed that a host resolved to. The host was checked before.
    pub fn check_address(&self, host: &str, port: u16, address: IpAddr) -> Result<(), String> {
        let host = normal(host);
        let address = address.to_canonical();
        let denied = |it: &HostRule| it.covers(&address.to_string(), port, Some(address));
        if self.deny.iter().any(denied) {
            return Err(format!(
                "the address {address} is on the list `browser.deny`"
            ));
        }
        if ip_literal(&host).is_some() {
            self.check_lists(&host, port)?;
        }
        // A grant of an address is none for names that resolve to it: a page of any site could give itself such a name and
        // would then be of one origin with what is there.
        let literal = ip_literal(&host).map(|_| address);
        if is_public(address) || any(&self.private, &host, port, literal) {
            return Ok(());
        }
        let kind = match address.is_loopback() {
            true => "this machine",
            false => "a private network",
        };
        match ip_literal(&host).is_some() {
            true => Err(format!("{address} is an address of {kind}, {GRANT}")),
            false => Err(format!(
                "{host} resolves to {address}, an address of {kind}, {GRANT}"
            )),
        }
    }

    fn check_lists(&self, host: &str, port: u16) -> Result<(), String> {
        let address = ip_literal(host);
        if any(&self.deny, host, port, address) {
            return Err(format!("{host} is on the list `browser.deny`"));
        }
        let allowed = self.allow.is_empty()
            || any(&self.allow, host, port, address)
            || any(&self.private, host, port, address);
        match allowed {
            true => Ok(()),
            false => Err(format!("{host} is not on the list `browser.allow`")),
        }
    }
}

const GRANT: &str = "which pages do not reach unless `browser.private` names it";

fn any(rules: &[HostRule], host: &str, port: u16, address: Option<IpAddr>) -> bool {
    rules.iter().any(|it| it.covers(host, port, address))
}

/// A host in the spelling in which hosts are compared.
fn normal(host: &str) -> String {
    match ip_literal(host) {
        Some(address) => address.to_canonical().to_string(),
        None => host.trim_end_matches('.').to_ascii_lowercase(),
    }
}

impl HostRule {
    fn covers(&self, host: &str, port: u16, address: Option<IpAddr>) -> bool {
        let here = match &self.host {
            HostPattern::Any => true,
            HostPattern::Name(name, below) => {
                let rest = host.strip_suffix(name.as_str());
                rest.is_some_and(|it| it.is_empty() || (*below && it.ends_with('.')))
            }
            HostPattern::Network(network, bits) => {
                address.is_some_and(|it| is_within(it, *network, *bits))
            }
        };
        here && self.port.is_none_or(|it| it == port)
    }
}

fn is_within(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    match (address, network) {
        (IpAddr::V4(address), IpAddr::V4(network)) => {
            let shift = 32 - u32::from(bits.min(32));
            let part = |it: std::net::Ipv4Addr| it.to_bits().checked_shr(shift).unwrap_or_default();
            part(address) == part(network)
        }
        (IpAddr::V6(address), IpAddr::V6(network)) => {
            let shift = 128 - u32::from(bits.min(128));
            let part = |it: std::net::Ipv6Addr| it.to_bits().checked_shr(shift).unwrap_or_default();
            part(address) == part(network)
        }
        _ => false,
    }
}

impl FromStr for HostRule {
    type Err = HostRuleError;

    fn from_str(text: &str) -> Result<Self, HostRuleError> {
        let wrong = || HostRuleError(text.to_owned());
        let text = text.trim();
        let bracketed = text.strip_prefix('[').and_then(|it| it.split_once(']'));
        let (host, port) = match bracketed {
            Some((host, rest)) => (host, rest.strip_prefix(':')),
            None if text.matches(':').count() == 1 => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
            None => (text, None),
        };
        let port = port.map(str::parse).transpose().map_err(|_| wrong())?;
        let host = match host {
            "" => return Err(wrong()),
            "*" => HostPattern::Any,
            host => pattern(host).ok_or_else(wrong)?,
        };
        Ok(Self { host, port })
    }
}

fn pattern(host: &str) -> Option<HostPattern> {
    if let Some((network, bits)) = host.split_once('/') {
        let network: IpAddr = network.parse().ok()?;
        let most = if network.is_ipv4() { 32 } else { 128 };
        let bits = bits.parse().ok().filter(|it| *it <= most)?;
        return Some(HostPattern::Network(network, bits));
    }
    if let Ok(address) = host.parse::<IpAddr>() {
        let bits = if address.is_ipv4() { 32 } else { 128 };
        return Some(HostPattern::Network(address, bits));
    }
    let (name, below) = match host.strip_prefix("*.") {
        Some(name) => (name, true),
        None => (host, false),
    };
    let fits = |it: char| it.is_alphanumeric() || matches!(it, '-' | '.' | '_');
    (!name.is_empty() && name.chars().all(fits))
        .then(|| HostPattern::Name(name.to_ascii_lowercase(), below))
}

/// Finds the addresses of names. Tests put one in the place of the system's.
pub trait Resolver: fmt::Debug + Send + Sync {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// The resolver of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|it| it.ip()).collect())
        })
    }
}
