//! Addresses: the checks that they ask for, and what is shown of them.

use super::*;

fn mode(url: &str) -> SslMode {
    Address::parse(url).unwrap().config.get_ssl_mode()
}

#[test]
fn other_machines_are_reached_with_tls_and_this_one_without() {
    assert_eq!(mode("postgres://ada@db.example/monas"), SslMode::Require);
    assert_eq!(
        mode("postgres://ada@10.0.0.5,127.0.0.1/monas"),
        SslMode::Require
    );
    assert_eq!(
        mode("postgres://ada@127.0.0.1:5433/monas"),
        SslMode::Disable
    );
    assert_eq!(mode("postgres://ada@[::1]/monas"), SslMode::Disable);
    assert_eq!(
        mode("postgresql://ada@%2Frun%2Fpostgresql/monas"),
        SslMode::Disable
    );
    assert_eq!(
        mode("postgres://ada@db.example/monas?sslmode=disable"),
        SslMode::Disable
    );
    assert_eq!(
        mode("postgres://ada@localhost/monas?sslmode=verify-full"),
        SslMode::Require
    );
}

#[test]
fn of_several_hosts_the_one_that_takes_writes_is_meant() {
    let attributes = |url| {
        Address::parse(url)
            .unwrap()
            .config
            .get_target_session_attrs()
    };
    assert_eq!(
        attributes("postgres://a,b:5433/monas"),
        TargetSessionAttrs::ReadWrite
    );
    assert_eq!(
        attributes("postgres://a,b/monas?target_session_attrs=any"),
        TargetSessionAttrs::Any
    );
    assert_eq!(attributes("postgres://a/monas"), TargetSessionAttrs::Any);
}

#[test]
fn a_fault_is_named_without_the_password() {
    for (url, problem) in [
        (
            "postgres://ada:pw@db/monas?sslmode=prefer",
            "sslmode is \"prefer\"",
        ),
        (
            "postgres://ada:pw@db/monas?sslrootcert=%2Fno%2Fsuch",
            "sslrootcert /no/such",
        ),
        ("postgres://ada:pw@db/monas?colour=red", "colour"),
        ("mysql://ada:pw@db/monas", "has to begin with postgres://"),
        ("postgres://", "names no host"),
    ] {
        let text = Address::parse(url).unwrap_err().to_string();
        assert!(text.contains(problem) && !text.contains("pw"), "{text}");
    }
    let address = Address::parse("postgres://ada:p@w@db:5433/monas?password=pw&sslmode=require");
    assert_eq!(
        address.unwrap().shown(),
        "postgres://ada@db:5433/monas?sslmode=require"
    );
}
