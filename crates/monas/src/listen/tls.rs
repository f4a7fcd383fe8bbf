//! TLS from PEM files: a certificate chain and its key, and the authorities of client certificates. The files are read
//! again when they change.

use std::fmt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use access::{Certified, Hash};
use parking_lot::{Mutex, RwLock};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use webpki::EndEntityCert;

/// How often the files are looked at. A change is read once two looks in a row have seen the same, so that a certificate
/// and its key which are replaced one after the other are read together.
const LOOK: Duration = Duration::from_secs(1);

/// The oldest version of TLS that is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsVersion {
    /// For clients that know nothing newer.
    V1_2,
    #[default]
    V1_3,
}

impl TlsVersion {
    fn spoken(self) -> Vec<&'static SupportedProtocolVersion> {
        match self {
            Self::V1_2 => vec![&TLS13, &TLS12],
            Self::V1_3 => vec![&TLS13],
        }
    }
}

/// The files that TLS is configured from, and the oldest version that is spoken.
#[derive(Clone, Debug)]
pub struct TlsSource {
    /// The certificate chain, the server's own certificate first.
    pub certificate: PathBuf,
    pub key: PathBuf,
    /// The authorities of client certificates. With it, clients are asked for a certificate: one without is accepted,
    /// one with a certificate of another authority is not.
    pub authorities: Option<PathBuf>,
    pub oldest: TlsVersion,
}

/// The TLS configuration of a listener. It offers HTTP/2 and HTTP/1.1, in this order. Clones share it.
///
/// Each connection takes the configuration that counts when it arrives, and keeps it to its end: a new certificate, and
/// new authorities of client certificates, hold for connections that arrive later. Sessions of the old configuration
/// are not resumed under the new one, because the memory of sessions is part of the configuration. A file that cannot
/// be used changes nothing but the log.
#[derive(Clone)]
pub struct Tls(Arc<Inner>);

struct Inner {
    source: TlsSource,
    current: RwLock<Arc<ServerConfig>>,
    /// The state of the files when they were last read, with success or without.
    read: Mutex<Stamp>,
}

/// What tells whether files were changed: for each its device, number, size and times; `None` where there is no file.
type Stamp = Vec<Option<(u64, u64, u64, i64, i64, i64, i64)>>;

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
        Self::read(TlsSource {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            authorities: None,
            oldest: TlsVersion::default(),
        })
    }

    /// Reads all files of a source.
    pub fn read(source: TlsSource) -> Result<Self, TlsError> {
        let read = source.stamp();
        let current = RwLock::new(source.load()?);
        Ok(Self(Arc::new(Inner {
            source,
            current,
            read: Mutex::new(read),
        })))
    }

    /// The configuration for a connection that arrives now.
    pub(super) fn current(&self) -> Arc<ServerConfig> {
        self.0.current.read().clone()
    }

    /// Reads the files again. If one of them cannot be used, what was read before stays, and the log says why.
    pub fn reload(&self) {
        let Inner {
            source,
            current,
            read,
        } = &*self.0;
        // Taken first: a change while the files are read is seen at the next look.
        *read.lock() = source.stamp();
        let certificate = source.certificate.display();
        match source.load() {
            Ok(config) => {
                *current.write() = config;
                tracing::info!(%certificate, "TLS files read again; new connections use them");
            }
            Err(error) => tracing::error!(
                "could not {error}; connections go on with the TLS files as they were read before"
            ),
        }
    }

    /// Reads the files again whenever they change. Never ends.
    pub(super) async fn watch(&self) {
        let mut seen = self.0.read.lock().clone();
        let mut looks = tokio::time::interval(LOOK);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let (tls, last) = (self.clone(), seen);
            // A disk may take its time; connections must not wait for it.
            let look = move || {
                let now = tls.0.source.stamp();
                if now == last && now != *tls.0.read.lock() {
                    tls.reload();
                }
                now
            };
            seen = tokio::task::spawn_blocking(look).await.unwrap_or_default();
        }
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tls").field(&self.0.source).finish()
    }
}

impl TlsSource {
    fn stamp(&self) -> Stamp {
        let files = [Some(&self.certificate), Some(&self.key)].into_iter();
        let files = files.chain([self.authorities.as_ref()]).flatten();
        let look = |path: &PathBuf| {
            let it = std::fs::metadata(path).ok()?;
            let times = (it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec());
            let (modified, modified_nanos, changed, changed_nanos) = times;
            Some((
                it.dev(),
                it.ino(),
                it.size(),
                modified,
                modified_nanos,
                changed,
                changed_nanos,
            ))
        };
        files.map(look).collect()
    }

    fn load(&self) -> Result<Arc<ServerConfig>, TlsError> {
        let (certificate, key) = (&self.certificate, &self.key);
        let chain = certificates(certificate)?;
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| match error {
            pem::Error::NoItemsFound => content(key, &"no private key in PEM form"),
            error => explain(key, error),
        })?;
        let provider = Arc::new(ring::default_provider());
        let clients = match &self.authorities {
            Some(authorities) => clients(authorities, provider.clone())?,
            None => WebPkiClientVerifier::no_client_auth(),
        };
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&self.oldest.spoken())
            .expect("ring has what both versions need")
            .with_client_cert_verifier(clients)
            .with_single_cert(chain, private)
            .map_err(|error| match error {
                rustls::Error::InconsistentKeys(_) => TlsError::Mismatch {
                    certificate: certificate.clone(),
                    key: key.clone(),
                },
                rustls::Error::InvalidCertificate(_) => content(certificate, &error),
                error => content(key, &error),
            })?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
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
