//! TLS to a PostgreSQL server, with the workspace's rustls.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName, UnixTime};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Socket;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};

/// How the server's certificate is checked, by the words of libpq's `sslmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// `require`: encrypted, and not checked.
    Nothing,
    /// `verify-ca`: signed by a known authority, for any name.
    Authority,
    /// `verify-full`: signed by a known authority, for the host that was named.
    Full,
}

/// Makes TLS connections; without certificates to check it is still asked for them.
#[derive(Clone, Debug)]
pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    /// With the authorities in this file, or with those of the web.
    pub(super) fn new(check: Check, authorities: Option<&Path>) -> io::Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let roots = Arc::new(roots(authorities)?);
        let verifier: Arc<dyn ServerCertVerifier> = match check {
            Check::Nothing => Arc::new(Lenient {
                inner: None,
                provider: Arc::clone(&provider),
            }),
            Check::Authority | Check::Full => {
                let built =
                    WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
                        .build();
                let inner = built.map_err(io::Error::other)?;
                match check {
                    Check::Full => inner,
                    _ => Arc::new(Lenient {
                        inner: Some(inner),
                        provider: Arc::clone(&provider),
                    }),
                }
            }
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }
}

fn roots(authorities: Option<&Path>) -> io::Result<RootCertStore> {
    let Some(path) = authorities else {
        return Ok(RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        });
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(io::Error::other)? {
        let certificate = certificate.map_err(io::Error::other)?;
        roots.add(certificate).map_err(io::Error::other)?;
    }
    match roots.is_empty() {
        true => Err(io::Error::other("the file has no certificate")),
        false => Ok(roots),
    }
}

/// Checks less than a name: the authority alone, or nothing. Signatures of the handshake are checked in any case.
#[derive(Debug)]
struct Lenient {
    inner: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        stapled: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(inner) = &self.inner else {
            return Ok(ServerCertVerified::assertion());
        };
        match inner.verify_server_cert(certificate, between, name, stapled, now) {
            // The name is checked last, when the authority has been found good.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            checked => checked,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = Encrypted;
    type TlsConnect = Named;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<Named> {
        Ok(Named {
            config: Arc::clone(&self.0),
            host: domain.to_owned(),
        })
    }
}

/// The TLS handshake with one host. The name is parsed only if the handshake is made: a path of a socket is no name.
#[derive(Debug)]
pub(super) struct Named {
    config: Arc<ClientConfig>,
    host: String,
}

impl TlsConnect<Socket> for Named {
    type Stream = Encrypted;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Encrypted>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            let connector = tokio_rustls::TlsConnector::from(self.config);
            connector
                .connect(name, socket)
                .await
                .map(|stream| Encrypted(Box::new(stream)))
        })
    }
}

/// An encrypted connection. Its password exchange is not bound to the certificate, which `verify-full` has checked.
#[derive(Debug)]
pub(super) struct Encrypted(Box<tokio_rustls::client::TlsStream<Socket>>);

impl TlsStream for Encrypted {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, to)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }
}
