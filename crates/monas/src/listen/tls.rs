//! TLS from PEM files: a certificate chain and its key, and the authorities of client certificates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use access::{Certified, Hash};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};
use webpki::EndEntityCert;

/// The TLS configuration of a listener. It offers HTTP/2 and HTTP/1.1, in this order.
#[derive(Clone, Debug)]
pub struct Tls(pub(super) Arc<ServerConfig>);

/// Why the files cannot be used. Each completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The file does not exist or may not be read.
    #[error("read {}: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    /// The file holds no usable certificate or key.
    #[error("use {}: {problem}", path.display())]
    Content { path: PathBuf, problem: String },
    /// Certificate and key do not belong together.
    #[error("use {} with {}: the key does not belong to the certificate", key.display(), certificate.display())]
    Mismatch { certificate: PathBuf, key: PathBuf },
}

impl Tls {
    /// Reads a certificate chain, the server's own certificate first, and its key.
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        Self::read(certificate, key, None)
    }

    /// As [`Tls::from_files`], and asks clients for a certificate signed by one of the authorities in a file. A client
    /// without a certificate is accepted; one with a certificate of another authority is not.
    pub fn with_clients(
        certificate: &Path,
        key: &Path,
        authorities: &Path,
    ) -> Result<Self, TlsError> {
        Self::read(certificate, key, Some(authorities))
    }

    fn read(certificate: &Path, key: &Path, authorities: Option<&Path>) -> Result<Self, TlsError> {
        let chain = certificates(certificate)?;
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| match error {
            pem::Error::NoItemsFound => content(key, &"no private key in PEM form"),
            error => explain(key, error),
        })?;
        let provider = Arc::new(ring::default_provider());
        let clients = match authorities {
            Some(authorities) => clients(authorities, provider.clone())?,
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has what the default versions need")
            .with_client_cert_verifier(clients)
            .with_single_cert(chain, private)
            .map_err(|error| match error {
                rustls::Error::InconsistentKeys(_) => TlsError::Mismatch {
                    certificate: certificate.to_owned(),
                    key: key.to_owned(),
                },
                rustls::Error::InvalidCertificate(_) => content(certificate, &error),
                error => content(key, &error),
            })?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

/// Verifies client certificates against the authorities in a file.
fn clients(
    path: &Path,
    provider: Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    for authority in certificates(path)? {
        roots
            .add(authority)
            .map_err(|error| content(path, &error))?;
    }
    WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
        .allow_unauthenticated()
        .build()
        .map_err(|error| content(path, &error))
}

/// The name of a verified client certificate: its first URI, else its first DNS name, else its fingerprint.
pub(super) fn name_of(certificate: &CertificateDer<'_>) -> Certified {
    let fingerprint = || Hash::of(certificate.as_ref()).to_string();
    let read = EndEntityCert::try_from(certificate).ok();
    let named = read.and_then(|read| {
        let mut addresses = read.valid_uri_names();
        let name = addresses.next().or_else(|| read.valid_dns_names().next());
        name.map(str::to_owned)
    });
    Certified(named.unwrap_or_else(fingerprint).into())
}

/// The certificates in a PEM file; at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| explain(path, error))?;
    if all.is_empty() {
        return Err(content(path, &"no certificate in PEM form"));
    }
    Ok(all)
}

fn explain(path: &Path, error: pem::Error) -> TlsError {
    match error {
        pem::Error::Io(source) => TlsError::Read {
            path: path.to_owned(),
            source,
        },
        error => content(path, &error),
    }
}

fn content(path: &Path, problem: &impl ToString) -> TlsError {
    TlsError::Content {
        path: path.to_owned(),
        problem: problem.to_string(),
    }
}
