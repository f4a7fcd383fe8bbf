//! Hosts and origins that are let in, and those that are not.

use ::http::{HeaderMap, HeaderName, Uri};

use super::Guard;

fn admits(headers: &[(&str, &str)]) -> bool {
    let hosts = ["agents.example".to_owned()];
    let origins = [
        "http://127.0.0.1:7777",
        "https://agents.example:443",
        "http://localhost:*",
    ];
    let guard = Guard::new(&hosts, &origins.map(str::to_owned));
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| (HeaderName::try_from(*name).unwrap(), value.parse().unwrap()))
        .collect();
    guard.refuses(&Uri::from_static("/mcp"), &headers).is_none()
}

#[test]
fn a_host_is_allowed_with_any_port() {
    for host in [
        "localhost",
        "LOCALHOST:1",
        "127.0.0.1:7777",
        "[::1]",
        "[::1]:80",
        "agents.example",
        "Agents.Example:8443",
    ] {
        assert!(admits(&[("host", host)]), "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "",
        ":80",
        "127.0.0.1.evil:80",
        "[::2]",
    ] {
        assert!(!admits(&[("host", host)]), "{host}");
    }
    assert!(!admits(&[]));
}

#[test]
fn an_origin_is_allowed_with_its_port_or_with_any() {
    let from = |origin: &str| admits(&[("host", "localhost"), ("origin", origin)]);
    for origin in [
        "http://127.0.0.1:7777",
        "https://agents.example",
        "https://AGENTS.example:443",
        "http://localhost:5173",
    ] {
        assert!(from(origin), "{origin}");
    }
    for origin in [
        "null",
        "",
        "http://127.0.0.1",
        "http://127.0.0.1:7778",
        "http://agents.example",
        "https://agents.example:8443",
        "https://localhost:1",
        "not an origin",
    ] {
        assert!(!from(origin), "{origin}");
    }
}

/// A host in the URI counts where HTTP/2 has no header for it.
#[test]
fn the_authority_of_http2_is_the_host() {
    let guard = Guard::new(&[], &[]);
    let refuses = |uri| guard.refuses(&Uri::from_static(uri), &HeaderMap::new());
    assert_eq!(refuses("http://localhost:1/mcp"), None);
    assert!(refuses("http://evil.example/mcp").is_some());
}

#[test]
fn a_star_allows_the_pages_of_every_origin() {
    let guard = Guard::new(&[], &["*".to_owned()]);
    let mut headers = HeaderMap::new();
    headers.insert("host", "localhost".parse().unwrap());
    headers.insert("origin", "https://page.example".parse().unwrap());
    assert_eq!(guard.refuses(&Uri::from_static("/mcp"), &headers), None);
}
