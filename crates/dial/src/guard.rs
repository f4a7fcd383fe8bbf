//! The addresses that may be reached: the guard against server-side request forgery (SSRF).
//!
//! An address that a stranger chose, such as that of a webhook, must not lead into the network of the server. A check
//! of the URL cannot see to that: a public name can resolve to a private address, and to a different one a moment
//! later (DNS rebinding). So the rule is asked of the resolved address, inside the connector, between resolving and
//! dialing, and the address that passed is the one that is dialed; there is no second resolving. Every hop of a
//! redirect is a connection of its own and passes the same check. A literal address in a URL is checked before
//! anything is resolved. Behind a proxy, which would resolve the name again, a guarded connection asks the proxy for
//! the checked address instead of the name (`connect`).
//!
//! [`is_public`] lists what is refused since `Ipv6Addr::is_global` of the standard library is not
//! stable. IPv6 forms that carry an IPv4 address (mapped, NAT64, 6to4, Teredo) are judged by the address inside, since
//! a packet to them ends there.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[cfg(test)]
#[path = "guard_tests.rs"]
mod tests;

/// Which addresses connections may be made to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// All, loopback and private networks included: for addresses that the operator chose.
    #[default]
    Any,
    /// Public addresses only: for addresses that a stranger chose.
    Public,
}

impl Reach {
    /// Whether a connection to this address may be made.
    pub fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::Public => is_public(address),
        }
    }
}

/// Whether an address is reachable on the internet: not loopback, private, link-local, reserved or multicast.
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The address that the host of a URL is, if it is not a name. IPv6 stands in brackets there.
pub fn ip_literal(host: &str) -> Option<IpAddr> {
    let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    bare.unwrap_or(host).parse().ok()
}

/// Whether a name is one of this machine or this network by its form alone (RFC 6761, RFC 6762, `.internal`).
pub fn is_local_name(host: &str) -> bool {
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
        // Carrier-grade NAT, protocol assignments, 6to4 relays, benchmarking, reserved.
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

/// The IPv4 address that a packet to this address would reach: mapped, NAT64, 6to4 or Teredo.
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
