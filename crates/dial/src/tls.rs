//! The one TLS configuration: rustls with ring, and the authorities that [`Trust`] names.

use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, ConfigBuilder, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::error::Error;
use crate::settings::{Identity, Trust};

/// The configuration of encrypted connections.
pub(crate) fn config(trust: &Trust, identity: Option<&Identity>) -> Result<ClientConfig, Error> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .expect("ring supports the default versions");
    let mut roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    match trust {
        Trust::Public => {}
        Trust::PublicAnd(more) => {
            for authority in more {
                let wrong = |error: rustls::Error| {
                    Error::settings("a certificate authority", error.to_string())
                };
                roots.add(authority.clone()).map_err(wrong)?;
            }
        }
        Trust::Unchecked => {
            let verifier = Arc::new(Unchecked(provider));
            let builder = builder
                .dangerous()
                .with_custom_certificate_verifier(verifier);
            return identified(builder, identity);
        }
    }
    identified(builder.with_root_certificates(roots), identity)
}

/// With the caller's own certificate, for servers that ask for it.
fn identified(
    builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    identity: Option<&Identity>,
) -> Result<ClientConfig, Error> {
    let Some(identity) = identity else {
        return Ok(builder.with_no_client_auth());
    };
    let (chain, key) = identity.parts();
    let wrong =
        |error: rustls::Error| Error::settings("the caller's certificate", error.to_string());
    builder.with_client_auth_cert(chain, key).map_err(wrong)
}

/// Accepts every certificate. Signatures of the handshake are still checked, so the server holds the key of the
/// certificate that it shows.
#[derive(Debug)]
struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
