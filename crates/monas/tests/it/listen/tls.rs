//! TLS with certificates made for the test: both versions of HTTP, old versions of TLS, files that change.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use axum::http::StatusCode;
use monas::listen::{Options, Tls, TlsError, TlsSource, TlsVersion};
use rcgen::CertifiedKey;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::{TLS12, TLS13};
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

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

/// Connects with these versions of TLS; gives the version that is spoken and the certificate of the server.
async fn handshake(
    server: &Running,
    identity: &Identity,
    versions: &[&'static rustls::SupportedProtocolVersion],
) -> Result<(rustls::ProtocolVersion, CertificateDer<'static>), std::io::Error> {
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(identity.roots())
        .with_no_client_auth();
    let stream = TcpStream::connect(server.address).await?;
    let name = ServerName::try_from("localhost").unwrap();
    let connected = TlsConnector::from(Arc::new(config)).connect(name, stream);
    let (_, connection) = connected.await?.into_inner();
    let chain = connection.peer_certificates().unwrap();
    Ok((
        connection.protocol_version().unwrap(),
        chain[0].clone().into_owned(),
    ))
}

impl Identity {
    fn roots(&self) -> rustls::RootCertStore {
        use rustls::pki_types::pem::PemObject as _;
        let mut roots = rustls::RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_file(&self.certificate).unwrap())
            .unwrap();
        roots
    }
}

#[tokio::test]
async fn an_old_version_of_tls_is_refused_unless_it_is_configured() {
    use rustls::ProtocolVersion::{TLSv1_2, TLSv1_3};
    let identity = identity();
    for (oldest, old) in [(TlsVersion::V1_3, None), (TlsVersion::V1_2, Some(TLSv1_2))] {
        let tls = Tls::read(TlsSource {
            certificate: identity.certificate.clone(),
            key: identity.key.clone(),
            authorities: None,
            oldest,
        });
        let server = Running::start(Options {
            tls: Some(tls.unwrap()),
            ..Options::default()
        })
        .await;
        // The newest that both have is spoken, whatever else a client offers.
        for versions in [&[&TLS13][..], &[&TLS12, &TLS13]] {
            let (spoken, _) = handshake(&server, &identity, versions).await.unwrap();
            assert_eq!(spoken, TLSv1_3, "{oldest:?}");
        }
        let spoken = handshake(&server, &identity, &[&TLS12]).await;
        assert_eq!(spoken.ok().map(|it| it.0), old, "{oldest:?}");
        server.stop().await;
    }
}

/// Copies a file in one step, as a tool that renews certificates does.
fn replace(from: &Path, to: &Path) {
    let beside = to.with_extension("new");
    std::fs::copy(from, &beside).unwrap();
    std::fs::rename(beside, to).unwrap();
}

/// Waits until the server shows this certificate.
async fn shows(server: &Running, identity: &Identity) {
    let waiting = async {
        // A client that does not trust what is shown fails in the handshake.
        while handshake(server, identity, &[&TLS13]).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), waiting).await;
    assert!(waited.is_ok(), "the new certificate was never shown");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_change_are_read_again_while_connections_go_on() {
    let (first, second, served) = (identity(), identity(), tempfile::tempdir().unwrap());
    let certificate = served.path().join("cert.pem");
    let key = served.path().join("key.pem");
    replace(&first.certificate, &certificate);
    replace(&first.key, &key);
    let tls = Tls::from_files(&certificate, &key).unwrap();
    let server = Running::start(Options {
        tls: Some(tls.clone()),
        ..Options::default()
    })
    .await;

    // Requests on connections that were there before, all through the changes.
    let (stop, answered) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let mut loads = tokio::task::JoinSet::new();
    for version in BOTH {
        let mut client = Client::connect_tls(server.address, version, first.client.clone()).await;
        let (stop, answered) = (stop.clone(), answered.clone());
        let authority = server.authority();
        loads.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let request = client.request("POST", &authority, "/echo");
                let answer = client
                    .send(request.body(Body::from("hello")).unwrap())
                    .await;
                assert_eq!(answer.text, "hello", "{version:?}");
                answered.fetch_add(1, Ordering::Relaxed);
            }
        });
    }

    // A file that is half a certificate, and a key that is another's: what was read before stays.
    std::fs::write(&certificate, "-----BEGIN CERTIFICATE-----\nAAAA").unwrap();
    tls.reload();
    handshake(&server, &first, &[&TLS13]).await.unwrap();
    replace(&second.certificate, &certificate);
    tls.reload();
    handshake(&server, &first, &[&TLS13]).await.unwrap();
    std::fs::remove_file(&key).unwrap();
    tls.reload();
    handshake(&server, &first, &[&TLS13]).await.unwrap();

    // Both files belong together again: it is noticed without a word to the server.
    let before = answered.load(Ordering::Relaxed);
    replace(&second.key, &key);
    shows(&server, &second).await;
    assert!(handshake(&server, &first, &[&TLS13]).await.is_err());

    // At once where it is told to.
    replace(&first.certificate, &certificate);
    replace(&first.key, &key);
    tls.reload();
    handshake(&server, &first, &[&TLS13]).await.unwrap();

    while answered.load(Ordering::Relaxed) < before + 20 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    stop.store(true, Ordering::Relaxed);
    while let Some(ended) = loads.join_next().await {
        ended.unwrap();
    }
    server.stop().await;
}
