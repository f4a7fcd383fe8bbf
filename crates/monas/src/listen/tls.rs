//! TLS from two PEM files: a certificate chain and its key.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

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
        let chain: Vec<_> = CertificateDer::pem_file_iter(certificate)
            .and_then(Iterator::collect)
            .map_err(|error| explain(certificate, error))?;
        if chain.is_empty() {
            return Err(content(certificate, &"it has no certificate in PEM form"));
        }
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| match error {
            pem::Error::NoItemsFound => content(key, &"it has no private key in PEM form"),
            error => explain(key, error),
        })?;
        let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring has what the default versions need")
            .with_no_client_auth()
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
