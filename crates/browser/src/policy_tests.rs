//! Rules about hosts, names and addresses, judged without a network.

use super::*;

fn policy(allow: &[&str], deny: &[&str], private: &[&str]) -> Policy {
    let texts = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    Policy::parse(&texts(allow), &texts(deny), &texts(private)).unwrap()
}

#[test]
fn hosts_of_this_machine_and_network_are_refused_in_every_spelling() {
    let policy = Policy::default();
    for host in [
        "localhost",
        "LOCALHOST.",
        "x.localhost",
        "printer.local",
        "db.internal",
        "intranet",
        "127.0.0.1",
        "127.9.9.9",
        "10.1.2.3",
        "192.168.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[fd00::1]",
        "[fe80::1]",
        "100.64.0.1",
    ] {
        let refused = policy.check_host(host, 80).unwrap_err();
        assert!(refused.contains("browser.private"), "{host}: {refused}");
    }
    assert_eq!(policy.check_host("example.org", 443), Ok(()));
    assert_eq!(policy.check_host("93.184.216.34", 443), Ok(()));
}

#[test]
fn a_public_name_is_judged_by_the_address_it_resolves_to() {
    let policy = Policy::default();
    let loopback = "127.0.0.1".parse().unwrap();
    let refused = policy
        .check_address("rebind.example.org", 80, loopback)
        .unwrap_err();
    assert!(
        refused.starts_with("rebind.example.org resolves to 127.0.0.1"),
        "{refused}"
    );
    let public = "93.184.216.34".parse().unwrap();
    assert_eq!(policy.check_address("example.org", 80, public), Ok(()));
}

#[test]
fn a_grant_counts_for_its_host_and_port_alone() {
    let granted = policy(&[], &[], &["127.0.0.1:8080", "nas.local", "10.1.0.0/16"]);
    assert_eq!(granted.check_host("127.0.0.1", 8080), Ok(()));
    assert!(granted.check_host("127.0.0.1", 8081).is_err());
    assert!(granted.check_host("localhost", 8080).is_err());
    assert_eq!(granted.check_host("nas.local", 80), Ok(()));
    let at = |text: &str| text.parse().unwrap();
    assert_eq!(
        granted.check_address("nas.local", 80, at("192.168.1.2")),
        Ok(())
    );
    let rebound = granted.check_address("rebind.example.org", 8080, at("127.0.0.1"));
    assert!(
        rebound.is_err(),
        "the grant is for the address, not for names of others"
    );
    assert_eq!(granted.check_host("10.1.200.1", 80), Ok(()));
    assert!(granted.check_host("10.2.0.1", 80).is_err());
}

#[test]
fn lists_of_hosts_count_with_deny_first() {
    let listed = policy(
        &["*.example.org", "rust-lang.org:443"],
        &["ads.example.org"],
        &["localhost"],
    );
    assert_eq!(listed.check_host("example.org", 80), Ok(()));
    assert_eq!(listed.check_host("shop.example.org", 80), Ok(()));
    assert_eq!(listed.check_host("localhost", 80), Ok(()));
    for (host, port) in [
        ("ads.example.org", 80),
        ("badexample.org", 80),
        ("rust-lang.org", 80),
        ("1.1.1.1", 53),
    ] {
        assert!(listed.check_host(host, port).is_err(), "{host}");
    }
    let network = policy(&[], &["93.184.0.0/16"], &[]);
    assert!(
        network
            .check_address("example.org", 80, "93.184.216.34".parse().unwrap())
            .is_err()
    );
}

#[test]
fn a_rule_that_is_none_is_refused_with_its_text() {
    for text in ["", "a b", "http://x", "1.2.3.4/33", "x:99999", "*.", "a/b"] {
        let refused = text.parse::<HostRule>().unwrap_err();
        assert!(
            refused
                .to_string()
                .starts_with(&format!("{text:?} is no rule")),
            "{refused}"
        );
    }
}
