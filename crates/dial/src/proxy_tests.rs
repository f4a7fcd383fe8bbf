//! Which proxy carries what.

use super::Proxies;

fn proxies(variables: &'static [(&'static str, &'static str)]) -> Proxies {
    let lookup = |wanted: &str| {
        let found = variables.iter().find(|(name, _)| *name == wanted);
        found.map(|(_, value)| (*value).to_owned())
    };
    Proxies::from_variables(lookup).unwrap()
}

fn carried(proxies: &Proxies, address: &str) -> Option<String> {
    let proxy = proxies.of(&address.parse().unwrap());
    proxy.map(|it| it.uri().authority().unwrap().to_string())
}

#[test]
fn each_scheme_has_its_proxy_and_sockets_have_those_of_http() {
    let proxies = proxies(&[
        ("HTTPS_PROXY", "http://secure:1"),
        ("http_proxy", "plain:2"),
    ]);
    for (address, proxy) in [
        ("https://example.com/", Some("secure:1")),
        ("wss://example.com/", Some("secure:1")),
        ("https://localhost:4/", Some("secure:1")),
        ("http://example.com/", Some("plain:2")),
        ("ws://example.com/", Some("plain:2")),
        ("http://localhost:3/", None),
        ("ws://127.0.0.1:3/", None),
        ("http://[::1]:3/", None),
    ] {
        assert_eq!(carried(&proxies, address).as_deref(), proxy, "{address}");
    }
}

#[test]
fn hosts_of_no_proxy_are_reached_directly() {
    let proxies = proxies(&[
        ("ALL_PROXY", "http://all:1"),
        ("NO_PROXY", "example.com, 10.0.0.0/8,127.0.0.1"),
    ]);
    for (address, is_direct) in [
        ("https://example.com/", true),
        ("https://api.example.com/", true),
        ("https://notexample.com/", false),
        ("https://10.1.2.3/", true),
        ("https://127.0.0.1:8/", true),
        ("https://127.0.0.2:8/", false),
    ] {
        assert_eq!(carried(&proxies, address).is_none(), is_direct, "{address}");
    }
}

#[test]
fn a_proxy_that_cannot_be_used_is_refused_without_repeating_its_password() {
    for wrong in [
        "socks5://user:secret@proxy",
        "ftp://secret",
        "http://",
        "secret word",
    ] {
        let lookup = |name: &str| (name == "HTTPS_PROXY").then(|| wrong.to_owned());
        let error = Proxies::from_variables(lookup).unwrap_err().to_string();
        assert!(error.contains("HTTPS_PROXY"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }
    let empty = Proxies::from_variables(|_| Some(" ".to_owned())).unwrap();
    assert_eq!(carried(&empty, "https://example.com/"), None);
}

#[test]
fn proxies_are_shown_without_their_passwords_and_are_equal_by_their_variables() {
    let one = proxies(&[("ALL_PROXY", "http://user:secret@proxy:1")]);
    let shown = format!("{one:?}");
    assert!(
        shown.contains("proxy:1") && !shown.contains("secret"),
        "{shown}"
    );
    assert_eq!(one, proxies(&[("all_proxy", "http://user:secret@proxy:1")]));
    assert_ne!(one, Proxies::none());
}
