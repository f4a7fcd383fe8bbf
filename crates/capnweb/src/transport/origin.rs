//! The web pages that may connect. A browser lets any page open a WebSocket to any address, the user's own
//! machine included, so the server must check the `Origin` of a request.

use http::HeaderMap;
use http::header::{HOST, ORIGIN};

/// The origins that are accepted. Programs other than browsers send no `Origin` and are always accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum OriginPolicy {
    /// Pages that this server itself served: the origin's host and port are those asked for.
    #[default]
    Same,
    /// Those pages, and pages of these origins, such as `https://example.com`.
    Listed(Vec<String>),
    /// All pages. Only for services that treat all callers alike, or authenticate in band.
    Any,
}

impl OriginPolicy {
    /// Whether a request with these headers may go on.
    pub fn allows(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(ORIGIN) else {
            return true;
        };
        let Ok(origin) = origin.to_str() else {
            return false;
        };
        match self {
            Self::Any => true,
            Self::Same => is_same(origin, headers),
            Self::Listed(origins) => {
                is_same(origin, headers)
                    || origins
                        .iter()
                        .any(|listed| listed.eq_ignore_ascii_case(origin))
            }
        }
    }
}

fn is_same(origin: &str, headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    match (host, authority) {
        (Some(host), Some(authority)) => host.eq_ignore_ascii_case(authority),
        _ => false,
    }
}
