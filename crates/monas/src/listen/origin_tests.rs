//! Origins, and which of them are the same.

use super::{NotAnOrigin, Origin};

fn origin(text: &str) -> Origin {
    text.parse().unwrap()
}

#[test]
fn scheme_host_and_port_make_the_difference() {
    assert_eq!(
        origin("https://Example.com"),
        origin("https://example.com:443")
    );
    assert_eq!(origin("http://[::1]:80"), origin("http://[::1]"));
    for (one, other) in [
        ("http://example.com", "https://example.com"),
        ("http://example.com", "http://example.com:8080"),
        ("http://localhost", "http://127.0.0.1"),
        ("ext://example.com", "http://example.com"),
        ("http://8080:8080", "http://8080"),
    ] {
        assert_ne!(origin(one), origin(other));
    }
}

#[test]
fn is_printed_as_a_browser_sends_it() {
    for text in [
        "https://example.com",
        "http://127.0.0.1:8080",
        "http://[::1]:8080",
        "chrome-extension://abcdef",
    ] {
        assert_eq!(origin(text).to_string(), text);
    }
    assert_eq!(
        origin("https://example.com:443").to_string(),
        "https://example.com"
    );
}

#[test]
fn other_texts_are_no_origins() {
    for text in [
        "",
        "null",
        "*",
        "example.com",
        "https://",
        "://example.com",
        "https://example.com/",
        "https://example.com/page",
        "https://user@example.com",
        "https://example.com:port",
        "https://example.com:99999",
        "ht tp://example.com",
        "https://one.example https://two.example",
    ] {
        assert_eq!(text.parse::<Origin>(), Err(NotAnOrigin), "{text:?}");
    }
}
