//! Private addresses are recognised however they are written.

use super::{Reach, ip_literal, is_local_name};

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
        "240.0.0.1",
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
        "2001:0:0:0:0:0:80ff:fffe",
        "2001:db8::1",
    ] {
        let parsed = address.parse().unwrap();
        assert!(!Reach::Public.allows(parsed), "{address}");
        assert!(Reach::Any.allows(parsed), "{address}");
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
fn a_literal_may_stand_in_brackets_and_a_name_is_none() {
    assert_eq!(ip_literal("[::1]"), "::1".parse().ok());
    assert_eq!(ip_literal("127.0.0.1"), "127.0.0.1".parse().ok());
    assert_eq!(ip_literal("localhost"), None);
    for name in [
        "localhost",
        "LOCALHOST.",
        "a.local",
        "metadata.google.internal",
    ] {
        assert!(is_local_name(name), "{name}");
    }
    assert!(!is_local_name("example.com"));
}
