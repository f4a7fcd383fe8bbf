//! Addresses that are used, and those that are not.

use super::*;

#[test]
fn reads_addresses_and_refuses_what_could_mislead() {
    let read = |text: &str| text.parse::<Address>();
    let address = read("https://ID.example.com:8443/realms/a/").unwrap();
    assert_eq!(address.origin(), "https://id.example.com:8443");
    assert_eq!(
        well_known("openid-configuration", &address),
        "https://id.example.com:8443/.well-known/openid-configuration/realms/a"
    );
    for wrong in [
        "ftp://id.example.com",
        "id.example.com",
        "https://user@id.example.com",
        "https://id.example.com#there",
        "/path",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_resource_is_covered_by_itself_and_by_what_is_above_it() {
    let address = |text: &str| text.parse::<Address>().unwrap();
    let mcp = address("https://a.example.com/team/mcp");
    for above in [
        "https://a.example.com",
        "https://a.example.com/team/",
        "https://a.example.com/team/mcp",
    ] {
        assert!(address(above).covers(&mcp), "{above}");
    }
    for other in [
        "https://a.example.com/te",
        "https://a.example.com/team/mcp/more",
        "https://b.example.com/team/mcp",
        "http://a.example.com/team/mcp",
    ] {
        assert!(!address(other).covers(&mcp), "{other}");
    }
}

#[test]
fn loopback_is_seen_by_its_form() {
    let is_loopback = |text: &str| text.parse::<Address>().unwrap().is_loopback();
    assert!(is_loopback("http://127.0.0.1:1/x"));
    assert!(is_loopback("http://[::1]:1"));
    assert!(is_loopback("http://localhost"));
    assert!(!is_loopback("http://127.0.0.1.example.com"));
    assert!(!is_loopback("http://10.0.0.1"));
}
