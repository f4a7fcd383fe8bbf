//! The options of a dialer.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::Error;
use crate::guard::Reach;
use crate::proxy::Proxies;
use crate::resolve::Resolve;

/// How connections are made. One value for a whole program; clones share what is large.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Which certificate authorities to trust.
    pub trust: Trust,
    /// The certificate to show to servers that ask for one.
    pub identity: Option<Identity>,
    /// Which proxies carry requests.
    pub proxies: Proxies,
    /// Which addresses may be reached.
    pub reach: Reach,
    /// How long it may take until a connection is ready: resolving, dialing, tunnel and TLS together.
    pub connect_time: Duration,
    /// Resolves names; `None` asks the system. Tests put their own here and need no network.
    pub resolver: Option<Arc<dyn Resolve>>,
}

impl Default for Settings {
    /// The Mozilla roots, no proxy, any address, ten seconds.
    fn default() -> Self {
        Self {
            trust: Trust::default(),
            identity: None,
            proxies: Proxies::none(),
            reach: Reach::Any,
            connect_time: Duration::from_secs(10),
            resolver: None,
        }
    }
}

/// Which certificate authorities are trusted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Trust {
    /// The Mozilla roots, which browsers trust.
    #[default]
    Public,
    /// The Mozilla roots, and these authorities.
    PublicAnd(Vec<CertificateDer<'static>>),
    /// Certificates are not checked. Anyone between the two ends can read and change everything.
    Unchecked,
}

/// Reads the certificates of a PEM file, of which there must be at least one.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let read = read.ok().filter(|read| !read.is_empty());
    read.ok_or_else(|| Error::settings("the certificates", "no certificate in PEM form"))
}

/// A certificate of the caller and its private key.
#[derive(Clone)]
pub struct Identity(Arc<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>);

impl Identity {
    /// Reads a chain of certificates, the caller's own first, and its private key, both PEM.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, Error> {
        let chain = certificates(chain)
            .map_err(|_| Error::settings("the caller's certificate", "not in PEM form"))?;
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| Error::settings("the caller's key", "not in PEM form"))?;
        Ok(Self(Arc::new((chain, key))))
    }

    pub(crate) fn parts(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        (self.0.0.clone(), self.0.1.clone_key())
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}
