//! TLS with a certificate made for the test.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::http::StatusCode;
use monas::listen::{Options, Tls, TlsError};
use rcgen::CertifiedKey;
use rustls::crypto::ring;
use tempfile::TempDir;

use super::{Running, hasty};
use crate::support::http::{BOTH, Client, raw};

/// A self-signed certificate for localhost, its key, and a client that trusts it.
struct Identity {
    folder: TempDir,
    certificate: PathBuf,
    key: PathBuf,
    client: rustls::ClientConfig,
}

fn identity() -> Identity {
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let certificate = folder.path().join("cert.pem");
    let key = folder.path().join("key.pem");
    std::fs::write(&certificate, cert.pem()).unwrap();
    std::fs::write(&key, signing_key.serialize_pem()).unwrap();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(cert.der().clone()).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Identity {
        folder,
        certificate,
        key,
        client,
    }
}

#[tokio::test]
async fn both_versions_are_spoken_over_tls() {
    let identity = identity();
    let server = Running::start(Options {
        tls: Some(Tls::from_files(&identity.certificate, &identity.key).unwrap()),
        ..Options::default()
    })
    .await;
    for version in BOTH {
        let client = identity.client.clone();
        let mut client = Client::connect_tls(server.address, version, client).await;
        for (origin, status) in [
            (format!("https://{}", server.address), StatusCode::OK),
            // The same place by another scheme is another origin.
            (format!("http://{}", server.address), StatusCode::FORBIDDEN),
        ] {
            let request = client
                .request("POST", &server.authority(), "/echo")
                .header("origin", origin)
                .body(Body::from("over TLS"));
            let answer = client.send(request.unwrap()).await;
            assert_eq!(answer.status, status, "{version:?}");
        }
        let request = client.request("GET", "evil.example", "/");
        let answer = client.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(answer.status, StatusCode::MISDIRECTED_REQUEST);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_handshake_that_does_not_come_is_given_up_on() {
    let identity = identity();
    let server = Running::start(Options {
        tls: Some(Tls::from_files(&identity.certificate, &identity.key).unwrap()),
        limits: hasty(),
        ..Options::default()
    })
    .await;
    assert_eq!(raw(server.address, b"").await, b"");
    // Plain HTTP gets an alert at most.
    let answer = raw(server.address, b"GET / HTTP/1.1\r\n\r\n").await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    server.stop().await;
}

#[test]
fn says_which_file_is_of_no_use() {
    let identity = identity();
    let other = self::identity();
    let missing = identity.folder.path().join("missing.pem");
    let garbage = identity.folder.path().join("garbage.pem");
    std::fs::write(&garbage, "no certificate, no key").unwrap();

    let complain = |certificate, key| Tls::from_files(certificate, key).unwrap_err();
    for error in [
        complain(&missing, &identity.key),
        complain(&identity.certificate, &missing),
    ] {
        assert!(matches!(&error, TlsError::Read { path, .. } if *path == missing));
        let expected = format!("read {}: No such file", missing.display());
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    for (error, what) in [
        (complain(&garbage, &identity.key), "certificate"),
        (complain(&identity.certificate, &garbage), "private key"),
        // The files the wrong way round.
        (
            complain(&identity.key, &identity.certificate),
            "certificate",
        ),
    ] {
        assert!(
            error
                .to_string()
                .ends_with(&format!(": no {what} in PEM form")),
            "{error}"
        );
    }
    let error = complain(&identity.certificate, &other.key);
    assert!(matches!(error, TlsError::Mismatch { .. }), "{error}");
}
