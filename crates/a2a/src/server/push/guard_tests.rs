//! The addresses that webhooks may have.

use dial::Reach;

use super::guard::check;
use crate::types::{AuthenticationInfo, TaskPushNotificationConfig};

fn url(url: &str) -> TaskPushNotificationConfig {
    TaskPushNotificationConfig {
        url: url.to_owned(),
        ..TaskPushNotificationConfig::default()
    }
}

#[test]
fn private_addresses_are_refused_however_they_are_written() {
    for address in [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "198.18.0.1",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:7f00:1::",
        "2001:db8::1",
    ] {
        assert!(!Reach::Public.allows(address.parse().unwrap()), "{address}");
        assert!(Reach::Any.allows(address.parse().unwrap()), "{address}");
    }
    for address in [
        "93.184.216.34",
        "1.1.1.1",
        "2606:4700:4700::1111",
        "::ffff:1.1.1.1",
    ] {
        assert!(Reach::Public.allows(address.parse().unwrap()), "{address}");
    }
}

#[test]
fn what_can_be_seen_at_once_is_refused_at_once() {
    for refused in [
        "http://127.0.0.1/",
        "http://[::1]:80/",
        "http://[::ffff:127.0.0.1]/",
        "http://localhost/",
        "http://LOCALHOST./x",
        "https://metadata.google.internal/",
        "ftp://example.com/",
        "http://user:secret@example.com/",
        "/path",
        "nonsense",
        "",
        "http://example.com:99999/",
        "http://example.com:0/",
    ] {
        assert!(check(&url(refused), Reach::Public).is_err(), "{refused}");
    }
    assert!(check(&url("https://example.com/hook"), Reach::Public).is_ok());
    assert!(check(&url("http://127.0.0.1:9/hook"), Reach::Any).is_ok());
}

#[test]
fn line_breaks_cannot_add_headers() {
    let mut config = url("https://example.com/hook");
    config.token = "a\r\nX-Evil: 1".to_owned();
    assert!(check(&config, Reach::Public).is_err());
    config.token.clear();
    config.authentication = Some(AuthenticationInfo {
        scheme: "Bearer".to_owned(),
        credentials: "a\nb".to_owned(),
    });
    assert!(check(&config, Reach::Public).is_err());
}
