//! The servers that are believed.

use dial::{Error, Identity, Redirects, Settings, Trust, certificates};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{Authority, Server, dialer, get, names, ok};

#[tokio::test]
async fn an_authority_of_ones_own_is_trusted_when_it_is_named_and_only_then() {
    let authority = Authority::new();
    let server = Server::encrypted(authority.acceptor("localhost"), |_| ok("hello")).await;
    let url = format!("https://localhost:{}/", server.address.port());
    let mut settings = names(&[("localhost", server.address)]);

    let sent = dialer(&settings).http();
    let error = sent.send(get(&url), Redirects::None).await.err().unwrap();
    assert!(matches!(error, Error::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().contains("certificate"), "{error}");

    let other = certificates(Authority::new().pem.as_bytes()).unwrap();
    settings.trust = Trust::PublicAnd(other);
    let sent = dialer(&settings).http();
    assert!(sent.send(get(&url), Redirects::None).await.is_err());

    let own = certificates(authority.pem.as_bytes()).unwrap();
    for trust in [Trust::PublicAnd(own), Trust::Unchecked] {
        settings.trust = trust;
        let client = dialer(&settings).http();
        let response = client.send(get(&url), Redirects::None).await.unwrap();
        assert_eq!(response.into_body().read(10).await.unwrap(), "hello");
    }
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused() {
    let authority = Authority::new();
    let server = Server::encrypted(authority.acceptor("other.example"), |_| ok("hello")).await;
    let mut settings = names(&[("localhost", server.address)]);
    settings.trust = Trust::PublicAnd(certificates(authority.pem.as_bytes()).unwrap());
    let url = format!("https://localhost:{}/", server.address.port());
    let sent = dialer(&settings).http();
    let error = sent.send(get(&url), Redirects::None).await.err().unwrap();
    assert!(error.to_string().contains("not valid for name"), "{error}");
}

#[tokio::test]
async fn a_bare_stream_is_encrypted_too() {
    let authority = Authority::new();
    let server = Server::encrypted(authority.acceptor("localhost"), |_| ok("hello")).await;
    let mut settings = names(&[("localhost", server.address)]);
    settings.trust = Trust::PublicAnd(certificates(authority.pem.as_bytes()).unwrap());
    let url = format!("wss://localhost:{}/", server.address.port());
    let mut stream = dialer(&settings).open(&url.parse().unwrap()).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = [0; 15];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
}

#[test]
fn files_without_certificates_are_refused() {
    assert!(certificates(b"").is_err());
    assert!(certificates(b"no PEM").is_err());
    let (certificate, key) = Authority::new().certify("caller");
    assert!(Identity::from_pem(certificate.as_bytes(), key.as_bytes()).is_ok());
    assert!(Identity::from_pem(key.as_bytes(), key.as_bytes()).is_err());
    assert!(Identity::from_pem(certificate.as_bytes(), b"").is_err());
    let settings = Settings::default();
    assert!(format!("{settings:?}").contains("Public"));
}
