//! Which addresses a webhook may have. The server must not be talked into calling its own network.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;

use crate::error::Error;
use crate::limits::MAX_ID;
use crate::types::TaskPushNotificationConfig;

/// Whom webhooks may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Targets {
    /// Public addresses only.
    #[default]
    Public,
    /// Any address, loopback and private networks too: for tests, and for agents that are neighbours.
    Any,
}

impl Targets {
    /// Whether a connection to that address may be made. Asked of the address a name was resolved
    /// to, at the moment of connecting.
    pub(super) fn allow(self, address: IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::Public => match address {
                IpAddr::V4(address) => is_public_v4(address),
                IpAddr::V6(address) => is_public_v6(address),
            },
        }
    }
}

/// What can be said of a webhook before it is called.
pub(in crate::server) fn check(
    config: &TaskPushNotificationConfig,
    targets: Targets,
) -> Result<(), Error> {
    if config.id.len() > MAX_ID {
        let why = format!("is longer than {MAX_ID} bytes");
        return Err(Error::invalid_field("id", why));
    }
    let wrong = |description: &str| Err(Error::invalid_field("url", description));
    let Ok(uri) = config.url.parse::<Uri>() else {
        return wrong("is not a URL");
    };
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return wrong("must be http or https");
    }
    let Some(authority) = uri.authority() else {
        return wrong("names no host");
    };
    if authority.as_str().contains('@') {
        return wrong("must not hold credentials");
    }
    // The parsed authority is silent about a port above 65535, so its text decides.
    let behind_host = &authority.as_str()[authority.host().len()..];
    if !behind_host.is_empty() && !matches!(authority.port_u16(), Some(1..)) {
        return wrong("has a port that is none");
    }
    match literal(authority.host()) {
        Some(address) if !targets.allow(address) => return wrong("is not a public address"),
        None if targets == Targets::Public && is_local_name(authority.host()) => {
            return wrong("is not a public address");
        }
        _ => {}
    }
    if config.authentication.as_ref().is_some_and(super::signs) && super::secret(config).is_none() {
        let why = "is no secret: 16 bytes or more, or whsec_ and base64 of as many";
        return Err(Error::invalid_field("authentication.credentials", why));
    }
    let authentication = config.authentication.iter();
    let secrets = authentication.flat_map(|it| {
        [
            ("authentication.scheme", &it.scheme),
            ("authentication.credentials", &it.credentials),
        ]
    });
    for (field, value) in secrets.chain([("token", &config.token)]) {
        // A line break would add headers of the caller's choosing.
        if http::HeaderValue::from_str(value).is_err() {
            return Err(Error::invalid_field(field, "cannot stand in a header"));
        }
    }
    Ok(())
}

/// The address that a host is, if it is not a name.
pub(super) fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[')
        .trim_end_matches(']')
        .parse()
        .ok()
}

fn is_local_name(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    host == "localhost"
        || host.ends_with(".localhost")
        || host.ends_with(".local")
        || host.ends_with(".internal")
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    !(address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_broadcast()
        || address.is_documentation()
        || a == 0
        // Shared by carriers, set aside for protocols, for measurements, and reserved.
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (18..20).contains(&b))
        || a >= 240)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = embedded_v4(address) {
        return is_public_v4(inner);
    }
    let first = address.segments()[0];
    // Global unicast is 2000::/3; documentation and benchmarking lie inside it.
    let reserved = matches!(
        address.segments(),
        [0x2001, 0x0db8 | 0x0002, ..] | [0x3fff, ..]
    );
    (first & 0xe000) == 0x2000 && !reserved
}

/// The IPv4 address that a packet to this address would reach: mapped, translated, 6to4 or Teredo.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        Ipv4Addr::new(a, b, c, d)
    };
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(from(high, low))
        }
        [0x2002, high, low, ..] => Some(from(high, low)),
        [0x2001, 0, _, _, _, _, high, low] => Some(from(!high, !low)),
        _ => None,
    }
}
