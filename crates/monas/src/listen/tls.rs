//! TLS from PEM files: a certificate chain and its key, and the authorities of those who show one themselves.

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

/// What a TLS listener shows its clients. HTTP/2 and HTTP/1.1 are offered, in this order.
#[derive(Clone, Debug)]
pub struct Tls(pub(super) Arc<ServerConfig>);

/// Why the files are of no use. Each completes "could not ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// The file is not there, or not ours to read.
    #[error("read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file has nothing of the kind, or something damaged.
    #[error("use {}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The two do not belong together.
    #[error("use {} with {}: the key is not that of the certificate", key.display(), certificate.display())]
    Mismatch {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
}

impl Tls {
    /// Reads a certificate chain, the server's own certificate first, and its key.
    pub fn from_files(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        Self::read(certificate, key, None)
    }

    /// The same, for clients that may show a certificate of one of the authorities in a file. One that shows
    /// none is let in as well; one that shows another is not.
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
            pem::Error::NoItemsFound => content(key, &"it has no private key in PEM form"),
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

/// Believes certificates that the authorities in a file have signed.
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

/// Who a certificate is for, which has been verified: the first name in it that is an address or a host, else its
/// fingerprint.
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

/// The certificates in a PEM file, of which there is at least one.
fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| explain(path, error))?;
    if all.is_empty() {
        return Err(content(path, &"it has no certificate in PEM form"));
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
