//! TLS, and how the server's certificate is checked.

use std::net::TcpListener;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use store::{Batch, Error, Remote, Store};

use super::server::Server;
use crate::support::{NOTES, numbered, stream};

#[tokio::test(flavor = "multi_thread")]
async fn checks_the_certificate_as_the_address_says() {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().unwrap();
    let certificate = authority.self_signed(&authority_key).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let roots = folder.path().join("ca.pem");
    std::fs::write(&roots, certificate.pem()).unwrap();
    let key = KeyPair::generate().unwrap();
    let named = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let signed = named
        .signed_by(&key, &Issuer::new(authority, authority_key))
        .unwrap();

    // The port is free for a moment; the server takes it right after.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let listening = format!("port={port}");
    let settings = [
        &*listening,
        "listen_addresses=127.0.0.1",
        "ssl=on",
        "ssl_cert_file=c.pem",
        "ssl_key_file=k.pem",
    ];
    let files = [("c.pem", signed.pem()), ("k.pem", key.serialize_pem())];
    let files = files
        .each_ref()
        .map(|(name, content)| (*name, content.as_str()));
    let server = Server::start_with(&settings, &files);

    let roots = roots.to_str().unwrap().replace('/', "%2F");
    let connect = |host: &str, parameters: &str| {
        let parameters = parameters.replace("ROOTS", &roots);
        let url = format!("postgres://monas@{host}:{port}/postgres?{parameters}");
        Store::connect(&Remote::new(url).tables(&[&NOTES]))
    };
    for (host, parameters) in [
        ("localhost", "sslmode=verify-full&sslrootcert=ROOTS"),
        ("127.0.0.1", "sslmode=verify-ca&sslrootcert=ROOTS"),
        ("127.0.0.1", "sslmode=require&sslrootcert=ROOTS"),
        ("127.0.0.1", "sslmode=require"),
    ] {
        let store = connect(host, parameters)
            .unwrap_or_else(|error| panic!("{host} {parameters}: {error}"));
        let name = stream(&format!("{host} {parameters}"));
        store
            .commit(Batch::new().append(&name, 0, numbered(1)))
            .await
            .unwrap();
        let encrypted = server.ask("SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE client_port > 0");
        assert_eq!(encrypted.as_deref(), Some("t"), "{parameters}");
    }
    for (host, parameters) in [
        ("127.0.0.1", "sslmode=verify-full&sslrootcert=ROOTS"),
        ("localhost", "sslmode=verify-full"),
        ("localhost", "sslmode=verify-ca"),
    ] {
        let refused = connect(host, parameters).unwrap_err();
        assert!(
            matches!(&refused, Error::Away { problem, .. } if problem.contains("certificate")),
            "{refused:?}"
        );
    }
}
